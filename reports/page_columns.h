// The table model for pages: what the tables on them are called, and in which units.
#pragma once

#include <string>

namespace busbar {

/// By table, each column's name, unit and side, as JSON: { "links": [ {"name", "unit", "right"} ] }. Pages
/// take them from here (reports/web/src/model.js), so that they say what text, Markdown and CSV say.
[[nodiscard]] std::string page_columns();

}  // namespace busbar
