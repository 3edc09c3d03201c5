#include "workloads/attention.h"

namespace busbar {

namespace {

constexpr std::string_view kAfterForward = "out";

/// The first backward kernel behind the core: its inputs' gradients.
std::string_view after_backward(const RankView& view) {
  return view.dims.latent ? "kv_b.dgrad" : view.dims.parallel_block ? "up.dgrad" : "qkv.dgrad";
}

/// Latent attention makes a key and a value for every head.
std::int64_t kept_heads(const RankView& view) { return view.dims.latent ? view.heads() : view.kv_heads(); }

std::int64_t key_value_width(const RankView& view) {
  return model_product(kept_heads(view), model_sum(view.key_dim(), view.value_dim()));
}

/// Ring and gathered keys: this rank's queries against all keys; causal shares are even because every rank
/// holds an early and a late piece of the sequence (zigzag). Ulysses: all queries of fewer heads.
AttentionShape core_shape(const RankView& view) {
  AttentionShape shape{.batch = view.batch.micro,
                       .sequence = view.batch.sequence,
                       .heads = view.heads(),
                       .kv_heads = kept_heads(view),
                       .head_dim = view.key_dim(),
                       .causal = view.dims.causal,
                       .backward = false,
                       .keys = 0,
                       .value_dim = view.dims.latent ? view.value_dim() : 0,
                       .window = view.dims.window};
  if (view.cut.attention == AttentionKernels::kUnfused) shape.causal = false, shape.window = 0;
  if (view.cut.cp == 1) return shape;
  if (view.cut.context == ContextMethod::kUlysses) {
    shape.heads /= view.cut.cp;
    shape.kv_heads /= view.cut.cp;
  } else {
    shape.keys = shape.sequence;
    shape.sequence /= view.cut.cp;
  }
  return shape;
}

LayerStep core_kernel(const RankView& view, bool backward) {
  KernelWork work;
  work.type = view.activation_type();
  work.attention = core_shape(view);
  work.attention->backward = backward;
  work.attention->scores_kept = backward && view.cut.attention == AttentionKernels::kUnfused;
  resolve_shape(work);
  return {.kernel = {"attention", work}, .communication = std::nullopt};
}

/// Scores between unfused kernels, all sequence^2 of them, in passes of one element each, and dropout's mask,
/// a byte. Forward: product written; softmax (mask and scale fused) read, written; dropout read, written;
/// read. Backward: dropped scores read; gradient written; dropout read, written; softmax read twice,
/// written; read twice.
/// Source: Korthikanti et al., 2022, section 4.1 (the tensors); Megatron-LM, fused_softmax.
LayerStep score_passes(const RankView& view, bool backward) {
  const AttentionShape shape = core_shape(view);
  const std::int64_t keys = shape.keys > 0 ? shape.keys : shape.sequence;
  const std::int64_t scores =
      model_product(model_product(shape.batch, shape.heads), model_product(shape.sequence, keys));
  const std::int64_t element = size_of(view.activation_type());
  return memory_bound(view, "scores", model_product(scores, (backward ? 9 : 6) * element + 1));
}

/// Keys and values pass round while blocks of scores are computed; backward their gradients go with them.
/// Source: Liu et al., Ring Attention with Blockwise Transformers, 2023, section 3.
Passes ring(const RankView& view) {
  const std::int64_t bytes = view.activation_bytes(view.tokens(), key_value_width(view));
  const auto pass = [&](const char* name, std::int64_t size, std::string_view needed_by) {
    return exchange_until(exchange(view, LayerExchange::kContextRing, name, size), needed_by);
  };
  return {.forward = {pass("context.ring", bytes, kAfterForward)},
          .backward = {pass("context.grad_ring", model_product(2, bytes), after_backward(view))}};
}

/// Keys and values are gathered before the core and kept; backward their gradients are summed into shards.
/// Source: Grattafiori et al., The Llama 3 Herd of Models, 2024, section 3.3.2.
Passes gathered(const RankView& view) {
  const std::int64_t all = model_product(view.tokens(), view.cut.cp);
  const std::int64_t bytes = view.activation_bytes(all, key_value_width(view));
  return {.forward = {exchange(view, LayerExchange::kContextGather, "context.gather", bytes)},
          .backward = {exchange(view, LayerExchange::kContextScatter, "context.grad_scatter", bytes)}};
}

/// All-to-all of `width` elements a token, and of their gradient backward.
/// Source: Jacobs et al., DeepSpeed Ulysses, 2023, section 3.
Passes swapped(const RankView& view, const std::string& name, std::int64_t width) {
  const std::int64_t bytes = view.activation_bytes(view.tokens(), width);
  return {.forward = {exchange(view, LayerExchange::kContextAllToAll, name, bytes)},
          .backward = {exchange(view, LayerExchange::kContextAllToAll, name + ".grad", bytes)}};
}

Passes ulysses(const RankView& view, const Passes& core) {
  const std::int64_t queries = model_product(view.heads(), view.key_dim());
  return in_sequence({swapped(view, "context.qkv", model_sum(queries, key_value_width(view))), core,
                      swapped(view, "context.out", model_product(view.heads(), view.value_dim()))});
}

/// The ring runs beside the core in both directions.
Passes beside_ring(const RankView& view, const Passes& core) {
  Passes passes = ring(view);
  passes.forward.insert(passes.forward.end(), core.forward.begin(), core.forward.end());
  passes.backward.insert(passes.backward.end(), core.backward.begin(), core.backward.end());
  return passes;
}

Passes latent_inputs(const RankView& view) {
  const LatentAttention& latent = *view.dims.latent;
  const std::int64_t h = view.dims.hidden;
  const std::int64_t tokens = view.sharded_tokens();
  const std::int64_t queries = model_product(view.heads(), view.key_dim());
  const std::int64_t kept = model_sum(latent.kv_lora_rank, latent.qk_rope_head_dim);
  const std::int64_t made =
      model_product(view.heads(), model_sum(latent.qk_nope_head_dim, latent.v_head_dim));
  std::vector<Passes> parts;
  if (latent.q_lora_rank == 0) {
    parts.push_back(column_parallel(view, {.name = "attention", .width = h, .linears = {{"q", h, queries}}}));
  } else {
    parts.push_back(whole_linear(view, {"q_a", h, latent.q_lora_rank}, tokens));
    parts.push_back(column_parallel(view, {.name = "q_latent",
                                           .width = latent.q_lora_rank,
                                           .linears = {{"q_b", latent.q_lora_rank, queries}},
                                           .gradient_needed_by = "q_a.dgrad"}));
  }
  parts.push_back(whole_linear(view, {"kv_a", h, kept}, tokens));
  parts.push_back(column_parallel(view, {.name = "kv_latent",
                                         .width = kept,
                                         .linears = {{"kv_b", latent.kv_lora_rank, made}},
                                         .gradient_needed_by = "kv_a.dgrad"}));
  return in_sequence(parts);
}

}  // namespace

Linear qkv_linear(const RankView& view) {
  const std::int64_t heads = model_sum(view.heads(), model_product(2, view.kv_heads()));
  return {"qkv", view.dims.hidden, model_product(heads, view.dims.head_dim)};
}

Linear out_linear(const RankView& view) {
  return {"out", model_product(view.heads(), view.value_dim()), view.dims.hidden};
}

Passes attention_inputs(const RankView& view) {
  if (view.dims.latent) return latent_inputs(view);
  return column_parallel(view,
                         {.name = "attention", .width = view.dims.hidden, .linears = {qkv_linear(view)}});
}

Passes attention_core(const RankView& view) {
  Passes core{.forward = {core_kernel(view, false)}, .backward = {core_kernel(view, true)}};
  if (view.cut.attention == AttentionKernels::kUnfused) {
    core.forward.push_back(score_passes(view, false));
    core.backward.push_back(score_passes(view, true));
  }
  if (view.cut.cp == 1) return core;
  switch (view.cut.context) {
    case ContextMethod::kRing:
      return beside_ring(view, core);
    case ContextMethod::kAllGather:
      return in_sequence({gathered(view), core});
    case ContextMethod::kUlysses:
      return ulysses(view, core);
  }
  return core;
}

std::int64_t rotary_width(const RankView& view) {
  if (view.dims.positions > 0) return 0;
  if (!view.dims.latent) return model_product(model_sum(view.heads(), view.kv_heads()), view.dims.head_dim);
  return model_product(view.heads() + 1, view.dims.latent->qk_rope_head_dim);
}

}  // namespace busbar
