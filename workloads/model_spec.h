// Models as lists of parameter tensors and blocks with their work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/kernel_shape.h"
#include "sim/base/units.h"

namespace busbar {

inline constexpr std::int64_t kMaxLayers = 100'000;

/// A dense decoder-only transformer by its dimensions.
struct TransformerDims {
  std::int64_t layers = 0, hidden = 0, ffn_hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, vocab = 0;
  bool gated_mlp = true;  // three matrices (SwiGLU) or two
  bool tied_embeddings = false;
  bool biases = false;  // of every linear layer and norm
  bool causal = true;
};

/// One parameter tensor of a model given as a list, with the time or work of the layer that it stands for.
struct ParameterSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  std::optional<DataType> type;  // none: precision.parameters
  KernelWork forward, backward;  // per microbatch; takes no time when not given
  [[nodiscard]] std::int64_t elements() const;
};

struct ModelSpec {
  std::string name;  // preset's name or "custom"
  std::optional<TransformerDims> transformer;
  std::vector<ParameterSpec> parameters;  // used when `transformer` is not set
};

/// A parameter tensor of a layer.
struct Tensor {
  std::string name;
  std::int64_t elements = 0;
  std::optional<DataType> type;  // none: precision.parameters
};

/// A kernel and its name within the layer: "qkv", "down.wgrad".
struct Kernel {
  std::string name;
  KernelWork work;
};

/// One unit of forward and backward: the embedding, a block, the head; or a parameter of a list.
struct Layer {
  std::string name;                       // "embedding", "block3", "head"
  bool is_block = false;                  // FSDP's unit; others belong to the root
  std::vector<Tensor> tensors;            // in registration order
  std::vector<Kernel> forward, backward;  // per microbatch, in order; never empty
  [[nodiscard]] std::int64_t elements() const;
};

/// The model as layers in forward order, with kernels for `micro` samples of `sequence` tokens.
/// Work of a transformer block: its matmuls (2 m n k FLOPs each, twice that backward), attention, and the
/// memory traffic of norms, activations and residuals. A list's parameters are one layer each, blocks unless
/// their name starts with "root.".
/// Requires: a valid model.      Errors: sizes beyond 63 bits; more than kMaxLayers layers.
[[nodiscard]] std::vector<Layer> layers_of(const ModelSpec& model, std::int64_t micro, std::int64_t sequence,
                                           DataType compute);

[[nodiscard]] std::int64_t parameter_count(const ModelSpec& model);

struct ModelPreset {
  std::string_view name;
  std::string_view help;
  std::string_view source;
  TransformerDims dims;
};
[[nodiscard]] std::span<const ModelPreset> model_presets();

}  // namespace busbar
