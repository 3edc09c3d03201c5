// Fully sharded data parallelism with the units of PyTorch's FSDP2: each block gathers its parameters before
// use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/workload.h"

namespace busbar {

/// Parameters that are gathered and reduce-scattered together. Sizes of whole buffers, padded to equal
/// shards.
struct FsdpUnit {
  std::string name;
  std::int32_t layer = -1;    // of a block, among those of the list
  std::int64_t elements = 0;  // of one rank's shard
  Bytes gathered;             // in `parameters` type
  Bytes reduced;              // in `reduce` type
  DataType parameters = DataType::kBf16;
  DataType reduce = DataType::kBf16;
};

/// The root holds what no block holds, or everything under FsdpWrap::kRoot.
struct FsdpUnits {
  FsdpUnit root;
  std::vector<FsdpUnit> blocks;   // in forward order
  std::vector<FsdpUnit> experts;  // by block: its routed experts, 0 elements where it has none
};

/// Ranks that a shard is one of: of parameters in general, and of routed experts.
struct FsdpShards {
  std::int64_t common = 1, experts = 1;
};

/// A parameter's own type stands for both types.   Errors: a unit that mixes types, as in FSDP2.
[[nodiscard]] FsdpUnits fsdp_units(const std::vector<Layer>& layers, const Workload& workload,
                                   const FsdpShards& shards);

/// What one rank holds beside its shards, at most.
struct FsdpBuffers {
  Bytes gathered_root;    // kept from forward to the end of backward
  Bytes gathered_blocks;  // two neighbours (one without prefetch), or all without resharding
  Bytes
      gradients;  // unsharded, before reduce-scatter: the root's, whose last part comes last, and two blocks'
};
[[nodiscard]] FsdpBuffers fsdp_buffers(const FsdpUnits& units, const FsdpSpec& spec);

/// stage_memory, and what one rank holds gathered.
[[nodiscard]] MemoryUse fsdp_memory(const std::vector<Layer>& layers, const Workload& workload,
                                    std::int64_t stage);

/// Per microbatch: gather root and first block; each block's forward gathers the next; backward gathers them
/// again in reverse unless kept, and reduce-scatters each block's gradients after its backward, the root's at
/// the end. Gathers and reduce-scatters share one communicator and stream: block i - 1 is gathered before
/// block i is reduce-scattered (with prefetch 0 after it, as each gather then waits for the block before). A
/// gather waits until the block two uses before it is done, so that at most two are gathered beside the root.
///   fsdp    shards over all of dp (and cp)
///   hsdp    shards over `shard_size` ranks; what a rank reduced is all-reduced over the replicas beyond, on
///   the last
///           microbatch. One rank per shard is DDP and gathers nothing.
///   zero3   as fsdp: DeepSpeed gathers in forward and backward of every microbatch too
/// Routed experts are units of their own, over the ranks that hold the same ones.
/// Source: PyTorch torch/distributed/fsdp/_fully_shard (FSDP2); Zhao et al., PyTorch FSDP, VLDB 2023;
/// Rajbhandari et al., ZeRO, SC 2020, section 5.3; torchtitan (with a pipeline, parameters kept after forward
/// are gathered once). Not modelled: copies in and out of the flat buffers; reduce-scatter on a communicator
/// of its own.
[[nodiscard]] StepTrace expand_fsdp(const Workload& workload);

}  // namespace busbar
