// One model for the tables of a result: text, Markdown and CSV are written from it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/section.h"

namespace busbar {

struct ColumnModel {
  std::string name;  // "time each"
  std::string unit;  // of the exact values: "s", "bytes", "share"; "" for names and counts
  Align align = Align::kRight;
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
  std::vector<std::vector<CellModel>> rows;
  std::size_t keys = 1;  // the first columns that name a row
};

/// For section_text() and section_markdown(); at most `most` rows, and a last one that says how many more.
[[nodiscard]] Section section_of(const RecordTable& table, std::size_t most);

/// Several tables as one: a line per figure, `table,row,figure,unit,value`. `row` is the keys of the row,
/// joined by blanks.
[[nodiscard]] std::string tidy_csv(std::span<const RecordTable> tables);

/// Cells of common figures. Exact values have all digits.
[[nodiscard]] CellModel name_cell(const std::string& name);
[[nodiscard]] CellModel count_cell(std::int64_t count);
[[nodiscard]] CellModel time_cell(double seconds);
[[nodiscard]] CellModel bytes_cell(double bytes);
[[nodiscard]] CellModel rate_cell(double bytes_per_s);
[[nodiscard]] CellModel share_cell(double share);

}  // namespace busbar
