#include "reports/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

Section section_of(const RecordTable& table, std::size_t most) {
  Section section{.title = table.title, .align = {}, .rows = {{}}};
  for (const ColumnModel& c : table.columns) {
    section.align.push_back(c.align);
    section.rows.front().push_back(c.name);
  }
  for (const auto& row : table.rows) {
    if (section.rows.size() > most) break;
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const CellModel& cell : row) cells.push_back(cell.text);
    section.rows.push_back(std::move(cells));
  }
  if (table.rows.size() > most)
    section.rows.push_back({fmt::format("... and {} more", table.rows.size() - most)});
  return section;
}

std::string tidy_csv(std::span<const RecordTable> tables) {
  std::string text = "table,row,figure,unit,value\n";
  for (const RecordTable& table : tables)
    for (const auto& row : table.rows) {
      std::string key;
      for (std::size_t k = 0; k < table.keys; ++k) key += (k > 0 ? " " : "") + row[k].exact;
      for (std::size_t c = table.keys; c < row.size(); ++c)
        if (!row[c].exact.empty())
          text += fmt::format("{},{},{},{},{}\n", table.name, csv_cell(key), csv_cell(table.columns[c].name),
                              table.columns[c].unit, csv_cell(row[c].exact));
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

}  // namespace busbar
