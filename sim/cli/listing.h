// --list: the tables of what this build knows.
#pragma once

#include <string>
#include <string_view>

namespace busbar {

/// Errors (Error, kInput): an unknown table.
[[nodiscard]] std::string listing(std::string_view table);

}  // namespace busbar
