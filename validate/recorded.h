// Figures that a suite reached, and must not lose.
#pragma once

#include <string>
#include <string_view>

#include "sim/result/validation.h"

namespace busbar {

/// How far a figure may be worse than that of an earlier model version before it counts: half a percentage
/// point.
inline constexpr double kRecordedSlack = 0.005;
/// The same against a figure of the model version that runs, which has the same predictions: half of the
/// last digit written, and as much for another compiler's arithmetic. With half a point here and half a
/// point from version to version, a rise of a whole one would pass.
inline constexpr double kSameVersionSlack = 0.001;

/// Holds one figure: "median" and "p90" of the absolute error are met up to `recorded` and the slack,
/// "right" (share of jobs that fit or do not, as predicted) from `recorded` less the slack on. False: the
/// validation has no figure of that name.
[[nodiscard]] bool hold_figure(Validation& validation, const std::string& figure, double recorded,
                               double slack = kRecordedSlack);

/// Holds a suite against its lines of a table with the columns suite, figure and value, and model_version
/// where the table keeps the figures of earlier versions too: of lines with the same suite and figure the
/// last counts. Only whole suites at the default calibration can be held; for others nothing is done. Errors
/// (Error, kInput) with file and line: another figure, an unknown suite, a bad field.
void hold_recorded(Validation& validation, std::string_view table, const std::string& name);

}  // namespace busbar
