// Explicit tables of named things: one row per host type, fabric, strategy, algorithm. No self-registration.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace busbar {

/// Row types have `std::string_view name` and `std::string_view help`.
template <class Row>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const Row> table) {
  std::vector<std::string_view> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

/// The row called `name`, or nullptr.
template <class Row>
[[nodiscard]] const Row* find_row(std::span<const Row> table, std::string_view name) {
  for (const Row& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

/// "a, b or c".
[[nodiscard]] std::string one_of(std::span<const std::string_view> names);

}  // namespace busbar
