// Text for a terminal: an answer that a person reads in ten seconds.
#pragma once

#include <string>

#include "reports/record_table.h"
#include "sim/result/run_result.h"
#include "sim/result/run_result_io.h"
#include "sim/result/sweep.h"

namespace busbar {

/// Step time, where it went, collectives, the three busiest links, what would help, assumptions, warnings.
/// `colours`: of a terminal (ANSI); bars by what they stand for, what needs attention in red.
[[nodiscard]] std::string summary_text(const RunResult& result, bool colours = false);
/// Its parts beside those of the steps it is compared with; empty without any.
[[nodiscard]] std::string compared_text(const RunResult& result);
/// nccl-tests' columns, so that both can be laid side by side; then those of what is compared with it.
[[nodiscard]] std::string sweep_text(const Sweep& sweep);
[[nodiscard]] std::string sweep_csv(const Sweep& sweep);
[[nodiscard]] std::string sweep_markdown(const Sweep& sweep);
/// The table of a sweep without rows, for its columns.
[[nodiscard]] RecordTable sweep_shape();
/// An earlier result to lay beside a new one. Errors (Error, kInput): one is a step and the other a sweep, or
/// the sweeps are of two operations, or have no size in common.
[[nodiscard]] ComparedStep compared_with(const OldResult& before, const RunResult& after);
[[nodiscard]] ComparedSweep compared_with(const OldResult& before, const Sweep& after);

}  // namespace busbar
