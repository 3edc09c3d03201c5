// The attention of a block: projections, core, and what context parallelism exchanges around it.
#pragma once

#include <vector>

#include "workloads/layer_parts.h"

namespace busbar {

/// Products before the core, from the block's input. A latent model's first projections are whole on every
/// rank and run on its shard of the tokens; the latents enter the tensor-parallel region.
/// Source: DeepSeek-V2, 2024, section 2.1; Megatron-Core, transformer/multi_latent_attention.py.
[[nodiscard]] Passes attention_inputs(const RankView& view);

/// Queries, keys and values at once: [h, (heads + 2 kv_heads) head_dim], of this rank's heads.
[[nodiscard]] Linear qkv_linear(const RankView& view);
/// [heads v, h].
[[nodiscard]] Linear out_linear(const RankView& view);

/// Scores and weighted values of this rank's queries, with the exchanges of context parallelism.
[[nodiscard]] Passes attention_core(const RankView& view);

/// Of one token on this rank: all query heads and all key heads that rotary embeddings turn.
[[nodiscard]] std::int64_t rotary_width(const RankView& view);

}  // namespace busbar
