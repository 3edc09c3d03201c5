// One model for all tables: text, Markdown and CSV are written from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/table.h"

namespace busbar {

struct ErrorFigures;

/// Whom a column is for: names that a sentence above the table says anyway are for programs alone.
enum class Reader : unsigned char { kAll, kPeople, kPrograms };

struct ColumnModel {
  std::string name;  // "time each"
  std::string unit;  // of the exact values: "s", "bytes", "GB/s", "USD"; "share", or "" for names and counts
  Align align = Align::kRight;
  std::string key = {};  // in CSV, without its unit; empty: the name with _ for blanks
  Reader reader = Reader::kAll;
};

/// A figure as people read it, and as programs do.
struct CellModel {
  std::string text;   // "1.21 ms"
  std::string exact;  // "0.00121", in the column's unit; names as they are
};

struct RecordTable {
  std::string name;   // of the table, for programs: "collectives"
  std::string title;  // for people
  std::vector<ColumnModel> columns;
  std::vector<std::vector<CellModel>> rows;  // may be shorter than the columns
  std::size_t keys = 1;                      // the first columns that name a row
  bool heads_with_units = false;  // "time(us)", as nccl-tests has it, where cells do not say their unit
};

inline constexpr std::size_t kAllRows = static_cast<std::size_t>(-1);

/// Aligned columns under their names, indented; at most `most` rows, and a last line that says how many more.
[[nodiscard]] std::string table_text(const RecordTable& table, std::size_t indent,
                                     std::size_t most = kAllRows);
/// A blank line, the title, and the table indented by two.
[[nodiscard]] std::string section_text(const RecordTable& table, std::size_t most = kAllRows);
/// The same under a third-level heading. Bars in cells are escaped.
/// A heading or a sentence that holds names of others: none of it becomes a link, code or HTML.
[[nodiscard]] std::string markdown_prose(std::string text);
[[nodiscard]] std::string section_markdown(const RecordTable& table, std::size_t most = kAllRows);

/// "time_us", "cost_USD", "busbw_GBps": the key and the unit.
[[nodiscard]] std::string header_of(const ColumnModel& column);
/// A line of headers, and one for each row.
[[nodiscard]] std::string table_csv(const RecordTable& table);
/// Several tables as one: a line per figure, `table,row,figure,unit,value`. `row` is the keys of the row,
/// joined by blanks.
[[nodiscard]] std::string tidy_csv(std::span<const RecordTable> tables);

/// Cells of common figures. Exact values have all digits.
[[nodiscard]] CellModel name_cell(const std::string& name);
[[nodiscard]] CellModel count_cell(std::int64_t count);
[[nodiscard]] CellModel time_cell(double seconds);
[[nodiscard]] CellModel bytes_cell(double bytes);
[[nodiscard]] CellModel rate_cell(double bytes_per_s);
[[nodiscard]] CellModel share_cell(double share);   // "4.2 %"
[[nodiscard]] CellModel change_cell(double share);  // "+4.2 %"
/// Median, mean, 90th percentile, worst and bias: the columns, and the cells of one row.
void add_error_columns(RecordTable& table);
void add_error_cells(std::vector<CellModel>& cells, const ErrorFigures& errors);
/// An empty cell where there is no value.
template <class Value, class Cell>
[[nodiscard]] CellModel cell_of(const std::optional<Value>& value, Cell cell) {
  return value ? cell(*value) : CellModel{};
}

/// A table of lines: notes.
[[nodiscard]] RecordTable notes_table(const std::vector<std::string>& notes);

}  // namespace busbar
