// Medians of repeated measurements.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/units.h"

namespace busbar {

/// The mean of the middle two where their number is even. Requires: values.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  BUSBAR_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace busbar
