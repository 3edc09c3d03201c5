// What a solved parameter suggests, by rules.
#pragma once

#include <string>
#include <utility>

#include "sim/study/parameters.h"

namespace busbar {

/// A sentence on a factor that explains a measurement, such as "RDMA not in use?"; empty where none fits.
[[nodiscard]] std::string suggestion_for(const StudyParameter& parameter, double factor);

/// The factors among which solutions are looked for: wide enough for a machine that is broken, or another
/// one.
[[nodiscard]] std::pair<double, double> searched_range(const StudyParameter& parameter);

/// How implausible a factor is, in standard deviations: |ln f| over the spread s that such figures have in
/// fits; for the worse also as a fault, 3 + |ln f| / w with w the ln of a factor that common faults reach;
/// the smaller of the two.
[[nodiscard]] double implausibility(const StudyParameter& parameter, double factor);

}  // namespace busbar
