// busbar.calibration/1, busbar.comparison/1, busbar.health/1.
#pragma once

#include <string>

#include "sim/result/calibration.h"

namespace busbar {

[[nodiscard]] std::string write_calibration(const CalibrationReport& report);
[[nodiscard]] std::string write_comparison(const ProfileComparison& comparison);
[[nodiscard]] std::string write_health(const HealthReport& report);

}  // namespace busbar
