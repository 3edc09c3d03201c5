// What a planning study found: plain records, filled by sim/study, read by reports and writers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// One simulated step of one layout, as far as planning needs it.
struct StepFigures {
  double step_s = 0;
  double compute_s = 0, exposed_s = 0, bubble_s = 0, wait_s = 0, idle_s = 0;  // of the rank that ends last
  double tokens = 0, model_flops = 0, hardware_flops = 0;                    // per step, all ranks
  double peak_flops = 0;                                                      // of one GPU; 0: not known
  double parameters_bytes = 0, gradients_bytes = 0, optimizer_bytes = 0, activations_bytes = 0,
         buffers_bytes = 0;  // of the fullest rank
  std::string failure;       // why the step cannot run; then nothing else counts
  [[nodiscard]] double memory_bytes() const {
    return parameters_bytes + gradients_bytes + optimizer_bytes + activations_bytes + buffers_bytes;
  }
};

struct LayoutRecord {
  std::string layout;  // "tp 8 pp 4 dp 32 distributed, micro 1"
  double expected_s = 0, least_s = 0;  // closed forms
  StepFigures figures;
  bool on_front = false;  // no other simulated layout of this cluster is faster and smaller
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
};

}  // namespace busbar
