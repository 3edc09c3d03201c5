// Data parallelism with whole replicas: gradients are all-reduced in buckets during the last backward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/workload.h"

namespace busbar {

/// A parameter's gradient as DDP sends it.
struct GradientTensor {
  std::size_t layer = 0;  // complete when this layer's backward ends
  Bytes bytes;
  DataType type = DataType::kBf16;
};

/// Gradients that travel as one all-reduce.
struct Bucket {
  std::vector<std::size_t> gradients;  // indices into the list, in the order of filling
  Bytes bytes;
  DataType type = DataType::kBf16;
  std::size_t layer = 0;  // the last of its layers to be done: the first in forward order
};

struct BucketCaps {
  Bytes first, others;
};
/// 1 MiB and 25 MiB by default; a cap that is given holds for the first bucket too, unless that one is given
/// as well.
[[nodiscard]] BucketCaps bucket_caps(const DdpSpec& spec);

/// Gradients of all tensors in registration order, in `reduce` type or the tensor's own.
[[nodiscard]] std::vector<GradientTensor> gradients_of(const std::vector<Layer>& layers, DataType reduce);

/// Buckets in the order in which they are sent. Filled in reverse registration order; a gradient is never
/// split; types do not mix, each fills its own bucket; a bucket closes when its size reaches the cap; what
/// stays open is closed at the end.
/// Source: PyTorch reducer.cpp, compute_bucket_assignment_by_size, as rebuild_buckets calls it after step
/// one.
[[nodiscard]] std::vector<Bucket> ddp_buckets(std::span<const GradientTensor> gradients,
                                              const BucketCaps& caps);

[[nodiscard]] StepTrace expand_ddp(const Workload& workload);

}  // namespace busbar
