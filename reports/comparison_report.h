// A user's own measurement beside its prediction.
#pragma once

#include <string>
#include <vector>

#include "reports/section.h"
#include "sim/result/validation.h"

namespace busbar {

/// Every figure with its signed error, and what one side lacks. Requires: a comparison.
[[nodiscard]] std::vector<Section> comparison_sections(const Validation& validation);
/// What to know of the measurement, and the verdict: a line each.
[[nodiscard]] std::vector<std::string> comparison_lines(const Validation& validation);

}  // namespace busbar
