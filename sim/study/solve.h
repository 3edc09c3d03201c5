// The question the other way round: which value of a parameter explains a measured step?
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/replay/rerun.h"
#include "sim/result/solution.h"
#include "sim/study/parameters.h"
#include "sim/study/sensitivity.h"

namespace busbar {

/// A measured step time. Without percentiles the interval is that of `tolerance` about it.
struct SolveTarget {
  Time time;
  std::optional<Time> p10, p90;
  double tolerance = 0.02;  // what steps of one run commonly differ by from run to run
  /// How far a prediction is off in the parts of the step: root mean square of ln(predicted / measured); none
  /// where nothing can be compared. Absent: only the whole step was measured.
  std::function<std::optional<double>(const RunResult&)> parts_error = {};
};

/// The factor on a parameter at which the step takes the target's time: T(f) = T_measured, every root of a
/// curve over ln f. Everything else, and what NCCL chooses, stays as it is; of NICs' bandwidth also the curve
/// of NICs that NCCL knows to be as fast, from 1/16 to 4 times, for which it chooses anew (jumps and all). Of
/// several roots the solution is the one nearest to 1 among those that explain the parts as well as any does
/// (within 2 %); the others are its alternatives.
/// Cost:   some 30 replays, for NICs some 50 simulations more.
/// Errors: those of `simulate`; a target that is not above 0 (kInput).
[[nodiscard]] Solution solve(Rerun& rerun, const StudyParameter& parameter, const SolveTarget& target);

/// What would close the gap between a prediction and a measurement: every single parameter of
/// study_parameters that can, the least implausible change first (Solution::implausibility).
[[nodiscard]] std::vector<Solution> closing_changes(const StudiedStep& step, const SolveTarget& target);

/// By Solution::implausibility; those without a factor last.
void sort_by_plausibility(std::vector<Solution>& solutions);

/// "NIC bandwidth per host 3 % of 400 GB/s (12 GB/s) would close it: RDMA not in use?"; says so where
/// nothing does.
[[nodiscard]] std::string closing_sentence(std::span<const Solution> changes);

}  // namespace busbar
