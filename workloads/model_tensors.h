// Parameter tensors of a transformer's layers in registration order, as one rank of a cut holds them.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/model_spec.h"

namespace busbar {

/// With the padded vocabulary under tp. Of a matrix cut by rows, the bias is whole; norms, routers and the
/// position table are whole; key and value heads are shared by ranks where tp exceeds them.
[[nodiscard]] std::vector<Tensor> embedding_tensors(const TransformerDims& dims, const LayerCut& cut);
[[nodiscard]] std::vector<Tensor> head_tensors(const TransformerDims& dims, const LayerCut& cut);

enum class BlockKind : std::uint8_t { kDense, kExperts };
/// The order of Hugging Face's LlamaDecoderLayer: attention, MLP, then the two norms.
[[nodiscard]] std::vector<Tensor> block_tensors(const TransformerDims& dims, const LayerCut& cut,
                                                BlockKind kind);
/// Of this rank's routed experts, one tensor per projection.
[[nodiscard]] std::vector<Tensor> routed_tensors(const TransformerDims& dims, const LayerCut& cut);

}  // namespace busbar
