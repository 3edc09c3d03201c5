// Two profiles side by side: the check after an upgrade of a driver or of NCCL.
#pragma once

#include "sim/cost/profile.h"
#include "sim/result/calibration.h"

namespace busbar {

/// Every number that is no default in at least one of them. It changed beyond its interval where the two
/// intervals do not overlap; a side without one counts as its value alone, and where neither has one nothing
/// is beyond.
[[nodiscard]] ProfileComparison compare_profiles(const Profile& before, const Profile& after);

/// A profile's own record, as `calibrate --show` prints it.
[[nodiscard]] CalibrationReport report_of(const Profile& profile);

}  // namespace busbar
