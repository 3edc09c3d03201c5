#include "workloads/memory.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sim/base/error.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

constexpr const char* kSize = "the memory of the model's states";

/// AdamW keeps two moments, and an fp32 master copy of parameters that are not fp32 themselves; plain SGD
/// keeps nothing.
std::int64_t state_bytes_per_parameter(const PrecisionSpec& precision, const OptimizerSpec& optimizer) {
  if (optimizer.kind != "adamw") return 0;
  const std::int64_t master = precision.parameters == DataType::kFp32 ? 0 : size_of(DataType::kFp32);
  return master + 2 * size_of(optimizer.state);
}

Bytes share(std::int64_t bytes, std::int64_t ranks, bool sharded) {
  if (!sharded) return Bytes(bytes);
  return Bytes(bytes / ranks + (bytes % ranks != 0 ? 1 : 0));
}

}  // namespace

MemoryUse model_states(std::int64_t parameters, std::int64_t ranks, Sharding sharding,
                       const PrecisionSpec& precision, const OptimizerSpec& optimizer) {
  BUSBAR_CHECK(parameters >= 0 && ranks >= 1);
  const auto total = [&](std::int64_t bytes_each) { return checked_mul(parameters, bytes_each, kSize); };
  const bool shards_gradients = shards_parameters(sharding) || sharding == Sharding::kZero2;
  MemoryUse use;
  use.parameters = share(total(size_of(precision.parameters)), ranks, shards_parameters(sharding));
  use.gradients = share(total(size_of(precision.gradients)), ranks, shards_gradients);
  use.optimizer = share(total(state_bytes_per_parameter(precision, optimizer)), ranks, shards(sharding));
  // The parts fit one by one; their sum must too.
  static_cast<void>(total(size_of(precision.parameters) + size_of(precision.gradients) +
                          state_bytes_per_parameter(precision, optimizer)));
  return use;
}

namespace {

constexpr const char* kActivations = "the memory of activations";

std::int64_t times(std::int64_t a, std::int64_t b) { return checked_mul(a, b, kActivations); }
std::int64_t plus(std::int64_t a, std::int64_t b) { return checked_add(a, b, kActivations); }

std::int64_t element_bytes(const Workload& w) {
  return w.precision.compute == DataType::kFp8 ? 2 : size_of(w.precision.compute);
}

std::int64_t tokens_per_rank(const Workload& w) {
  return times(w.batch.micro, w.batch.sequence) / w.parallel.cp;
}

// Inner tensors of attention, per token: q, k and v, the output for its projection; latent attention keeps
// the compressed ones too.
std::int64_t attention_width(const TransformerDims& d) {
  if (!d.latent) return 2 * times(d.heads, d.head_dim) + 2 * times(d.kv_heads, d.head_dim);
  const LatentAttention& l = *d.latent;
  const std::int64_t query = times(d.heads, l.qk_nope_head_dim + l.qk_rope_head_dim);
  return 2 * query + 2 * times(d.heads, l.v_head_dim) + l.q_lora_rank + l.kv_lora_rank + l.qk_rope_head_dim;
}

// Inner tensors of the MLP, per token: gated: gate, up and their product; else before and after the
// nonlinearity. Experts: their inputs too, top_k times over the ranks of the group.
std::int64_t mlp_width(const Workload& w, std::int64_t block) {
  const TransformerDims& d = *w.model.transformer;
  const std::int64_t inner = d.gated_mlp ? w.framework->memory.gated_tensors : 2;
  if (!d.has_experts(block)) return inner * d.ffn_hidden;
  const Experts& e = *d.experts;
  const std::int64_t shared = e.shared * (e.shared_ffn_hidden > 0 ? e.shared_ffn_hidden : e.ffn_hidden);
  return times(e.top_k, plus(d.hidden, inner * e.ffn_hidden)) + inner * shared;
}

Recompute recompute_of(const Workload& w, std::int64_t block) {
  const std::int64_t every = w.framework->selective_every;
  if (w.recompute != Recompute::kSelective || every == 0) return w.recompute;
  return block % every == 0 ? Recompute::kFull : Recompute::kNone;
}

// Softmax's output, the dropped scores and dropout's mask, which recomputation of the core does without.
// Source: Korthikanti et al., 2022, section 4.1: 5 a s^2 b bytes.
std::int64_t kept_scores(const Workload& w, Recompute recompute) {
  if (w.attention == AttentionKernels::kFused || recompute != Recompute::kNone) return 0;
  const std::int64_t all = times(times(tokens_per_rank(w), w.batch.sequence), w.model.transformer->heads);
  return times(all, 2 * element_bytes(w) + 1) / w.parallel.tp;
}

}  // namespace

// Outside the tensor-parallel region, per token: the two norms' inputs (2 h), what the projections and the
// MLP read (2 h); under sequence parallelism a share of them.
Bytes block_activation_bytes(const Workload& w, std::int64_t block) {
  if (!w.model.transformer) return Bytes();
  const TransformerDims& d = *w.model.transformer;
  const std::int64_t outer_cut = w.parallel.sequence_parallel ? w.parallel.tp : 1;
  const std::int64_t unit = times(tokens_per_rank(w), element_bytes(w));
  const Recompute recompute = recompute_of(w, block);
  if (recompute == Recompute::kFull) return Bytes(times(unit, d.hidden) / outer_cut);
  const std::int64_t inner = plus(attention_width(d), mlp_width(w, block));
  const std::int64_t kept = plus(times(unit, 4 * d.hidden) / outer_cut, times(unit, inner) / w.parallel.tp);
  return Bytes(plus(kept, kept_scores(w, recompute)));
}

