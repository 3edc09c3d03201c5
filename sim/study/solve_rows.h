// The value of a parameter that explains many measured times at once, such as those of collectives by size.
#pragma once

#include <functional>
#include <vector>

#include "sim/replay/scales.h"
#include "sim/result/solution.h"
#include "sim/study/parameters.h"

namespace busbar {

struct MeasuredRows {
  std::vector<double> measured_s;                             // above 0
  std::function<std::vector<double>(const Scales&)> predict;  // by row, above 0
};

/// The factor f that least squares of ln(predicted / measured) find: rows that do not depend on the parameter
/// do not count. The interval of 95 % follows from the scatter s that is left: s / sqrt(sum of e^2) is the
/// standard error of ln f, with e the elasticity of each row, and Student's t its quantile. No factor where
/// no row depends on the parameter or the best lies at an end of the range. Times are sums over rows.
/// Requires: one row or more.     Cost: some 40 predictions.
/// Source: Seber & Wild 1989, Nonlinear Regression, 2.1; minimum by Brent's method (Boost.Math's).
[[nodiscard]] Solution solve_rows(const MeasuredRows& rows, const StudyParameter& parameter);

}  // namespace busbar
