// The layers of a dense decoder-only transformer: its tensors, kernels and memory traffic.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/model_spec.h"

namespace busbar {

/// Parameter tensors in registration order.
[[nodiscard]] std::vector<Tensor> embedding_tensors(const TransformerDims& dims);
[[nodiscard]] std::vector<Tensor> block_tensors(const TransformerDims& dims);
[[nodiscard]] std::vector<Tensor> head_tensors(const TransformerDims& dims);

/// What one microbatch puts through the model.
struct TokenBatch {
  std::int64_t micro = 1;     // samples
  std::int64_t sequence = 0;  // tokens per sample
  DataType compute = DataType::kBf16;
};

/// Embedding, blocks, head.
[[nodiscard]] std::vector<Layer> transformer_layers(const TransformerDims& dims, const TokenBatch& batch);

}  // namespace busbar
