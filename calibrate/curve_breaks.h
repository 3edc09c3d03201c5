// Where a measured curve breaks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/observed.h"
#include "sim/result/calibration.h"

namespace busbar {

/// Neighbouring sizes of a table between which time falls by over 5 %, or grows half as fast again as the
/// size and by over 30 %: what no latency and rate do, but a change of protocol or algorithm does. Rows in
/// `outliers` are passed over. Tables of forced choices have none by definition and are left out.
[[nodiscard]] std::vector<CurveBreak> curve_breaks(const Observed& observed, const std::vector<bool>& outliers);

}  // namespace busbar
