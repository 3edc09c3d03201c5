// The value of one parameter that explains a measured step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// Another value that explains the measurement.
struct Alternative {
  double factor = 1;
  std::string value;  // at `factor`; "" where it is not one figure
  std::optional<double> low, high;
  std::string value_low, value_high;
  bool chosen_anew = false;           // as Solution's, and the next
  std::optional<double> parts_error;  // root mean square of ln(predicted / measured)
  bool contradicts_parts = false;     // the collectives of the step tell it from the solution
};

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
  bool monotone = true;               // the step time over the range: else other values may explain it too
  bool chosen_anew = false;           // the library knows of the factor, and chooses as for such links
  std::optional<double> parts_error;  // of the step's collectives at `factor`
  std::vector<Alternative> alternatives;  // the nearest to 1 first
  double implausibility = 0;              // in standard deviations of such figures; suggestions.h
  std::string suggestion;                 // a sentence; may be empty
};

/// Whether what was measured does not tell which of several values it is.
[[nodiscard]] inline bool is_ambiguous(const Solution& s) {
  for (const Alternative& a : s.alternatives)
    if (!a.contradicts_parts) return true;
  return false;
}

/// All that was asked of one measured step.
struct SolvedStep {
  std::string name;
  std::vector<Solution> solutions;
};

}  // namespace busbar
