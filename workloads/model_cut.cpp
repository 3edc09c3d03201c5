// The rules by which a model can be cut, and messages for those that a cut breaks.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "workloads/model_spec.h"

namespace busbar {

namespace {

using Problem = std::optional<std::string>;

/// Divisors of `size` next to `parts`, at most four times as large: "2 or 8".
std::string nearest_divisors(std::int64_t size, std::int64_t parts) {
  std::int64_t below = std::min(parts, size);
  while (size % below != 0) --below;
  std::int64_t above = parts;
  const std::int64_t limit = std::min(size, checked_mul(4, parts, "a degree of parallelism"));
  while (above <= limit && size % above != 0) ++above;
  return above <= limit ? fmt::format("{} or {}", below, above) : std::to_string(below);
}

/// `what` = size must be a multiple of the degree called `degree`.
Problem divides(std::string_view what, std::int64_t size, std::string_view degree, std::int64_t parts) {
  if (size % parts == 0) return std::nullopt;
  return fmt::format("{} = {} must be a multiple of {} = {}; the nearest {} are {}", what, size, degree,
                     parts, degree, nearest_divisors(size, parts));
}

Problem sequence_divides(std::int64_t sequence, std::string_view why, std::int64_t multiple) {
  const std::int64_t rest = sequence % multiple;
  if (rest == 0) return std::nullopt;
  const std::int64_t below = sequence - rest;
  const std::int64_t above = checked_add(below, multiple, "the sequence");
  const std::string nearest = below == 0 ? std::to_string(above) : fmt::format("{} or {}", below, above);
  return fmt::format("the sequence of {} tokens must be a multiple of {} = {}; the nearest: {}", sequence,
                     why, multiple, nearest);
}

/// Key heads are shared evenly, or each by an even share of the ranks.
/// Source: Megatron-Core, transformer/transformer_config.py and attention.py (num_query_groups).
Problem key_heads_problem(const TransformerDims& dims, std::int64_t tp) {
  if (dims.latent || dims.kv_heads % tp == 0 || tp % dims.kv_heads == 0) return std::nullopt;
  return fmt::format("kv_heads = {} must be a multiple of tp = {}, or tp of it; the nearest tp are {}",
                     dims.kv_heads, tp, nearest_divisors(dims.kv_heads, tp));
}

bool has_dense_blocks(const TransformerDims& dims) {
  for (std::int64_t layer = 0; layer < dims.layers; ++layer)
    if (!dims.has_experts(layer)) return true;
  return false;
}

Problem tensor_problem(const TransformerDims& dims, std::int64_t tp) {
  if (Problem heads = divides("heads", dims.heads, "tp", tp)) return heads;
  if (Problem heads = key_heads_problem(dims, tp)) return heads;
  if (!has_dense_blocks(dims)) return std::nullopt;
  return divides("ffn_hidden", dims.ffn_hidden, "tp", tp);
}

/// Source: Megatron-Core, transformer/transformer_config.py; models/gpt, seq_length % tensor parallel size.
Problem sequence_problem(std::int64_t sequence, const LayerCut& cut) {
  if (!cut.sequence_parallel) return std::nullopt;
  const std::int64_t multiple = checked_mul(cut.tp, cut.cp, "tp x cp");
  return sequence_divides(
      sequence, cut.cp == 1 ? "tp (sequence parallelism)" : "tp x cp (sequence parallelism)", multiple);
}

/// Every rank has two pieces of a causal sequence, one from either end, so that all compute the same.
/// Source: Transformer Engine, pytorch/attention, context parallelism ("load-balanced").
Problem sequence_pieces_problem(const TransformerDims& dims, std::int64_t sequence, std::int64_t cp) {
  if (!dims.causal) return sequence_divides(sequence, "cp", cp);
  return sequence_divides(sequence, "2 x cp (two pieces a rank)", checked_mul(2, cp, "2 x cp"));
}

/// Source: Jacobs et al., DeepSpeed Ulysses, 2023, section 3: each rank has whole heads.
Problem ulysses_problem(const TransformerDims& dims, std::int64_t sequence, const LayerCut& cut) {
  if (Problem tokens = sequence_divides(sequence, "cp", cut.cp)) return tokens;
  const std::int64_t ranks = checked_mul(cut.tp, cut.cp, "tp x cp");
  if (Problem heads = divides("heads", dims.heads, "tp x cp (Ulysses)", ranks)) return heads;
  if (dims.latent) return std::nullopt;
  return divides("kv_heads", dims.kv_heads, "tp x cp (Ulysses)", ranks);
}

Problem context_problem(const TransformerDims& dims, std::int64_t sequence, const LayerCut& cut) {
  if (cut.cp == 1) return std::nullopt;
  switch (cut.context) {
    case ContextMethod::kRing:
    case ContextMethod::kAllGather:
      return sequence_pieces_problem(dims, sequence, cut.cp);
    case ContextMethod::kUlysses:
      return ulysses_problem(dims, sequence, cut);
  }
  return std::nullopt;
}

Problem experts_problem(const TransformerDims& dims, const LayerCut& cut) {
  if (!dims.experts) {
    if (cut.ep == 1) return std::nullopt;
    return fmt::format("ep = {} needs a model with experts; this one has none, which leaves ep = 1", cut.ep);
  }
  const Experts& experts = *dims.experts;
  if (Problem count = divides("experts", experts.count, "ep", cut.ep)) return count;
  if (Problem degree = divides("tp", cut.tp, "etp", cut.etp)) return degree;
  if (Problem width = divides("expert_ffn_hidden", experts.ffn_hidden, "etp", cut.etp)) return width;
  if (experts.shared == 0) return std::nullopt;
  return divides("the shared experts' width", experts.shared_width(), "tp", cut.tp);
}

Problem positions_problem(const TransformerDims& dims, std::int64_t sequence) {
  if (dims.positions == 0 || sequence <= dims.positions) return std::nullopt;
  return fmt::format("the sequence of {} tokens must be at most positions = {}, the learned position table",
                     sequence, dims.positions);
}

Problem list_problem(const LayerCut& cut) {
  if (cut.tp == 1 && cut.cp == 1 && cut.ep == 1 && cut.recompute == Recompute::kNone) return std::nullopt;
  return "a model given as a list of parameters cannot be cut by tp, cp or ep, nor recomputed: give its "
         "dimensions";
}

}  // namespace

std::optional<std::string> cut_problem(const ModelSpec& model, const LayerBatch& batch, const LayerCut& cut) {
  BUSBAR_CHECK(cut.tp >= 1 && cut.cp >= 1 && cut.ep >= 1 && cut.etp >= 1);
  if (!model.transformer) return list_problem(cut);
  const TransformerDims& dims = *model.transformer;
  if (Problem problem = tensor_problem(dims, cut.tp)) return problem;
  if (Problem problem = context_problem(dims, batch.sequence, cut)) return problem;
  if (Problem problem = sequence_problem(batch.sequence, cut)) return problem;
  if (Problem problem = experts_problem(dims, cut)) return problem;
  return positions_problem(dims, batch.sequence);
}

}  // namespace busbar
