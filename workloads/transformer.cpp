#include "workloads/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/units.h"

namespace busbar {

namespace {

/// A matrix product of a block: Y[t, out] = X[t, in] W[in, out].
struct Linear {
  std::string name;
  std::int64_t in = 0, out = 0;
};

std::int64_t product(std::int64_t a, std::int64_t b) { return checked_mul(a, b, "the model's size"); }
std::int64_t sum(std::int64_t a, std::int64_t b) { return checked_add(a, b, "the model's size"); }

std::int64_t query_width(const TransformerDims& dims) { return product(dims.heads, dims.head_dim); }
std::int64_t key_width(const TransformerDims& dims) { return product(dims.kv_heads, dims.head_dim); }

void add_linear(std::vector<Tensor>& tensors, const Linear& linear, bool bias) {
  tensors.push_back({linear.name, product(linear.in, linear.out), std::nullopt});
  if (bias) tensors.push_back({linear.name + ".bias", linear.out, std::nullopt});
}

void add_norm(std::vector<Tensor>& tensors, const std::string& name, const TransformerDims& dims) {
  tensors.push_back({name, dims.hidden, std::nullopt});
  if (dims.biases) tensors.push_back({name + ".bias", dims.hidden, std::nullopt});
}

/// Kernels for one batch. t = micro x sequence tokens, h = hidden, e = bytes per activation.
class Kernels {
 public:
  Kernels(const TransformerDims& dims, const TokenBatch& batch)
      : dims_(dims), batch_(batch), tokens_(product(batch.micro, batch.sequence)) {}

  [[nodiscard]] Layer embedding() const;
  /// Every block has the same kernels.
  [[nodiscard]] Layer block() const;
  [[nodiscard]] Layer head() const;

 private:
  [[nodiscard]] std::vector<Linear> linears() const;
  [[nodiscard]] Kernel matmul(std::string name, const MatmulShape& shape) const;
  [[nodiscard]] Kernel attention(bool backward) const;
  [[nodiscard]] Kernel memory_bound(std::string name, std::int64_t bytes) const;
  [[nodiscard]] Kernel forward(const Linear& linear) const;
  void add_backward(const Linear& linear, std::vector<Kernel>& kernels) const;
  [[nodiscard]] std::int64_t elementwise_bytes() const;
  [[nodiscard]] std::int64_t tensor_bytes(std::int64_t width) const {
    return product(product(tokens_, width), element_bytes());
  }
  /// Eight-bit formats are for matrix products; activations between them, and attention, stay in 16 bits.
  [[nodiscard]] DataType activation_type() const {
    return batch_.compute == DataType::kFp8 ? DataType::kBf16 : batch_.compute;
  }
  [[nodiscard]] std::int64_t element_bytes() const { return size_of(activation_type()); }

