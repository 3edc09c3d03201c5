#include "validate/csv_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/import/measured_csv.h"
#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"

namespace busbar {

const std::string& CsvRow::text(std::string_view column) const {
  const auto found = columns_->find(column);
  BUSBAR_CHECK(found != columns_->end());
  static const std::string kBlank;
  return found->second < fields_.size() ? fields_[found->second] : kBlank;
}

void CsvRow::fail(std::string_view column, std::string expected, std::string suggestion) const {
  const std::string& given = text(column);
  throw Error({.where = fmt::format("{}, column {}", where_, column),
               .expected = std::move(expected),
               .given = given.empty() ? "nothing" : quoted(given),
               .suggestion = std::move(suggestion)});
}

std::optional<std::int64_t> CsvRow::whole(std::string_view column) const {
  if (text(column).empty()) return std::nullopt;
  const auto value = parse_whole(text(column));
  if (!value || *value < 0) fail(column, "a whole number");
  return value;
}

std::optional<double> CsvRow::number(std::string_view column) const {
  if (text(column).empty()) return std::nullopt;
  const auto value = parse_decimal(text(column));
  if (!value || !(*value > 0)) fail(column, "a number above 0");
  return value;
}

std::optional<bool> CsvRow::yes_no(std::string_view column) const {
  if (text(column).empty()) return std::nullopt;
  if (text(column) != "yes" && text(column) != "no") fail(column, "yes or no");
  return text(column) == "yes";
}

const std::string& CsvRow::needed_text(std::string_view column) const {
  if (text(column).empty()) fail(column, "a name");
  return text(column);
}

std::int64_t CsvRow::needed_whole(std::string_view column) const {
  const auto value = whole(column);
  if (!value || *value == 0) fail(column, "a whole number above 0");
  return *value;
}

double CsvRow::needed_number(std::string_view column) const {
  const auto value = number(column);
  if (!value) fail(column, "a number above 0");
  return *value;
}

CsvTable::CsvTable(std::string_view text, const std::string& name, std::span<const std::string_view> columns,
                   std::span<const std::string_view> needed) {
  std::size_t width = 0;
  LineScanner lines(text);
  while (lines.next()) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = at_line(name, lines.number());
    if (line.size() > kMaxLineBytes)
      throw Error({.where = where, .expected = "at most 64 KiB in a line", .given = "more"});
    if (width == 0) {
      width = read_header(where, line, columns, needed);
      continue;
    }
    std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != width)
      throw Error({.where = where,
                   .expected = fmt::format("{} fields, as the header has", width),
                   .given = fmt::format("{}", fields.size())});
    rows_.emplace_back(where, columns_, std::move(fields));
  }
  if (rows_.empty()) throw Error({.where = name, .expected = "a header line and a row", .given = "no row"});
}

std::size_t CsvTable::read_header(const std::string& where, std::string_view line,
                                  std::span<const std::string_view> known,
                                  std::span<const std::string_view> needed) {
  const std::vector<std::string> names = csv_fields(line);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(known.begin(), known.end(), names[i]) == known.end())
      throw Error({.where = where,
                   .message = fmt::format("unknown column {}", quoted(names[i])),
                   .suggestion = did_you_mean(names[i], known)});
    if (!columns_.emplace(names[i], i).second)
      throw Error({.where = where, .message = fmt::format("column {} stands here twice", quoted(names[i]))});
  }
  for (const std::string_view column : needed)
    if (!columns_.contains(column))
      throw Error({.where = where, .message = fmt::format("missing column {}", quoted(column))});
  for (const std::string_view column : known) columns_.try_emplace(std::string(column), names.size());
  return names.size();
}

}  // namespace busbar
