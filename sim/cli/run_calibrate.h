// What `calibrate` does with its line.
#pragma once

#include "sim/cli/calibrate_options.h"

namespace busbar {

/// Fits, shows or checks; returns the exit code: 1 where --compare finds a change beyond its interval or
/// --check something slow.
[[nodiscard]] int run_calibrate(const CalibrateLine& line);

}  // namespace busbar
