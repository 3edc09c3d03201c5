// Errors of many rows in a few figures.
#pragma once

#include <span>
#include <vector>

#include "sim/result/validation.h"

namespace busbar {

/// The smallest of the values that at least the share `q` of them does not exceed. Requires: values, 0 <= q
/// <= 1.
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// The mean of the middle two where their number is even. Requires: values.
[[nodiscard]] double median_of(std::vector<double> values);

/// Of signed errors; all zero without any.
[[nodiscard]] ErrorFigures figures_of(std::span<const double> errors);

}  // namespace busbar
