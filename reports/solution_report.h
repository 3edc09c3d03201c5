// What explains a measured step, as text.
#pragma once

#include <string>
#include <vector>

#include "sim/result/solution.h"

namespace busbar {

/// A few lines per parameter: its value, the interval, what it suggests; or that none explains the step, and
/// how far the search gets.
[[nodiscard]] std::string solutions_text(const std::vector<SolvedStep>& steps);

}  // namespace busbar
