// The heart: a topology, a step and a profile give a result.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/cost/cost_model.h"
#include "sim/cost/profile.h"
#include "sim/replay/scales.h"
#include "sim/result/run_result.h"
#include "sim/result/sweep.h"
#include "topologies/topology.h"
#include "workloads/trace.h"

namespace busbar {

struct SimOptions {
  Overrides overrides;
  std::optional<TimelineRequest> timeline;  // steps only
  bool explain = false;
  /// Steps only, for records and pages: the timeline of a rank of each program, and the machine with its
  /// loads.
  bool details = false;
  std::vector<std::uint32_t> splits;  // steps only: ranks whose times are given one by one
  /// Steps: replay one rank for each class that behaves alike. Times do not depend on it. Explanations, which
  /// name ranks, always take them all.
  bool symmetry = true;
  CallStyle calls;        // sweeps only
  bool isolated = false;  // sweeps only: each operation alone on its stream, as in a step
  bool chunks = false;    // sweeps only: run each collective message by message instead of planning it
  Scales scales = {};     // steps only: what if parts of the machine were faster or slower
};

/// Simulates one step. Pure: no globals, no I/O, no clock.
/// Errors: kInput (the step does not fit the machine's description), kJob (mismatched calls, deadlock).
/// Not modelled: packets, queues, congestion control (docs/model.md).
[[nodiscard]] RunResult simulate(const Topology& topology, const StepTrace& trace, const Profile& profile,
                                 const SimOptions& options);

struct SweepRequest {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  std::vector<std::uint32_t> ranks;  // empty: all
  std::vector<Bytes> sizes;          // nccl-tests' size; rounded down to whole elements per rank
  DataType type = DataType::kFp32;
  Reduction reduction = Reduction::kSum;
  std::uint32_t root = 0;  // member number, for rooted operations
};

/// One lone collective per size, with nccl-tests' columns.
[[nodiscard]] Sweep sweep(const Topology& topology, const SweepRequest& request, const Profile& profile,
                          const SimOptions& options);

}  // namespace busbar
