// Traces of one or many ranks of one job, as one measured step.
#pragma once

#include <string>
#include <vector>

#include "sim/result/measured_step.h"
#include "validate/import/trace_events.h"

namespace busbar {

/// A step lasts from its ProfilerStep marker to the next one's, the last as long as its marker, or to the end
/// of what runs on the GPU where there is one alone; without markers the whole trace is one step, with a
/// note. Steps that all files have count; the first is left out where it is slower than kWarmUp medians of
/// the others. On a GPU, compute is kernels and copies inside it; on a CPU, aten:: operators. Waiting is told
/// apart from transfer where several files have the same number of calls of a group in a step: the shortest
/// of the k-th calls is the transfer, and what another member's took more it waited. Clocks of files need not
/// agree. Ranks come from distributedInfo, else from the file's name ("rank-34", "worker3"), else from the
/// order. Errors (Error, kInput): nothing ran, two files of one rank, no step in common.
[[nodiscard]] MeasuredStep step_of(std::vector<RankTrace> traces);

/// Of "a/rank-34.trace.json.gz": 34.
[[nodiscard]] std::optional<std::int64_t> rank_in_name(const std::string& path);

}  // namespace busbar
