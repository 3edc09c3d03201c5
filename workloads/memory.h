// Bytes per GPU of a training state, by sharding.
#pragma once

#include <cstdint>

#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

/// Model states per GPU for `parameters` elements over `ranks` data-parallel ranks: parameters and gradients
/// in their types; optimizer = fp32 master copy (when parameters are not fp32) + AdamW's two moments in
/// `state` type (sgd: none). none: all whole. zero1: optimizer / n. zero2: gradients / n too. zero3, fsdp:
/// parameters / n too. Rounded up. Errors: sizes beyond 63 bits. Not modelled here: activations and gathered
/// blocks (the strategies add them). Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training
/// Trillion Parameter Models", SC 2020, section 3.
[[nodiscard]] MemoryUse model_states(std::int64_t parameters, std::int64_t ranks, Sharding sharding,
                                     const PrecisionSpec& precision, const OptimizerSpec& optimizer);

/// Activations that one rank keeps for backward, per microbatch, without recomputation and with an attention
/// kernel that keeps no scores: each layer's tensors by the model's own dimensions, and the head's logits.
/// Source: the accounting of Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
/// Models", 2022, section 4, tensor by tensor; 34 s b h there are 32 without dropout's masks, for an ungated
/// MLP of 4 h.
[[nodiscard]] Bytes activation_bytes(const Workload& workload);

}  // namespace busbar
