// Timing work on one GPU's stream.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/run/cuda_check.h"
#include "calibrate/run/nccl_devices.h"

namespace busbar {

/// Seconds per run of `work`, which enqueues on the device's stream: the median of batches of at least 2 ms
/// by the GPU's clock, after one run that is discarded.
template <class Work>
double timed_runs(NcclDevice& device, Work work) {
  constexpr int kBatches = 9, kMostRuns = 1000;
  constexpr double kBatch_s = 2e-3;
  const auto batch = [&](int runs) {
    device.mark_start();
    for (int i = 0; i < runs; ++i) work();
    device.mark_stop();
    check_cuda(cudaStreamSynchronize(device.stream()), "timing kernels");
    return device.seconds() / runs;
  };
  batch(1);
  const int runs =
      static_cast<int>(std::clamp(std::ceil(kBatch_s / batch(1)), 1.0, static_cast<double>(kMostRuns)));
  std::vector<double> seconds;
  seconds.reserve(kBatches);
  for (int i = 0; i < kBatches; ++i) seconds.push_back(batch(runs));
  std::nth_element(seconds.begin(), seconds.begin() + kBatches / 2, seconds.end());
  return seconds[kBatches / 2];
}

}  // namespace busbar
