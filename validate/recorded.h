// Figures that a suite reached, and must not lose.
#pragma once

#include <string>
#include <string_view>

#include "sim/result/validation.h"

namespace busbar {

/// How far a figure may get worse before it counts: half a percentage point.
inline constexpr double kRecordedSlack = 0.005;

/// Holds a suite against its lines of a table with the columns suite, figure and value, and model_version
/// where the table keeps the figures of earlier versions too: of lines with the same suite and figure the
/// last counts. "median" and "p90" of the absolute error are met up to the value and the slack, "right"
/// (share of jobs that fit or do not, as predicted) from the value less the slack on. Only whole suites at
/// the default calibration can be held; for others nothing is done. Errors (Error, kInput) with file and
/// line: another figure, an unknown suite, a bad field.
void hold_recorded(Validation& validation, std::string_view table, const std::string& name);

}  // namespace busbar
