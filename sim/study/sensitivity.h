// What a step's time depends on, and how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/replay/simulate.h"
#include "sim/result/run_result.h"
#include "topologies/topology.h"
#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

/// A step of many microbatches by two short ones of the same job (short_steps.cpp): it takes what the
/// studied trace does, and `rounds` times what that takes more than `shorter`. Borrows the trace.
struct RepeatedRounds {
  const StepTrace* shorter = nullptr;  // none: the studied trace is the whole step
  double rounds = 0;
  std::int64_t global_batch = 0;  // of the whole step
};

/// A step on a machine, for studies that change one of its numbers at a time. Borrows all.
struct StudiedStep {
  const Topology* topology = nullptr;
  const StepTrace* trace = nullptr;
  const Profile* profile = nullptr;
  SimOptions options;                  // overrides and symmetry count
  const Workload* workload = nullptr;  // that the trace was expanded from; none: its batch stays as it is
  RepeatedRounds repeated = {};
};

/// The elasticity of the step time by every parameter of study_parameters, and by the global batch:
///   e = (ln T(1.01 x) - ln T(x / 1.01)) / (2 ln 1.01), up and down the same over one side alone,
/// at the choices that NCCL makes for the machine as it is. The batch grows and shrinks by one microbatch of
/// each replica (by pp of them where the schedule wants whole rounds).
/// Sorted by what 10 % better saves; then the loads. Deterministic.
/// Cost:   routes, plans and classes once for each of `threads` (0: one per core; fewer for very many ranks);
///         two or three replays a parameter, and one or two simulations for the batch. A link that never
///         binds as it is but could costs them anew for one of them.
/// Errors: those of `simulate`.
[[nodiscard]] std::vector<SensitivityRecord> sensitivity(const StudiedStep& step, std::size_t threads = 0);

}  // namespace busbar
