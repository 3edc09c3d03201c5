// Collectives of NCCL over GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include "calibrate/run/gang.h"
#include "calibrate/run/runner.h"

namespace busbar {

struct NcclRunSettings {
  std::int64_t gpus = 0;  // per process; 0: all visible ones for a lonely process, else one
  bool cuda_graph = false;
  double timeout_s = 60;  // of one batch
};

/// `gang` outlives the runner. Processes of one host take its GPUs in turn. Errors (kSystem): no GPU, fewer
/// than asked for; CUDA's and NCCL's; in a batch: a GPU or process that does not come to its end, named.
[[nodiscard]] std::unique_ptr<Runner> make_nccl_runner(Gang& gang, const NcclRunSettings& settings);

}  // namespace busbar
