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

/// Multi-head latent attention (DeepSeek-V2, -V3): queries and keys come from low-rank projections.
struct LatentAttention {
  std::int64_t q_lora_rank = 0;  // 0: queries are projected at once
  std::int64_t kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  bool operator==(const LatentAttention&) const = default;
};

/// Experts in place of the MLP of some blocks.
struct Experts {
  std::int64_t count = 0;  // routed experts of a layer
  std::int64_t top_k = 1;  // of them per token
  std::int64_t ffn_hidden = 0;
  std::int64_t shared = 0;             // experts that every token passes, beside the routed ones
  std::int64_t shared_ffn_hidden = 0;  // of one shared expert; 0: as a routed one
  std::int64_t dense_layers = 0;       // the first blocks keep their MLP
  std::int64_t every = 1;              // of the others, every n-th has experts
  bool router_bias = false;            // one number per expert that evens the load (DeepSeek-V3)
  /// Of all shared experts together: they run as one MLP.
  [[nodiscard]] std::int64_t shared_width() const;
  bool operator==(const Experts&) const = default;
};

/// A decoder-only transformer by its dimensions.
struct TransformerDims {
  std::int64_t layers = 0, hidden = 0, ffn_hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, vocab = 0;
  bool gated_mlp = true;  // three matrices (SwiGLU) or two
  bool tied_embeddings = false;
  bool biases = false;      // of every linear layer and norm
  bool qkv_biases = false;  // of the attention's input projections alone (Qwen2)
  bool qk_norms = false;    // a norm of head_dim on queries and keys (Qwen3)
  bool causal = true;
  bool parallel_block = false;  // attention and MLP read the same input (GPT-J, Falcon)
  bool parallel_norms = false;  // each with a norm of its own (GPT-NeoX)
  std::int64_t positions = 0;   // rows of a learned position table; 0: rotary
  std::int64_t window = 0;      // of sliding-window attention; 0: none
  std::optional<LatentAttention> latent;
  std::optional<Experts> experts;
  [[nodiscard]] bool has_experts(std::int64_t layer) const {
    return experts && layer >= experts->dense_layers && (layer - experts->dense_layers) % experts->every == 0;
  }
};

/// One parameter tensor of a model given as a list, with the time or work of the layer that it stands for.
struct ParameterSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  std::optional<DataType> type;  // none: precision.parameters
  KernelWork forward, backward;  // per microbatch; takes no time when not given
  [[nodiscard]] std::int64_t elements() const;
};

/// Of a list: outside the blocks, named "root" or "root.<something>".
[[nodiscard]] bool is_root(const ParameterSpec& parameter);

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

/// What a layer asks of the other ranks of its tensor, context or expert group between two kernels.
enum class LayerExchange : std::uint8_t {
  kTensorAllReduce,  // of partial sums
  kTensorGather,     // of sequence shards
  kTensorScatter,    // reduce-scatter into sequence shards
  kContextRing,      // keys and values pass round the context group while attention runs
  kContextGather,    // of keys and values
  kContextScatter,   // of their gradients
  kContextAllToAll,  // sequence shards against head shards (Ulysses)
  kExpertAllToAll,   // dispatch or combine, over ep
  // The last three over etp, the ranks that share one expert's matrices.
  kExpertGather,     // of the rows that each of them received
  kExpertScatter,    // of partial sums of those rows
  kExpertAllReduce,  // of partial sums where all of them received the same rows
};

/// `needed_by` of what only the end of the layer's forward or backward waits for.
inline constexpr std::string_view kLayerEnd = "end";

/// `bytes` is nccl-tests' size: the full buffer for gathers and scatters; for the context ring, what one rank
/// passes on per step.
struct LayerCommunication {
  std::string name;  // "mlp.reduce"
  LayerExchange exchange = LayerExchange::kTensorAllReduce;
  Bytes bytes;
  DataType type = DataType::kBf16;
  /// It may run beside the kernels after it, up to the first one of that name ("" : it must end first).
  std::string needed_by;
};

/// One item of a layer's forward or backward: a kernel, or what it exchanges.
struct LayerStep {
  Kernel kernel;
  std::optional<LayerCommunication> communication;  // then there is no kernel
};

