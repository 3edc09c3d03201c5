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

/// How far a figure of this sort may plausibly lie from what is described: spread of its logarithm.
[[nodiscard]] double plausible_spread(const StudyParameter& parameter);

}  // namespace busbar
