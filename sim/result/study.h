// What a planning study found: plain records, filled by sim/study, read by reports and writers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/result/excerpt.h"
#include "sim/result/run_result.h"

namespace busbar {

/// One simulated step of one layout, as far as planning needs it.
struct StepFigures {
  double step_s = 0;
  double compute_s = 0, exposed_s = 0, bubble_s = 0, wait_s = 0, idle_s = 0;  // of the rank that ends last
  double tokens = 0, model_flops = 0, hardware_flops = 0;                     // per step, all ranks
  double peak_flops = 0;                                                      // of one GPU; 0: not known
  double parameters_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0, activations_bytes = 0,
         buffers_bytes = 0;  // of the fullest rank
  std::string failure;       // why the step cannot run; then nothing else counts
  [[nodiscard]] double memory_bytes() const {
    return parameters_bytes + gradients_bytes + optimizer_bytes + activations_bytes + buffers_bytes;
  }
};

/// The numbers of StepFigures, for files and messages. A number that is added or changes its meaning changes
/// the key of kept results (kFiguresVersion).
inline constexpr std::array<double StepFigures::*, 15> kStepNumbers = {
    &StepFigures::step_s,           &StepFigures::compute_s,
    &StepFigures::exposed_s,        &StepFigures::bubble_s,
    &StepFigures::wait_s,           &StepFigures::idle_s,
    &StepFigures::tokens,           &StepFigures::model_flops,
    &StepFigures::hardware_flops,   &StepFigures::peak_flops,
    &StepFigures::parameters_bytes, &StepFigures::gradients_bytes,
    &StepFigures::optimizer_bytes,  &StepFigures::activations_bytes,
    &StepFigures::buffers_bytes};
inline constexpr int kFiguresVersion = 2;

struct LayoutRecord {
  std::string layout;                  // "tp 8 pp 4 dp 32 distributed, micro 1"
  std::vector<std::int64_t> numbers;   // the same for programs: sim/study's Candidate
  double expected_s = 0, least_s = 0;  // closed forms
  StepFigures figures;
};

struct ExclusionRecord {
  std::string reason;
  std::int64_t count = 0;
  std::string example;
};

/// The search on one cluster.
struct SearchRecord {
  std::int64_t enumerated = 0, excluded = 0, screened = 0, simulated = 0;
  /// Layouts whose bound is below the best found and that were not simulated: the best is proven when 0.
  std::int64_t open = 0;
  std::vector<LayoutRecord> ranked;  // simulated ones, fastest first
  std::vector<ExclusionRecord> exclusions;
  double screen_seconds = 0, simulate_seconds = 0;
  double capacity_bytes = 0;  // of one GPU
  double usable_bytes = 0;    // of that, by the study's constraint
  /// Of the layouts that divide, the one that needs least; "" and 0 where none divides.
  std::string least_layout;
  double least_bytes = 0;
};

/// Checkpoints and failures of a run.
struct GoodputRecord {
  double mtbf_s = 0;  // of the cluster
  double checkpoint_bytes = 0, stall_s = 0, write_s = 0;
  double young_s = 0, daly_s = 0, simulated_s = 0;  // best interval, by each
  double interval_s = 0;                            // the one that the figures below are of
  double stall_share = 0;                           // of the time, without failures
  double expected = 1;                              // share of the time that trains: Daly's model
  double simulated = 1, waiting = 0;                // by drawing failures; share waiting for hosts
  std::int64_t failures = 0;                        // drawn
  std::int64_t spares = 0, spares_needed = 0;       // given; so that with 99 % none is missing
};

/// What a layout on a cluster means for a plan. Absent: an input that it needs is not given.
struct PlanFigures {
  double step_s = 0, tokens_per_s = 0, tokens_per_s_gpu = 0;
  double flops_per_gpu = 0;  // of the model
  std::optional<double> mfu;
  double memory_bytes = 0, headroom_bytes = 0;
  double goodput = 1;  // share of the time that trains
  std::optional<GoodputRecord> failures;
  std::optional<double> train_s, gpu_hours;          // for the tokens asked for, at that goodput
  std::optional<double> cost, cost_per_1e12_tokens;  // in the study's currency
  std::optional<double> energy_j;
  /// Of these, what hosts that stand by take; absent without any. GPU-hours above are those that train.
  std::optional<double> spare_gpu_hours, spare_cost, spare_energy_j;
};

/// One cluster of a study, at one point of its sweeps.
struct ClusterRecord {
  std::string name;     // "dgx-h100 x 128"
  std::string variant;  // "fabric.oversubscription=2"; "" without sweeps
  std::string scaling;  // "strong", "weak"
  std::int64_t gpus = 0, hosts = 0, ports = 0, global_batch = 0;
  SearchRecord search;
  std::vector<PlanFigures> figures;       // by search.ranked
  std::optional<Excerpt> ranked_excerpt;  // where search.ranked is not whole; FrontPoint counts in the whole
  std::string why_not;                    // of the best layout: the constraint that it breaks; "" none
  /// By how much it misses the constraint that it misses most, as a share of what is allowed.
  std::optional<double> misses;
  bool between = false;  // a size that the study does not list, tried for its goal
  [[nodiscard]] bool has_layout() const { return !search.ranked.empty(); }
};

/// "128 GPUs of dgx-h100, fabric.oversubscription=2 (weak scaling, batch 1024)", printable.
[[nodiscard]] std::string title_of(const ClusterRecord& cluster);

/// How the throughput of the best layouts grows with GPUs.
struct ScalingPoint {
  std::int64_t gpus = 0;
  double tokens_per_s = 0;
  double efficiency = 1;           // per GPU, over that of the smallest
  std::optional<double> marginal;  // of the GPUs added since the point before
};
struct ScalingCurve {
  std::string name, scaling;
  std::vector<ScalingPoint> points;
  std::optional<std::int64_t> knee;  // the last count whose added GPUs still gave half of what they could
};

/// A layout on a cluster that no other beats in time, memory and cost together; `alike` others come to the
/// same.
struct FrontPoint {
  std::size_t cluster = 0, layout = 0;
  std::int64_t alike = 0;
};

/// The input of a figure, and whether it was measured, fitted or assumed.
struct Assumption {
  std::string what, value;
  std::string origin;  // "measured", "fitted" or "assumed"
  std::string source;
};

/// What a study was made from.
struct StudyInputs {
  std::string study, digest;  // the file ("command line" without one), and of it with all changes
  std::string calibration;
  std::uint64_t seed = 1;
};

struct Study {
  std::string name, model, currency, objective;
  StudyInputs inputs;
  double parameters = 0, active_parameters = 0;
  std::optional<double> tokens;
  std::int64_t sequence = 0, global_batch = 0;
  std::vector<ClusterRecord> clusters;
  std::vector<ScalingCurve> curves;
  std::vector<FrontPoint> front;
  std::optional<std::size_t> best, runner_up;  // of clusters; the layout is the first
  std::vector<std::string> changes, risks;     // sentences: what would change the answer, what may go wrong
  std::vector<SensitivityRecord> sensitivity;  // of the recommended layout's step
  std::vector<Assumption> assumptions;
  double wall_s = 0;
  std::int64_t simulated = 0, reused = 0;  // steps: simulated now, taken from the database
};

}  // namespace busbar
