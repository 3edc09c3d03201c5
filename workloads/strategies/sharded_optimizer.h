// Whole parameters, optimizer state in shards: ZeRO-1 and -2, and Megatron's distributed optimizer.
#pragma once

#include "workloads/workload.h"

namespace busbar {

/// Gradients are reduce-scattered in buckets; each rank updates its shard and the parameters are gathered
/// again.
///   zero1        on the last microbatch; parameters gathered after the update, at the end of the step
///   zero2        on every microbatch, so that only a shard of the gradients is kept; the same gathers
///   distributed  as zero1, but the gathers wait for the next step's forward: here at its start, each bucket
///   before
///                the first layer that needs it
/// With shard_size they stay inside groups of so many ranks, and the replicas beyond all-reduce a shard of
/// the gradients on the last microbatch. Sources: Rajbhandari et al., ZeRO, SC 2020, section 5; DeepSpeed,
/// stage_1_and_2.py; Megatron-Core, distrib_optimizer and param_and_grad_buffer.
[[nodiscard]] StepTrace expand_sharded_optimizer(const Workload& workload);

}  // namespace busbar
