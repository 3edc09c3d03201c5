// Figures of a whole step that follow from its kernels: FLOPs, peak, who computes how long.
#pragma once

#include <optional>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/replay/replay.h"
#include "sim/result/run_result.h"
#include "topologies/topology.h"
#include "workloads/trace.h"

namespace busbar {

/// How many times as long kernels take as where the profile's step was measured, by the slowest of the
/// trace's GPUs (slowest_gpu.h). 1: the profile has no such step, or the trace says how its ranks differ.
[[nodiscard]] double slowed_by_slowest(const StepTrace& trace, const Profile& profile);

/// The profile with the shares that the trace's framework gives kernels, where it has its own, and as slow as
/// the slowest of its GPUs.
[[nodiscard]] Profile with_shares_of(const StepTrace& trace, const Profile& given);

/// FLOPs of all kernels of a step on all ranks; 0 (unknown) where some kernel is given by its duration.
[[nodiscard]] double hardware_flops_of(const StepTrace& trace);

/// Mean over the ranks' GPUs, FLOP/s, in the type in which most FLOPs run; none: a GPU has no such figure.
/// Requires: no more ranks than GPUs.
[[nodiscard]] std::optional<double> peak_of(const StepTrace& trace, const Topology& topology);

/// By program: mean compute and bubble of its ranks. Requires: the replay has run.
[[nodiscard]] std::vector<RoleRecord> roles_of(const Replay& replay);

}  // namespace busbar
