// A user's own measurement beside its prediction.
#pragma once

#include <string>
#include <vector>

#include "reports/record_table.h"
#include "sim/result/validation.h"

namespace busbar {

/// Of long tables people get this many rows; CSV and JSON have all.
inline constexpr std::size_t kRowsForPeople = 32;

/// Every figure with its signed error, and what one side lacks. Requires: a comparison.
[[nodiscard]] std::vector<RecordTable> comparison_tables(const Validation& validation);
/// What to know of the measurement, and the verdict: a line each.
[[nodiscard]] std::vector<std::string> comparison_lines(const Validation& validation);

}  // namespace busbar
