// Batches as CUDA graphs.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "calibrate/run/nccl_collectives.h"

namespace busbar {

/// One graph per member's stream; freed with the object.
class LaunchGraphs {
 public:
  LaunchGraphs() = default;
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;
  ~LaunchGraphs();

  /// Records what `enqueue` puts on the members' streams instead of running it.
  void capture(const std::vector<NcclMember>& members, const std::function<void()>& enqueue);
  [[nodiscard]] bool empty() const { return graphs_.empty(); }
  void launch(const std::vector<NcclMember>& members) const;

 private:
  std::vector<cudaGraphExec_t> graphs_;
};

}  // namespace busbar
