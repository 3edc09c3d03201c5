// Text for a terminal: an answer that a person reads in ten seconds.
#pragma once

#include <string>

#include "sim/result/run_result.h"
#include "sim/result/run_result_io.h"
#include "sim/result/sweep.h"

namespace busbar {

/// Step time, where it went, collectives, the three busiest links, what would help, assumptions, warnings.
/// `colours`: of a terminal (ANSI); bars by what they stand for, what needs attention in red.
[[nodiscard]] std::string summary_text(const RunResult& result, bool colours = false);
/// nccl-tests' columns, so that both can be laid side by side.
[[nodiscard]] std::string sweep_text(const Sweep& sweep);
[[nodiscard]] std::string sweep_csv(const Sweep& sweep);
[[nodiscard]] std::string sweep_markdown(const Sweep& sweep);
/// Before and after. Errors (Error, kInput): one is a step and the other a sweep.
[[nodiscard]] std::string compare_text(const OldResult& before, const RunResult& after);
[[nodiscard]] std::string compare_text(const OldResult& before, const Sweep& after);

}  // namespace busbar
