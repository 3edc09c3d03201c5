// Explanations for a terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/result/run_result.h"
#include "sim/result/sweep.h"

namespace busbar {

/// Per kind of operation, those that take longest first: its formula with numbers, what bounds it, what it
/// waited for, which links it crosses.
[[nodiscard]] std::string explain_text(const RunResult& result);
/// The largest size of each choice of algorithm, protocol and channels; the steps of small groups.
[[nodiscard]] std::string explain_text(const Sweep& sweep);

}  // namespace busbar