/// How a model is cut for one rank, and how its activations are kept. Widths are divided by `tp`, tokens by
/// `cp` (and outside the tensor-parallel region by `tp` under sequence parallelism), experts by `ep`.
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
enum class ContextMethod : std::uint8_t { kRing, kAllGather, kUlysses };
/// kFused: scores stay in the SM (FlashAttention); kUnfused: they go through memory between kernels.
enum class AttentionKernels : std::uint8_t { kFused, kUnfused };
struct LayerCut {
  std::int64_t tp = 1, cp = 1, ep = 1, etp = 1;
  bool sequence_parallel = false;
  ContextMethod context = ContextMethod::kRing;
  Recompute recompute = Recompute::kNone;
  AttentionKernels attention = AttentionKernels::kFused;
  std::optional<double> capacity_factor;  // of experts; none: dropless
};

/// One unit of forward and backward: the embedding, a block, the head; or a parameter of a list.
struct Layer {
  std::string name;                          // "embedding", "block3", "head"
  bool is_block = false;                     // FSDP's unit; others belong to the root
  std::vector<Tensor> tensors;               // this rank's shares, in registration order; not of experts
  std::vector<Tensor> expert_tensors;        // of this rank's routed experts
  std::vector<LayerStep> forward, backward;  // per microbatch, in order; backward starts with what recompute
                                             // repeats
  /// Of the backward kernels, those that only make weight gradients (zero-bubble schedules move them).
  [[nodiscard]] static bool is_weight_gradient(const Kernel& kernel) {
    return kernel.name.ends_with(".wgrad");
  }
  [[nodiscard]] std::int64_t elements() const;         // of `tensors`
  [[nodiscard]] std::int64_t expert_elements() const;  // of `expert_tensors`
};

/// What one rank computes on: `micro` samples of `sequence` tokens (before cp cuts them).
struct LayerBatch {
  std::int64_t micro = 1, sequence = 0;
  DataType compute = DataType::kBf16;
};

/// The whole model's layers in forward order, as one rank of the cut sees them.
/// Work of a transformer block: its matmuls (2 m n k FLOPs each, twice that backward), attention, and the
/// memory traffic of norms, activations and residuals. Kernels that recompute a forward are called
/// "recompute.<name>". Under tp the vocabulary is padded (padded_vocab); `parameter_count` never is.
/// A list's parameters are one layer each, blocks unless their name starts with "root."; they know no cut.
/// Errors: cut_problem; sizes beyond 63 bits; more than kMaxLayers layers.
[[nodiscard]] std::vector<Layer> layers_of(const ModelSpec& model, const LayerBatch& batch,
                                           const LayerCut& cut);

/// Why the model cannot be cut so, with the rule and the nearest valid values; none: it can.
[[nodiscard]] std::optional<std::string> cut_problem(const ModelSpec& model, const LayerBatch& batch,
                                                     const LayerCut& cut);

/// FLOPs of the model itself for one sample of `sequence` tokens, forward and backward, without
/// recomputation: 3 x forward's matmuls and attention (causal attention counts half). 6 x the matmul
/// parameters that a token passes x tokens + 12 s^2 heads head_dim per layer, half of that when causal. Of a
/// list: 3 x its forward FLOPs; 0 (unknown) where a time is given instead of work.
/// Source: Narayanan et al., SC 2021, section 5.1; Chowdhery et al., PaLM, 2022, appendix B.
[[nodiscard]] double model_flops(const ModelSpec& model, std::int64_t sequence);

[[nodiscard]] std::int64_t parameter_count(const ModelSpec& model);
/// Of them, those that one token passes: all but the routed experts that it is not sent to.
[[nodiscard]] std::int64_t active_parameter_count(const ModelSpec& model);

/// Rows of the embedding's table: the next multiple of 128 tp, for equal shares; as they are for tp = 1.
/// Source: Megatron-LM, training/tokenizer, _vocab_size_with_padding (there with tp = 1 too).
[[nodiscard]] std::int64_t padded_vocab(const TransformerDims& dims, std::int64_t tp);

struct ModelPreset {
  std::string_view name;
  std::string_view help;
  std::string_view source;
  TransformerDims dims;
};
[[nodiscard]] std::span<const ModelPreset> model_presets();

}  // namespace busbar
