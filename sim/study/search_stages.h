// What each pipeline stage of a layout takes, from its layers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/study/search_layers.h"

namespace busbar {

/// Seconds of one microbatch, summed over a stage's layers.
struct StageTime {
  double forward = 0, backward = 0, weights = 0;  // `weights` apart from backward, or 0
  double forward_lead = 0, backward_lead = 0;     // before the first kernel of a pass
  double first_forward = 0, first_backward = 0;   // of the stage's first chunk alone
  double host = 0;
  [[nodiscard]] double busy() const { return forward + backward + weights; }
};

struct StageTimes {
  std::vector<StageTime> expected, least;     // by stage
  std::vector<std::int64_t> common, experts;  // parameters on a rank
  std::vector<std::int64_t> blocks;
  std::vector<const Layer*> first_layers;  // of stage 0, in order
};

[[nodiscard]] StageTimes stage_times(const Workload& workload, const CutTimes& cut);

}  // namespace busbar
