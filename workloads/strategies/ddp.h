// Data parallelism with whole replicas: gradients are summed in buckets during the last backward.
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

/// Gradients that travel together.
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

/// Gradients of all tensors in registration order, in `reduce` type or the tensor's own; of the routed
/// experts' alone, or of all others.
[[nodiscard]] std::vector<GradientTensor> gradients_of(const std::vector<Layer>& layers, DataType reduce,
                                                       bool experts = false);

/// Buckets in the order in which they are sent. Filled in reverse registration order; a gradient is never
/// split; types do not mix, each fills its own bucket; a bucket closes when its size reaches the cap; what
/// stays open is closed at the end.
/// Source: PyTorch reducer.cpp, compute_bucket_assignment_by_size, as rebuild_buckets calls it after step
/// one.
[[nodiscard]] std::vector<Bucket> ddp_buckets(std::span<const GradientTensor> gradients,
                                              const BucketCaps& caps);

/// stage_memory, and buckets: one more copy of the gradients (gradient_as_bucket_view is off by default).
[[nodiscard]] MemoryUse ddp_memory(const std::vector<Layer>& layers, const Workload& workload,
                                   std::int64_t stage);

/// none: all-reduces. horovod: the same with its fusion buffer of 64 MiB. parameter-server: each bucket is
/// reduced to one rank, which broadcasts the new parameters after its update. Sources: Li et al., PyTorch
/// Distributed, VLDB 2020; Sergeev & Del Balso, Horovod, 2018; Li et al., Scaling Distributed Machine
/// Learning with the Parameter Server, OSDI 2014.
[[nodiscard]] StepTrace expand_ddp(const Workload& workload);

}  // namespace busbar
