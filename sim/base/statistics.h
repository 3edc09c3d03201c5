// Medians and quantiles: one definition of each.
#pragma once

#include <vector>

namespace busbar {

/// The smallest of the values that at least the share `q` of them does not exceed. Requires: values, 0 <= q
/// <= 1.
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// The mean of the middle two where their number is even. Requires: values.
[[nodiscard]] double median_of(std::vector<double> values);

/// Two-sided 95 % quantile of Student's t, for intervals. Requires: degrees of freedom >= 1.
[[nodiscard]] double student_95(double degrees_of_freedom);

}  // namespace busbar
