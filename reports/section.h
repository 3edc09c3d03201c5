// A titled table of cells, before it is laid out as text or as Markdown.
#pragma once

#include <string>
#include <vector>

#include "reports/table.h"

namespace busbar {

struct Section {
  std::string title;
  std::vector<Align> align;
  std::vector<std::vector<std::string>> rows;  // the first names the columns; rows may be shorter than it
};

/// A blank line, the title, and the table indented by two.
[[nodiscard]] std::string section_text(const Section& section);
/// The same under a third-level heading. Bars in cells are escaped.
[[nodiscard]] std::string section_markdown(const Section& section);

}  // namespace busbar
