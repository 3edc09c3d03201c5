#include "calibrate/run/nccl_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "calibrate/run/cuda_check.h"
#include "calibrate/run/cuda_timing.h"

namespace busbar {

namespace {

// Copies from the size of a layer's activations to well beyond any L2 cache.
constexpr std::int64_t kSmallestCopy = std::int64_t{1} << 20, kLargestCopy = std::int64_t{1} << 30;
constexpr std::int64_t kCopyStep = 4;
constexpr std::int64_t kMemoryShare = 4;  // a buffer takes at most a quarter of what is free
constexpr int kLaunches = 1000, kLaunchBatches = 9;

MeasuredKernel copy_of(NcclDevice& device, std::uint32_t rank, std::int64_t bytes) {
  const double seconds = timed_runs(device, [&] {
    check_cuda(cudaMemcpyAsync(device.receive(), device.send(), static_cast<std::size_t>(bytes),
                               cudaMemcpyDeviceToDevice, device.stream()),
               "copying memory");
  });
  return {.kind = MeasuredKernelKind::kCopy,
          .rank = rank,
          .bytes = Bytes(bytes),
          .time = Time::from_seconds(seconds)};
}

#ifdef BUSBAR_HAS_NVCC
// By the CPU's clock: what a launch takes the thread that makes it, the queue never being full.
MeasuredKernel launch_of(NcclDevice& device, std::uint32_t rank) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int batch = 0; batch <= kLaunchBatches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kLaunches; ++i) launch_empty_kernel(device.stream());
    const double each = std::chrono::duration<double>(Clock::now() - start).count() / kLaunches;
    check_cuda(cudaStreamSynchronize(device.stream()), "launching kernels");
    if (batch > 0) seconds.push_back(each);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kLaunchBatches / 2, seconds.end());
  return {.kind = MeasuredKernelKind::kLaunch,
          .rank = rank,
          .time = Time::from_seconds(seconds[kLaunchBatches / 2])};
}
#endif

}  // namespace

std::vector<MeasuredKernel> measure_gpu(NcclDevice& device, std::uint32_t rank,
                                        [[maybe_unused]] std::vector<std::string>& notes) {
  device.use();
  std::vector<MeasuredKernel> kernels;
  const std::int64_t largest = std::min(kLargestCopy, device.memory_bytes() / kMemoryShare);
  device.reserve(Bytes(largest));
  for (std::int64_t bytes = kSmallestCopy; bytes <= largest; bytes *= kCopyStep)
    kernels.push_back(copy_of(device, rank, bytes));
#ifdef BUSBAR_HAS_CUBLAS
  for (MeasuredKernel& product : measure_matmuls(device, rank)) kernels.push_back(std::move(product));
#else
  notes.emplace_back("matrix products were not measured: built without cuBLAS");
#endif
#ifdef BUSBAR_HAS_NVCC
  kernels.push_back(launch_of(device, rank));
#else
  notes.emplace_back("the cost of a launch was not measured: built without nvcc");
#endif
  return kernels;
}

}  // namespace busbar
