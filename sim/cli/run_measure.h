// A run from its options to its files.
#pragma once

#include "calibrate/run/runner.h"
#include "sim/cli/run_options.h"

namespace busbar {

/// Measures what the options ask for and writes busbar.measured/1; the journal beside it is removed once
/// nothing is left to measure. Called by every process; the leader writes. Returns the exit code.
[[nodiscard]] int run_measure(const RunOptions& options, Runner& runner);

}  // namespace busbar
