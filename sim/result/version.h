// Versions that results carry.
#pragma once

#include <string_view>

namespace busbar {

inline constexpr std::string_view kVersion = "0.1.0";
/// Rises whenever predictions change (CHANGELOG.md says what and by how much).
inline constexpr std::string_view kModelVersion = "4";

}  // namespace busbar
