#include "reports/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/result/validation.h"

namespace busbar {

namespace {

std::vector<std::size_t> columns_for(const RecordTable& table, Reader not_for) {
  std::vector<std::size_t> list;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].reader != not_for) list.push_back(c);
  return list;
}

// A spreadsheet runs what starts with a sign, but for figures.
std::string exact_cell(const std::string& exact) {
  char* end = nullptr;
  std::strtod(exact.c_str(), &end);
  return !exact.empty() && *end == '\0' ? exact : csv_cell(exact);
}

std::string more_text(const RecordTable& table, std::size_t most) {
  return fmt::format("... and {} more", table.rows.size() - most);
}

std::string escaped(std::string text, std::string_view marks) {
  for (std::size_t at = 0; (at = text.find_first_of(marks, at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + escaped(cell, "|<`[") + " |";
  return line + "\n";
}

std::string head_of(const ColumnModel& column, bool with_unit) {
  if (!with_unit || column.unit.empty()) return column.name;
  const std::string unit = column.unit == "bytes" ? "B" : column.unit == "percent" ? "%" : column.unit;
  return fmt::format("{}({})", column.name, unit);
}

// The names of the columns for people, then the texts of their cells.
std::vector<std::vector<std::string>> shown(const RecordTable& table, std::size_t most) {
  const std::vector<std::size_t> columns = columns_for(table, Reader::kPrograms);
  std::vector<std::vector<std::string>> lines(1);
  for (const std::size_t c : columns)
    lines.front().push_back(head_of(table.columns[c], table.heads_with_units));
  for (std::size_t r = 0; r < std::min(most, table.rows.size()); ++r) {
    lines.emplace_back();
    for (const std::size_t c : columns)
      lines.back().push_back(c < table.rows[r].size() ? table.rows[r][c].text : "");
  }
  return lines;
}

}  // namespace

std::string table_text(const RecordTable& table, std::size_t indent, std::size_t most) {
  std::vector<Align> aligns;
  for (const std::size_t c : columns_for(table, Reader::kPrograms)) aligns.push_back(table.columns[c].align);
  TextTable text(aligns);
  auto lines = shown(table, most);
  const auto& names = lines.front();
  if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); }))
    lines.erase(lines.begin());
  for (auto& line : lines) text.add(std::move(line));
  std::string out = text.text(indent);
  if (table.rows.size() > most) out += std::string(indent, ' ') + more_text(table, most) + "\n";
  return out;
}

std::string section_text(const RecordTable& table, std::size_t most) {
  return fmt::format("\n{}\n{}", table.title, table_text(table, 2, most));
}

std::string markdown_prose(std::string text) { return escaped(std::move(text), "<`["); }

std::string section_markdown(const RecordTable& table, std::size_t most) {
  const auto lines = shown(table, most);
  std::string text =
      fmt::format("\n### {}\n\n{}|", markdown_prose(table.title), markdown_line(lines.front()));
  for (const std::size_t c : columns_for(table, Reader::kPrograms))
    text += table.columns[c].align == Align::kRight ? "--:|" : "---|";
  text += "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) text += markdown_line(lines[i]);
  if (table.rows.size() > most) {
    std::vector<std::string> last(lines.front().size());
    last.front() = more_text(table, most);
    text += markdown_line(last);
  }
  return text;
}

std::string header_of(const ColumnModel& column) {
  std::string header = column.key;
  if (header.empty()) {
    header = column.name;
    std::replace(header.begin(), header.end(), ' ', '_');
  }
  if (column.unit.empty() || column.unit == "share") return header;
  std::string unit = column.unit;
  std::replace(unit.begin(), unit.end(), '/', 'p');
  return header + "_" + unit;
}

std::string table_csv(const RecordTable& table) {
  const std::vector<std::size_t> columns = columns_for(table, Reader::kPeople);
  std::string text;
  for (const std::size_t c : columns)
    text += (text.empty() ? "" : ",") + csv_cell(header_of(table.columns[c]));
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t c = columns[i];
      if (i > 0) text += ",";
      if (c < row.size()) text += exact_cell(row[c].exact);
    }
    text += "\n";
  }
  return text;
}

std::string tidy_csv(std::span<const RecordTable> tables) {
  std::string text = "table,row,figure,unit,value\n";
  for (const RecordTable& table : tables)
    for (const auto& row : table.rows) {
      std::string key;
      for (std::size_t k = 0; k < table.keys; ++k) key += (k > 0 ? " " : "") + row[k].exact;
      for (std::size_t c = table.keys; c < row.size(); ++c) {
        const ColumnModel& column = table.columns[c];
        if (row[c].exact.empty() || column.reader == Reader::kPeople) continue;
        text += fmt::format("{},{},{},{},{}\n", table.name, csv_cell(key), csv_cell(column.name), column.unit,
                            exact_cell(row[c].exact));
      }
    }
  return text;
}

CellModel name_cell(const std::string& name) { return {printable(name), name}; }

CellModel count_cell(std::int64_t count) {
  const std::string text = fmt::format("{}", count);
  return {text, text};
}

CellModel time_cell(double seconds) {
  return {to_text(Time::from_seconds(seconds)), fmt::format("{}", seconds)};
}

CellModel bytes_cell(double bytes) {
  return {to_si_text(Bytes(std::llround(bytes))), fmt::format("{:.0f}", bytes)};
}

CellModel rate_cell(double bytes_per_s) {
  return {fmt::format("{:.1f} GB/s", bytes_per_s / 1e9), fmt::format("{}", bytes_per_s)};
}

CellModel share_cell(double share) {
  return {fmt::format("{:.1f} %", 100 * share), fmt::format("{}", share)};
}

CellModel change_cell(double share) {
  return {fmt::format("{:+.1f} %", 100 * share), fmt::format("{}", share)};
}

void add_error_columns(RecordTable& table) {
  for (const char* name : {"median", "mean", "90th", "worst", "bias"})
    table.columns.push_back({name, "share"});
}

void add_error_cells(std::vector<CellModel>& cells, const ErrorFigures& errors) {
  for (const double share : {errors.median, errors.mean, errors.p90}) cells.push_back(share_cell(share));
  for (const double share : {errors.worst, errors.bias}) cells.push_back(change_cell(share));
}

RecordTable notes_table(const std::vector<std::string>& notes) {
  RecordTable table{.name = "notes", .title = "Notes", .columns = {{"note", "", Align::kLeft}}, .rows = {}};
  for (const std::string& note : notes) table.rows.push_back({name_cell(note)});
  return table;
}

}  // namespace busbar
