// The step of a job through the event simulation; one of many microbatches by short ones.
#pragma once

#include <optional>

#include "sim/cost/profile.h"
#include "sim/result/study.h"
#include "topologies/topology.h"
#include "workloads/workload.h"

namespace busbar {

/// Of many microbatches some rounds are simulated, where they are found to repeat (short_steps.cpp).
/// Errors: those of `simulate`.
[[nodiscard]] StepFigures step_figures(const Topology& topology, const Profile& profile,
                                       const Workload& workload);

/// Every microbatch of it. Errors: those of `simulate`.
[[nodiscard]] StepFigures whole_step(const Topology& topology, const Profile& profile,
                                     const Workload& workload);

/// Two short steps that stand for one of many microbatches: it takes what `last` does, and `rounds` times
/// what that takes more than `before`.
struct ShortSteps {
  Workload before, last;
  double rounds = 0;
};
/// None: the step is short, or its rounds differ. Errors: those of `simulate`.
[[nodiscard]] std::optional<ShortSteps> short_steps(const Topology& topology, const Profile& profile,
                                                    const Workload& workload);

}  // namespace busbar
