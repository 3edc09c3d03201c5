// Bytes per GPU of a training state, by layout, sharding and schedule.
#pragma once

#include <cstdint>

#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

/// Model states per GPU for `parameters` elements over `ranks` data-parallel ranks: parameters and gradients
/// in their types; optimizer = fp32 master copy (when parameters are not fp32) + AdamW's two moments in
/// `state` type (sgd: none). none: all whole. zero1, distributed: optimizer / n. zero2: gradients / n too.
/// zero3, fsdp, hsdp: parameters / n too. Rounded up. Errors: sizes beyond 63 bits. Not modelled here:
/// activations and gathered blocks (the strategies add them). Source: Rajbhandari et al., "ZeRO: Memory
/// Optimizations Toward Training Trillion Parameter Models", SC 2020, section 3.
[[nodiscard]] MemoryUse model_states(std::int64_t parameters, std::int64_t ranks, Sharding sharding,
                                     const PrecisionSpec& precision, const OptimizerSpec& optimizer);

/// Activations that one rank keeps of one microbatch for the backward of one block, with an attention kernel
/// that keeps no scores: each layer's tensors by the model's own dimensions, cut by tp, cp and sequence
/// parallelism. Full recomputation keeps the block's input alone; selective what there is without it, as
/// there are no scores. Source: the accounting of Korthikanti et al., "Reducing Activation Recomputation in
/// Large Transformer Models", 2022, section 4, tensor by tensor; 34 s b h there are 32 without dropout's
/// masks, for an ungated MLP of 4 h.
[[nodiscard]] Bytes block_activation_bytes(const Workload& workload, std::int64_t block);

/// Logits, their softmax in fp32 and their gradient, of one microbatch on the last stage; where the framework
/// says so what it holds of them at once.
[[nodiscard]] Bytes logit_bytes(const Workload& workload);

/// Model states of a stage's parameters (each in its own type, routed experts by their own replicas), and the
/// activations of as many microbatches as its schedule has in flight. Buffers: what the framework's allocator
/// reserves beyond them, and its copies of gradients.
[[nodiscard]] MemoryUse stage_memory(const std::vector<Layer>& layers, const Workload& workload,
                                     std::int64_t stage);

}  // namespace busbar
