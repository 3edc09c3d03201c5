// Blocks with experts: router, dispatch, grouped matrix products, shared experts and combine.
#pragma once

#include "workloads/layer_parts.h"

namespace busbar {

/// Routed experts are evenly loaded: of a rank's tokens x top_k rows every expert gets the same number, so
/// that a rank receives as many rows as it sends. A capacity factor pads or drops to its multiple of that.
/// Under sequence parallelism a rank dispatches its shard of the tokens; otherwise the ranks of a
/// tensor-parallel group hold the same tokens and each dispatches all of them.
/// Source: Megatron-Core, transformer/moe/token_dispatcher.py (MoEAlltoAllTokenDispatcher), experts.py
///         (TEGroupedMLP), router.py (TopKRouter), shared_experts.py (SharedExpertMLP).
/// Not modelled: rows that several of a token's experts on one rank could share; the auxiliary loss.
[[nodiscard]] Passes expert_mlp(const RankView& view);

/// Of the kernels between them, per rank: activations of routed and shared experts, and the reordering of
/// rows before dispatch and after combine. Forward, in bytes.
[[nodiscard]] std::int64_t expert_elementwise_bytes(const RankView& view);

}  // namespace busbar