Bytes logit_bytes(const Workload& w) {
  if (!w.model.transformer) return Bytes();
  const std::int64_t own = w.framework->memory.logit_bytes;
  const std::int64_t each = own > 0 ? own : 2 * element_bytes(w) + 4;
  return Bytes(times(times(tokens_per_rank(w), w.model.transformer->vocab), each) / w.parallel.tp);
}

namespace {

Bytes part_of(std::int64_t bytes, double part) {
  return Bytes(static_cast<std::int64_t>(std::llround(static_cast<double>(bytes) * part)));
}

// Elements of a tied head's table on a stage that has the head without the embedding: a copy, as both need
// it. Source: Megatron-Core, models/common/language_module (setup_embeddings_and_output_layer).
std::int64_t second_table(const std::vector<Layer>& layers, const Workload& w) {
  const auto has = [&](std::string_view name) {
    return std::any_of(layers.begin(), layers.end(), [&](const Layer& l) { return l.name == name; });
  };
  if (!w.model.transformer || !w.model.transformer->tied_embeddings || !has("head") || has("embedding"))
    return 0;
  return times(padded_vocab(*w.model.transformer, w.parallel.tp) / w.parallel.tp,
               w.model.transformer->hidden);
}

// Parameters that are gathered tensor by tensor stand twice more, as the list that they are gathered into and
// as what the collective fills, and the rank's own part a third time (PyTorch's _flatten_dense_tensors and
// ProcessGroupNCCL::allgather). Activations have gone by then; the allocator gives part of their memory to
// it.
Bytes gathered_copies(const MemoryUse& use, const Workload& w, std::int64_t ranks) {
  if (!cuts_tensors(w) || ranks < 2) return Bytes();
  const std::int64_t copy = plus(times(2, use.parameters.count()), use.parameters.count() / ranks);
  const std::int64_t held = plus(use.activations.count(), use.buffers.count());
  const Bytes both = part_of(std::min(copy, held), w.framework->memory.unshared);
  return both + Bytes(std::max<std::int64_t>(copy - held, 0));
}

}  // namespace

MemoryUse stage_memory(const std::vector<Layer>& layers, const Workload& w, std::int64_t stage) {
  const Layout layout(w.parallel);
  MemoryUse use;
  const auto add_states = [&](const auto& by_type, std::int64_t ranks) {
    for (const auto& [type, elements] : by_type) {
      PrecisionSpec precision = w.precision;
      if (type) precision.parameters = precision.gradients = *type;
      const MemoryUse states = model_states(elements, ranks, w.parallel.sharding, precision, w.optimizer);
      use.parameters = Bytes(plus(use.parameters.count(), states.parameters.count()));
      use.gradients = Bytes(plus(use.gradients.count(), states.gradients.count()));
      use.optimizer = Bytes(plus(use.optimizer.count(), states.optimizer.count()));
    }
  };
  StageParameters parameters = parameters_on(layers);
  if (const std::int64_t table = second_table(layers, w); table > 0) {
    std::int64_t& sum = parameters.common[std::nullopt];
    sum = plus(sum, table);
  }
  add_states(parameters.common, layout.size("shard"));
  add_states(parameters.experts, layout.size("edp"));
  const std::int64_t chunks_in_flight = in_flight(w.parallel, stage, microbatches_of(w));
  Workload whole = w;
  whole.recompute = Recompute::kNone;
  std::int64_t all = 0, largest = 0, logits = 0, all_whole = 0;
  for (const Layer& layer : layers) {
    if (layer.name == "head") logits = logit_bytes(w).count();
    if (!layer.is_block || !w.model.transformer) continue;
    const std::int64_t block = std::stoll(layer.name.substr(5));  // "block3"
    all = plus(all, block_activation_bytes(w, block).count());
    if (recompute_of(w, block) != Recompute::kFull) {
      all_whole = plus(all_whole, block_activation_bytes(w, block).count());
      continue;
    }
    const std::int64_t kept = block_activation_bytes(whole, block).count();
    largest = std::max(largest, kept);
    all_whole = plus(all_whole, kept);
  }
  // A chunk holds its part of the stage's blocks; a block that is computed again has all its tensors for a
  // moment.
  const std::int64_t held = times(all, chunks_in_flight) / w.parallel.virtual_stages;
  use.activations = Bytes(plus(plus(held, largest), logits));
  if (w.recompute == Recompute::kFull)
    use.activations_without_recompute =
        Bytes(plus(times(all_whole, chunks_in_flight) / w.parallel.virtual_stages, logits));
  use.buffers = part_of(plus(held, largest), w.framework->memory.allocator);
  use.buffers += gathered_copies(use, w, layout.size("shard"));
  static_cast<void>(plus(plus(use.parameters.count(), use.gradients.count()),
                         plus(use.optimizer.count(), use.activations.count())));
  return use;
}

}  // namespace busbar
