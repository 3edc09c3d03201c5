// The layers of a decoder-only transformer: its kernels, memory traffic and exchanges on one rank.
#pragma once

#include <vector>

#include "workloads/model_spec.h"

namespace busbar {

/// Embedding, blocks, head. Requires: cut_problem has none.
[[nodiscard]] std::vector<Layer> transformer_layers(const TransformerDims& dims, const LayerBatch& batch,
                                                    const LayerCut& cut);

/// FLOPs of the forward pass's matrix products and attention for one sample of the uncut model.
[[nodiscard]] double transformer_forward_flops(const TransformerDims& dims, std::int64_t sequence);

}  // namespace busbar
