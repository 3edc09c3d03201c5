// CSV with a closed set of named columns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// One line. All readers throw Error (kInput) with the file, the line and the column.
class CsvRow {
 public:
  CsvRow(std::string where, const std::map<std::string, std::size_t, std::less<>>& columns,
         std::vector<std::string> fields)
      : where_(std::move(where)), columns_(&columns), fields_(std::move(fields)) {}
  /// "steps/x.csv:12".
  [[nodiscard]] const std::string& where() const { return where_; }
  /// "" where the field is blank. Requires: a column of the table.
  [[nodiscard]] const std::string& text(std::string_view column) const;
  /// nullopt where the field is blank.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view column) const;
  [[nodiscard]] std::optional<double> number(std::string_view column) const;
  [[nodiscard]] std::optional<bool> yes_no(std::string_view column) const;
  /// The same, but a blank is an error.
  [[nodiscard]] const std::string& needed_text(std::string_view column) const;
  [[nodiscard]] std::int64_t needed_whole(std::string_view column) const;
  [[nodiscard]] double needed_number(std::string_view column) const;  // above 0
  [[noreturn]] void fail(std::string_view column, std::string expected, std::string suggestion = "") const;

 private:
  std::string where_;
  const std::map<std::string, std::size_t, std::less<>>* columns_;
  std::vector<std::string> fields_;
};

/// A header line that names `columns`, each once at most, in any order, and nothing else; then one row per
/// line. All that are `needed` must be there; of the others a row without them has a blank. Blank lines and
/// lines that start with '#' are skipped. Errors (Error, kInput): a missing, unknown or repeated column, a
/// line with more or fewer fields, no row.
class CsvTable {
 public:
  CsvTable(std::string_view text, const std::string& name, std::span<const std::string_view> columns,
           std::span<const std::string_view> needed);
  CsvTable(std::string_view text, const std::string& name, std::span<const std::string_view> columns)
      : CsvTable(text, name, columns, columns) {}
  CsvTable(const CsvTable&) = delete;  // rows point at the columns
  CsvTable& operator=(const CsvTable&) = delete;
  [[nodiscard]] std::span<const CsvRow> rows() const { return rows_; }

 private:
  /// How many columns the line has.
  std::size_t read_header(const std::string& where, std::string_view line,
                          std::span<const std::string_view> known, std::span<const std::string_view> needed);
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<CsvRow> rows_;
};

}  // namespace busbar