  const TransformerDims& dims_;
  const TokenBatch& batch_;
  std::int64_t tokens_;
};

/// The matrix products in forward order; attention runs after the first.
std::vector<Linear> Kernels::linears() const {
  const std::int64_t h = dims_.hidden;
  std::vector<Linear> list = {{"qkv", h, sum(query_width(dims_), product(2, key_width(dims_)))},
                              {"out", query_width(dims_), h}};
  if (dims_.gated_mlp) list.push_back({"gate", h, dims_.ffn_hidden});
  list.push_back({"up", h, dims_.ffn_hidden});
  list.push_back({"down", dims_.ffn_hidden, h});
  return list;
}

Kernel Kernels::matmul(std::string name, const MatmulShape& shape) const {
  KernelWork work;
  work.type = batch_.compute;
  work.matmul = shape;
  resolve_shape(work);
  return {std::move(name), work};
}

Kernel Kernels::attention(bool backward) const {
  KernelWork work;
  work.type = activation_type();
  work.attention = AttentionShape{.batch = batch_.micro,
                                  .sequence = batch_.sequence,
                                  .heads = dims_.heads,
                                  .kv_heads = dims_.kv_heads,
                                  .head_dim = dims_.head_dim,
                                  .causal = dims_.causal,
                                  .backward = backward};
  resolve_shape(work);
  return {"attention", work};
}

Kernel Kernels::memory_bound(std::string name, std::int64_t bytes) const {
  KernelWork work;
  work.type = activation_type();
  work.bytes = static_cast<double>(bytes);
  return {std::move(name), work};
}

Kernel Kernels::forward(const Linear& linear) const {
  return matmul(linear.name, {tokens_, linear.out, linear.in});
}

/// dX[t, in] = dY[t, out] W^T;  dW[in, out] = X^T dY[t, out].
void Kernels::add_backward(const Linear& linear, std::vector<Kernel>& kernels) const {
  kernels.push_back(matmul(linear.name + ".dgrad", {tokens_, linear.in, linear.out}));
  kernels.push_back(matmul(linear.name + ".wgrad", {linear.in, linear.out, tokens_}));
}

/// Forward traffic of a block outside matmuls and attention, in elements, each tensor read and written once:
///   2 norms            2 x 2 t h      (read x, write y)
///   2 residual sums    2 x 3 t h      (read both, write the sum)
///   rotary embedding   2 t (q + k)    (read and write both; q, k = widths of all query and key heads)
///   activation         3 t f gated (read gate and up, write), 2 t f otherwise
/// With as many key as query heads and a gated MLP: e s b (14 h + 3 f) bytes.
std::int64_t Kernels::elementwise_bytes() const {
  const std::int64_t rotary = product(2, sum(query_width(dims_), key_width(dims_)));
  const std::int64_t activation = product(dims_.gated_mlp ? 3 : 2, dims_.ffn_hidden);
  return tensor_bytes(sum(product(10, dims_.hidden), sum(rotary, activation)));
}

/// Forward reads and writes a row per token. Backward reads the gradient, reads and writes a row of the
/// table's gradient, which is first filled with zeros.
Layer Kernels::embedding() const {
  const std::int64_t rows = tensor_bytes(dims_.hidden);
  const std::int64_t table = product(product(dims_.vocab, dims_.hidden), element_bytes());
  return {.name = "embedding",
          .is_block = false,
          .tensors = embedding_tensors(dims_),
          .forward = {memory_bound("lookup", product(2, rows))},
          .backward = {memory_bound("lookup", sum(product(3, rows), table))}};
}

Layer Kernels::block() const {
  const std::vector<Linear> list = linears();
  Layer layer{
      .name = "block", .is_block = true, .tensors = block_tensors(dims_), .forward = {}, .backward = {}};
  for (const Linear& linear : list) layer.forward.push_back(forward(linear));
  layer.forward.insert(layer.forward.begin() + 1, attention(false));
  layer.forward.push_back(memory_bound("elementwise", elementwise_bytes()));
  layer.backward.push_back(memory_bound("elementwise", product(2, elementwise_bytes())));
  for (std::size_t i = list.size(); i-- > 1;) add_backward(list[i], layer.backward);
  layer.backward.push_back(attention(true));
  add_backward(list.front(), layer.backward);
  return layer;
}

/// The final norm (2 t h, backward twice that), the product with the vocabulary, and the loss: forward reads
/// the logits and writes their softmax in fp32, backward reads that and writes the logits' gradient.
Layer Kernels::head() const {
  const std::int64_t norm = product(2, tensor_bytes(dims_.hidden));
  const std::int64_t loss =
      product(product(tokens_, dims_.vocab), element_bytes() + size_of(DataType::kFp32));
  const Linear vocabulary{"lm_head", dims_.hidden, dims_.vocab};
  Layer layer{
      .name = "head", .is_block = false, .tensors = head_tensors(dims_), .forward = {}, .backward = {}};
  layer.forward = {forward(vocabulary), memory_bound("norm_loss", sum(norm, loss))};
  layer.backward = {memory_bound("norm_loss", sum(product(2, norm), loss))};
  add_backward(vocabulary, layer.backward);
  return layer;
}

Layer numbered(Layer block, std::int64_t number) {
  block.name = fmt::format("block{}", number);
  for (Tensor& tensor : block.tensors) tensor.name = fmt::format("{}.{}", block.name, tensor.name);
  return block;
}

}  // namespace

std::vector<Tensor> embedding_tensors(const TransformerDims& dims) {
  return {{"embedding", product(dims.vocab, dims.hidden), std::nullopt}};
}

/// The order of Hugging Face's LlamaDecoderLayer: attention, MLP, then the two norms.
std::vector<Tensor> block_tensors(const TransformerDims& dims) {
  const std::int64_t h = dims.hidden;
  std::vector<Tensor> tensors;
  add_linear(tensors, {"q", h, query_width(dims)}, dims.biases);
  add_linear(tensors, {"k", h, key_width(dims)}, dims.biases);
  add_linear(tensors, {"v", h, key_width(dims)}, dims.biases);
  add_linear(tensors, {"out", query_width(dims), h}, dims.biases);
  if (dims.gated_mlp) add_linear(tensors, {"gate", h, dims.ffn_hidden}, dims.biases);
  add_linear(tensors, {"up", h, dims.ffn_hidden}, dims.biases);
  add_linear(tensors, {"down", dims.ffn_hidden, h}, dims.biases);
  add_norm(tensors, "attention_norm", dims);
  add_norm(tensors, "mlp_norm", dims);
  return tensors;
}

/// A tied head uses the embedding's table. A vocabulary bias is unusual even where other layers have biases.
std::vector<Tensor> head_tensors(const TransformerDims& dims) {
  std::vector<Tensor> tensors;
  add_norm(tensors, "head.norm", dims);
  if (!dims.tied_embeddings) add_linear(tensors, {"head.lm_head", dims.hidden, dims.vocab}, false);
  return tensors;
}

std::vector<Layer> transformer_layers(const TransformerDims& dims, const TokenBatch& batch) {
  const Kernels kernels(dims, batch);
  const Layer block = kernels.block();
  std::vector<Layer> layers = {kernels.embedding()};
  for (std::int64_t i = 0; i < dims.layers; ++i) layers.push_back(numbered(block, i));
  layers.push_back(kernels.head());
  return layers;
}

}  // namespace busbar
