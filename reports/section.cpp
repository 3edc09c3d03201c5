#include "reports/section.h"

#include <fmt/format.h>

namespace busbar {

namespace {

std::string markdown_line(const std::vector<std::string>& row, std::size_t columns) {
  std::string line = "|";
  for (std::size_t c = 0; c < columns; ++c) {
    std::string cell = c < row.size() ? row[c] : "";
    for (std::size_t at = 0; (at = cell.find_first_of("|<`", at)) != std::string::npos; at += 2)
      cell.insert(at, "\\");
    line += " " + cell + " |";
  }
  return line + "\n";
}

}  // namespace

std::string section_text(const Section& section) {
  TextTable table(section.align);
  for (const auto& row : section.rows) table.add(row);
  return fmt::format("\n{}\n{}", section.title, table.text(2));
}

std::string section_markdown(const Section& section) {
  std::string text = fmt::format("\n### {}\n\n{}|", section.title,
                                 markdown_line(section.rows.front(), section.align.size()));
  for (const Align align : section.align) text += align == Align::kRight ? "--:|" : "---|";
  text += "\n";
  for (std::size_t r = 1; r < section.rows.size(); ++r)
    text += markdown_line(section.rows[r], section.align.size());
  return text;
}

}  // namespace busbar
