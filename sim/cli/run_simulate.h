// What `simulate` does once its options are read.
#pragma once

#include "sim/cli/simulate_options.h"

namespace busbar {

/// Loads, simulates, prints and writes. Nothing is written when the input is bad. Returns the exit code.
[[nodiscard]] int run_simulate(const SimulateOptions& options);

}  // namespace busbar
