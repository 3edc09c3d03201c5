#include "workloads/transformer.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "workloads/attention.h"
#include "workloads/experts.h"
#include "workloads/layer_parts.h"
#include "workloads/model_tensors.h"

namespace busbar {

namespace {

/// Steps that run a forward again, under names of their own.
std::vector<LayerStep> recomputed(std::vector<LayerStep> steps) {
  const auto rename = [](std::string& name) { name = "recompute." + name; };
  for (LayerStep& step : steps) {
    if (!step.communication) {
      rename(step.kernel.name);
      continue;
    }
    rename(step.communication->name);
    if (!step.communication->needed_by.empty()) rename(step.communication->needed_by);
  }
  return steps;
}

void put_first(std::vector<LayerStep>& steps, const std::vector<LayerStep>& first) {
  steps.insert(steps.begin(), first.begin(), first.end());
}

ColumnRegion mlp_region(const RankView& view, std::string_view gradient_needed_by) {
  const std::int64_t h = view.dims.hidden;
  const std::int64_t f = view.dims.ffn_hidden / view.cut.tp;
  ColumnRegion region{.name = "mlp", .width = h, .linears = {}, .gradient_needed_by = gradient_needed_by};
  if (view.dims.gated_mlp) region.linears.push_back({"gate", h, f});
  region.linears.push_back({"up", h, f});
  return region;
}

Linear down_linear(const RankView& view) {
  return {"down", view.dims.ffn_hidden / view.cut.tp, view.dims.hidden};
}

/// Selective recomputation runs the core again from the queries, keys and values that were kept.
/// Source: Korthikanti et al., 2022, section 5.
Passes core_with_recompute(const RankView& view) {
  Passes core = attention_core(view);
  if (view.cut.recompute != Recompute::kSelective) return core;
  std::vector<LayerStep> kernels;
  for (const LayerStep& step : core.forward)
    if (!step.communication) kernels.push_back(step);
  put_first(core.backward, recomputed(kernels));
  return core;
}

Passes serial_block(const RankView& view, BlockKind kind) {
  const Passes attention = in_sequence({attention_inputs(view), core_with_recompute(view),
                                        row_parallel(view, "attention", {out_linear(view)})});
  if (kind == BlockKind::kExperts) return in_sequence({attention, expert_mlp(view)});
  return in_sequence({attention, column_parallel(view, mlp_region(view, "out.dgrad")),
                      row_parallel(view, "mlp", {down_linear(view)})});
}

/// Attention and MLP read one input and add to one sum: one region, one exchange at either end.
/// Source: Wang and Komatsuzaki, GPT-J-6B, 2021; Chowdhery et al., PaLM, 2022, section 2.
Passes parallel_block(const RankView& view) {
  ColumnRegion region = mlp_region(view, kLayerEnd);
  region.name = "block";
  region.linears.insert(region.linears.begin(), qkv_linear(view));
  return in_sequence({column_parallel(view, region), core_with_recompute(view),
                      row_parallel(view, "block", {out_linear(view), down_linear(view)})});
}

/// Elements a token: a norm reads and writes h; a residual sum reads both and writes (a parallel block's
/// reads three); latents have norms too.
std::int64_t sharded_elementwise(const RankView& view) {
  const TransformerDims& dims = view.dims;
  const std::int64_t rows = dims.parallel_block ? (dims.parallel_norms ? 8 : 6) : 10;
  const std::int64_t block = model_product(rows, dims.hidden);
  if (!dims.latent) return block;
  return model_sum(block, model_product(2, model_sum(dims.latent->q_lora_rank, dims.latent->kv_lora_rank)));
}

/// Elements a token: rotary embedding reads and writes queries and keys, and so do their norms.
std::int64_t attention_elementwise(const RankView& view) {
  const std::int64_t rotary = model_product(2, rotary_width(view));
  if (!view.dims.qk_norms) return rotary;
  const std::int64_t heads = model_sum(view.heads(), view.kv_heads());
  return model_sum(rotary, model_product(2, model_product(heads, view.key_dim())));
}

/// Forward traffic of a block outside matmuls and attention, each tensor read and written once:
///   2 norms            2 x 2 t h      (read x, write y)
///   2 residual sums    2 x 3 t h      (read both, write the sum)
///   rotary embedding   2 t (q + k)    (read and write both; q, k = widths of all query and key heads)
///   activation         3 t f gated (read gate and up, write), 2 t f otherwise
/// With as many key as query heads and a gated MLP: e s b (14 h + 3 f) bytes. The first two run on a shard of
/// the tokens under sequence parallelism, the others on a shard of the widths.
std::int64_t elementwise_bytes(const RankView& view, BlockKind kind) {
  const std::int64_t outside = view.activation_bytes(view.sharded_tokens(), sharded_elementwise(view));
  const std::int64_t attention = view.activation_bytes(view.tokens(), attention_elementwise(view));
  const std::int64_t width = model_product(view.dims.gated_mlp ? 3 : 2, view.dims.ffn_hidden / view.cut.tp);
  const std::int64_t mlp = kind == BlockKind::kExperts ? expert_elementwise_bytes(view)
                                                       : view.activation_bytes(view.tokens(), width);
  return model_sum(model_sum(outside, attention), mlp);
}

Layer block_layer(const RankView& view, BlockKind kind) {
  Passes passes = view.dims.parallel_block ? parallel_block(view) : serial_block(view, kind);
  const std::int64_t bytes = elementwise_bytes(view, kind);
  passes.forward.push_back(memory_bound(view, "elementwise", bytes));
  put_first(passes.backward, {memory_bound(view, "elementwise", model_product(2, bytes))});
  if (view.cut.recompute == Recompute::kFull) put_first(passes.backward, recomputed(passes.forward));
  Layer layer{.name = "block",
              .is_block = true,
              .tensors = block_tensors(view.dims, view.cut, kind),
              .expert_tensors = {},
              .forward = std::move(passes.forward),
              .backward = std::move(passes.backward)};
  if (kind == BlockKind::kExperts) layer.expert_tensors = routed_tensors(view.dims, view.cut);
  return layer;
}

/// Forward reads and writes a row per token, and adds the position's. Backward reads the gradient, reads and
/// writes a row of the table's gradient, which is first filled with zeros.
/// Under tp each rank looks its share of the vocabulary up for all tokens; the sum has every row.
/// Source: Megatron-Core, tensor_parallel/layers.py, VocabParallelEmbedding.
Layer embedding_layer(const RankView& view) {
  const std::int64_t rows = view.activation_bytes(view.tokens(), view.dims.hidden);
  const std::int64_t table = view.activation_bytes(view.vocab(), view.dims.hidden);
  const std::int64_t positions =
      view.dims.positions > 0 ? view.activation_bytes(view.sharded_tokens(), view.dims.hidden) : 0;
  Layer layer{.name = "embedding",
              .is_block = false,
              .tensors = embedding_tensors(view.dims, view.cut),
              .expert_tensors = {},
              .forward = {memory_bound(view, "lookup",
                                       model_sum(model_product(2, rows), model_product(3, positions)))},
              .backward = {memory_bound(view, "lookup",
                                        model_sum(model_sum(model_product(3, rows), table), positions))}};
  const bool sharded = view.sequence_parallel();
  if (view.cut.tp > 1)
    layer.forward.push_back(
        exchange(view, sharded ? LayerExchange::kTensorScatter : LayerExchange::kTensorAllReduce,
                 "embedding.reduce", rows));
  if (sharded)
    put_first(layer.backward, {exchange(view, LayerExchange::kTensorGather, "embedding.grad_gather", rows)});
  return layer;
}

/// A number per token in fp32, three times: the largest logit, the target's, the sum of exponentials.
/// Source: Megatron-Core, tensor_parallel/cross_entropy.py, _VocabParallelCrossEntropy.
std::vector<LayerStep> loss_exchanges(const RankView& view) {
  std::vector<LayerStep> steps;
  if (view.cut.tp == 1) return steps;
  const std::int64_t bytes = model_product(view.tokens(), size_of(DataType::kFp32));
  for (const char* name : {"loss.max", "loss.target", "loss.sum"}) {
    steps.push_back(exchange(view, LayerExchange::kTensorAllReduce, name, bytes));
    steps.back().communication->type = DataType::kFp32;
  }
  return steps;
}

/// The final norm (2 t h, backward twice that), the product with the vocabulary, and the loss: forward reads
/// the logits and writes their softmax in fp32, backward reads that and writes the logits' gradient.
Layer head_layer(const RankView& view) {
  const std::int64_t norm = model_product(2, view.activation_bytes(view.sharded_tokens(), view.dims.hidden));
  const std::int64_t logits = model_product(view.tokens(), view.vocab());
  const std::int64_t loss = model_product(logits, size_of(view.activation_type()) + size_of(DataType::kFp32));
  const Passes product = column_parallel(
      view,
      {.name = "head", .width = view.dims.hidden, .linears = {{"lm_head", view.dims.hidden, view.vocab()}}});
  Passes end{.forward = loss_exchanges(view),
             .backward = {memory_bound(view, "norm_loss", model_sum(model_product(2, norm), loss))}};
  end.forward.push_back(memory_bound(view, "norm_loss", model_sum(norm, loss)));
  Passes passes = in_sequence({product, end});
  return {.name = "head",
          .is_block = false,
          .tensors = head_tensors(view.dims, view.cut),
          .expert_tensors = {},
          .forward = std::move(passes.forward),
          .backward = std::move(passes.backward)};
}

Layer numbered(Layer block, std::int64_t number) {
  block.name = fmt::format("block{}", number);
  for (Tensor& tensor : block.tensors) tensor.name = fmt::format("{}.{}", block.name, tensor.name);
  for (Tensor& tensor : block.expert_tensors) tensor.name = fmt::format("{}.{}", block.name, tensor.name);
  return block;
}

double flops_of(const Layer& layer) {
  double flops = 0;
  for (const LayerStep& step : layer.forward) flops += step.kernel.work.flops;
  return flops;
}

/// The dense block and the one with experts, where the model has them.
std::array<std::optional<Layer>, 2> block_kinds(const RankView& view) {
  std::array<std::optional<Layer>, 2> kinds;
  for (std::int64_t i = 0; i < view.dims.layers; ++i) {
    const bool experts = view.dims.has_experts(i);
    std::optional<Layer>& kind = kinds[experts ? 1 : 0];
    if (!kind) kind = block_layer(view, experts ? BlockKind::kExperts : BlockKind::kDense);
  }
  return kinds;
}

}  // namespace

std::vector<Layer> transformer_layers(const TransformerDims& dims, const LayerBatch& batch,
                                      const LayerCut& cut) {
  const RankView view{dims, batch, cut};
  const auto kinds = block_kinds(view);
  std::vector<Layer> layers = {embedding_layer(view)};
  for (std::int64_t i = 0; i < dims.layers; ++i)
    layers.push_back(numbered(*kinds[dims.has_experts(i) ? 1 : 0], i));
  layers.push_back(head_layer(view));
  return layers;
}

double transformer_forward_flops(const TransformerDims& dims, std::int64_t sequence) {
  const LayerBatch batch{.micro = 1, .sequence = sequence, .compute = DataType::kBf16};
  const LayerCut whole;
  const RankView view{dims, batch, whole};
  const auto kinds = block_kinds(view);
  double flops = flops_of(head_layer(view));
  for (std::int64_t i = 0; i < dims.layers; ++i) flops += flops_of(*kinds[dims.has_experts(i) ? 1 : 0]);
  return flops;
}

}  // namespace busbar
