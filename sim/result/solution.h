// The value of one parameter that explains a measured step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// Factors are on what the machine and the profile say of the parameter.
struct Solution {
  std::string parameter;  // "nic-bandwidth"
  std::string words;      // "NIC bandwidth per host"
  std::string value_now;  // "400 GB/s"; "" where it is not one figure, and then so are the others
  Time measured, predicted;
  std::optional<double> factor;  // none: no value in `range` explains the measurement
  std::string value;             // at `factor`
  /// Of the interval of the measurement; an end is absent where values beyond the range explain it too.
  std::optional<double> low, high;
  std::string value_low, value_high;
  std::string interval_of;                // "10th to 90th percentile", "2 % of the step time"
  std::pair<double, double> range{1, 1};  // searched, lowest factor first
  std::pair<Time, Time> range_times;      // step times at its ends
  bool monotone = true;       // the step time over the range: else other values may explain it too
  double implausibility = 0;  // in standard deviations of such figures; suggestions.h
  std::string suggestion;     // a sentence; may be empty
};

/// All that was asked of one measured step.
struct SolvedStep {
  std::string name;
  std::vector<Solution> solutions;
};

}  // namespace busbar
