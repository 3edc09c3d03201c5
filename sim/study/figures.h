// From a simulated step to what a plan asks for: throughput, time, GPU-hours, cost, energy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/result/study.h"
#include "sim/study/cost.h"
#include "sim/study/goodput.h"

namespace busbar {

/// Training by the rule that a token costs 6 FLOPs per parameter (Kaplan et al., 2020, section 2.1): no
/// simulation.
struct RuleOfSix {
  double parameters = 0, tokens = 0, gpus = 0, peak_flops = 0;
  /// 6 N T / (GPUs x peak x MFU).
  [[nodiscard]] double seconds(double mfu) const;
  [[nodiscard]] double gpu_hours(double mfu) const;
  [[nodiscard]] double mfu(double seconds) const;
};

/// How a study wants checkpoints and failures treated.
struct FailureSpec {
  std::optional<double> gpu_mtbf_s;  // of one GPU and its share of host and network
  std::optional<double> bytes_per_parameter, checkpoint_bytes;
  std::optional<double> storage_Bps, staging_Bps;  // of all hosts together; of one host
  bool asynchronous = false;
  std::optional<double> interval_s;  // none: the best by simulation
  std::optional<std::int64_t> interval_steps;
  double restart_s = 600, repair_s = 0;
  std::int64_t spares = 0;
  [[nodiscard]] bool given() const { return gpu_mtbf_s.has_value() || storage_Bps.has_value(); }
};

/// What figures of all layouts of a cluster share.
struct FigureInputs {
  ClusterSize size;
  Prices prices;
  FailureSpec failures;
  std::optional<double> tokens;
  double parameters = 0;
  double capacity_bytes = 0;  // of one GPU
  std::uint64_t seed = 1;
};

/// `failures`: goodput_of a layout of this cluster; none where failures are not given.
[[nodiscard]] PlanFigures plan_figures(const StepFigures& step, const FigureInputs& inputs,
                                       const std::optional<GoodputRecord>& failures);

/// Requires: failures.given().
[[nodiscard]] GoodputRecord goodput_of(const FigureInputs& inputs, double step_s,
                                       std::optional<double> training_s);

}  // namespace busbar
