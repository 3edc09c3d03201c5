#include "workloads/model_tensors.h"

#include <algorithm>

#include "workloads/layer_parts.h"

namespace busbar {

namespace {

/// Collects a layer's tensors; widths are of this rank.
class TensorList {
 public:
  TensorList(const TransformerDims& dims, const LayerCut& cut) : dims_(dims), cut_(cut) {}

  void add(std::string name, std::int64_t elements) {
    tensors_.push_back({std::move(name), elements, std::nullopt});
  }
  void add_linear(const Linear& linear, bool bias) {
    add(linear.name, model_product(linear.in, linear.out));
    if (bias) add(linear.name + ".bias", linear.out);
  }
  void add_norm(const std::string& name, std::int64_t width) {
    add(name, width);
    if (dims_.biases) add(name + ".bias", width);
  }
  void add_attention();
  void add_latent_attention();
  void add_mlp(const std::string& prefix, std::int64_t width);
  void add_experts();
  [[nodiscard]] std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  [[nodiscard]] std::int64_t heads() const { return dims_.heads / cut_.tp; }

  const TransformerDims& dims_;
  const LayerCut& cut_;
  std::vector<Tensor> tensors_;
};

void TensorList::add_attention() {
  const std::int64_t h = dims_.hidden;
  const std::int64_t queries = model_product(heads(), dims_.head_dim);
  const std::int64_t keys =
      model_product(std::max<std::int64_t>(dims_.kv_heads / cut_.tp, 1), dims_.head_dim);
  const bool bias = dims_.biases || dims_.qkv_biases;
  add_linear({"q", h, queries}, bias);
  add_linear({"k", h, keys}, bias);
  add_linear({"v", h, keys}, bias);
  if (dims_.qk_norms) {
    add_norm("q_norm", dims_.head_dim);
    add_norm("k_norm", dims_.head_dim);
  }
  add_linear({"out", queries, h}, dims_.biases);
}

/// Source: DeepSeek-V2, 2024, section 2.1.2 and appendix C; the names of Hugging Face's DeepseekV3Attention.
void TensorList::add_latent_attention() {
  const LatentAttention& latent = *dims_.latent;
  const std::int64_t h = dims_.hidden;
  const std::int64_t queries =
      model_product(heads(), model_sum(latent.qk_nope_head_dim, latent.qk_rope_head_dim));
  if (latent.q_lora_rank == 0) {
    add_linear({"q", h, queries}, dims_.biases);
  } else {
    add_linear({"q_a", h, latent.q_lora_rank}, dims_.biases);
    add_norm("q_a_norm", latent.q_lora_rank);
    add_linear({"q_b", latent.q_lora_rank, queries}, false);
  }
  add_linear({"kv_a", h, model_sum(latent.kv_lora_rank, latent.qk_rope_head_dim)}, dims_.biases);
  add_norm("kv_a_norm", latent.kv_lora_rank);
  add_linear({"kv_b", latent.kv_lora_rank,
              model_product(heads(), model_sum(latent.qk_nope_head_dim, latent.v_head_dim))},
             false);
  add_linear({"out", model_product(heads(), latent.v_head_dim), h}, dims_.biases);
}

void TensorList::add_mlp(const std::string& prefix, std::int64_t width) {
  if (dims_.gated_mlp) add_linear({prefix + "gate", dims_.hidden, width}, dims_.biases);
  add_linear({prefix + "up", dims_.hidden, width}, dims_.biases);
  add_linear({prefix + "down", width, dims_.hidden}, dims_.biases);
}

void TensorList::add_experts() {
  const Experts& experts = *dims_.experts;
  add("router", model_product(dims_.hidden, experts.count));
  if (experts.router_bias) add("router.bias", experts.count);
  if (experts.shared > 0) add_mlp("shared.", experts.shared_width() / cut_.tp);
}

}  // namespace

std::int64_t Experts::shared_width() const {
  return model_product(shared, shared_ffn_hidden == 0 ? ffn_hidden : shared_ffn_hidden);
}

std::vector<Tensor> embedding_tensors(const TransformerDims& dims, const LayerCut& cut) {
  TensorList list(dims, cut);
  list.add("embedding", model_product(padded_vocab(dims, cut.tp) / cut.tp, dims.hidden));
  if (dims.positions > 0) list.add("positions", model_product(dims.positions, dims.hidden));
  return list.take();
}

/// A tied head uses the embedding's table. A vocabulary bias is unusual even where other layers have biases.
std::vector<Tensor> head_tensors(const TransformerDims& dims, const LayerCut& cut) {
  TensorList list(dims, cut);
  list.add_norm("head.norm", dims.hidden);
  if (!dims.tied_embeddings)
    list.add_linear({"head.lm_head", dims.hidden, padded_vocab(dims, cut.tp) / cut.tp}, false);
  return list.take();
}

std::vector<Tensor> block_tensors(const TransformerDims& dims, const LayerCut& cut, BlockKind kind) {
  TensorList list(dims, cut);
  if (dims.latent)
    list.add_latent_attention();
  else
    list.add_attention();
  if (kind == BlockKind::kExperts)
    list.add_experts();
  else
    list.add_mlp("", dims.ffn_hidden / cut.tp);
  list.add_norm("attention_norm", dims.hidden);
  if (!dims.parallel_block || dims.parallel_norms) list.add_norm("mlp_norm", dims.hidden);
  return list.take();
}

std::vector<Tensor> routed_tensors(const TransformerDims& dims, const LayerCut& cut) {
  const std::int64_t local = dims.experts->count / cut.ep;
  const std::int64_t width = dims.experts->ffn_hidden / cut.etp;
  const std::int64_t elements = model_product(local, model_product(dims.hidden, width));
  std::vector<Tensor> tensors;
  const auto add = [&](const char* name, std::int64_t bias) {
    tensors.push_back({std::string("experts.") + name, elements, std::nullopt});
    if (dims.biases)
      tensors.push_back({std::string("experts.") + name + ".bias", model_product(local, bias), std::nullopt});
  };
  if (dims.gated_mlp) add("gate", width);
  add("up", width);
  add("down", dims.hidden);
  return tensors;
}

}  // namespace busbar
