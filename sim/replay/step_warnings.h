// What an expert would say of a simulated step, each with a number and the remedy.
#pragma once

#include "sim/replay/replay.h"
#include "sim/result/run_result.h"
#include "topologies/topology.h"

namespace busbar {

/// Appends to result.warnings: the trace's own remarks, what the model had to assume, memory, groups that
/// span hosts, communication that little hides, uneven stages, needless recomputation, small messages. A good
/// step has none. Requires: all other figures of `result`; the replay has run.
void add_step_warnings(RunResult& result, Replay& replay, const Topology& topology);

}  // namespace busbar
