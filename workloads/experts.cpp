#include "workloads/experts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/error.h"

namespace busbar {

namespace {

const Experts& experts_of(const RankView& view) { return *view.dims.experts; }

/// tokens x top_k, x the capacity factor (rounded up).
std::int64_t sent_rows(const RankView& view) {
  const std::int64_t rows = model_product(view.sharded_tokens(), experts_of(view).top_k);
  if (!view.cut.capacity_factor) return rows;
  const double padded = std::ceil(static_cast<double>(rows) * *view.cut.capacity_factor);
  if (padded >= 0x1p62) throw Error({.message = "the capacity factor makes more than 2^62 rows"});
  return static_cast<std::int64_t>(padded);
}

/// Ranks that share an expert's matrices hold different rows under sequence parallelism; each needs all.
bool gathers_rows(const RankView& view) { return view.sequence_parallel() && view.cut.etp > 1; }

std::int64_t computed_rows(const RankView& view) {
  return gathers_rows(view) ? model_product(sent_rows(view), view.cut.etp) : sent_rows(view);
}

std::int64_t expert_width(const RankView& view) { return experts_of(view).ffn_hidden / view.cut.etp; }
std::int64_t shared_width(const RankView& view) { return experts_of(view).shared_width() / view.cut.tp; }

std::int64_t rows_bytes(const RankView& view, std::int64_t rows) {
  return view.activation_bytes(rows, view.dims.hidden);
}

/// A product for each of this rank's experts, one after the other as Transformer Engine's GroupedLinear runs
/// them: each has an even part of the rows, rounded up. Experts without a row are not read.
LayerStep grouped_matmul(const RankView& view, std::string name, MatmulShape shape) {
  KernelWork work;
  work.type = view.batch.compute;
  work.matmul = shape;
  resolve_shape(work);
  return {.kernel = {std::move(name), work}, .communication = std::nullopt};
}

Passes grouped_linear(const RankView& view, const Linear& linear) {
  const std::int64_t rows = computed_rows(view);
  const std::int64_t count = std::min(rows, experts_of(view).count / view.cut.ep);
  const std::int64_t m = (rows + count - 1) / count;
  const auto [in, out] = std::pair{linear.in, linear.out};
  return {.forward = {grouped_matmul(view, linear.name, {m, out, in, count})},
          .backward = {grouped_matmul(view, linear.name + ".dgrad", {m, in, out, count}),
                       grouped_matmul(view, linear.name + ".wgrad", {in, out, m, count})}};
}

Passes routed_experts(const RankView& view) {
  const std::int64_t h = view.dims.hidden;
  const std::int64_t f = expert_width(view);
  std::vector<Passes> parts;
  if (view.dims.gated_mlp) parts.push_back(grouped_linear(view, {"experts.gate", h, f}));
  parts.push_back(grouped_linear(view, {"experts.up", h, f}));
  parts.push_back(grouped_linear(view, {"experts.down", f, h}));
  return in_sequence(parts);
}

/// Rows of all ranks that share an expert's matrices in, their partial sums out; backward the other way.
Passes around_shared_matrices(const RankView& view, const Passes& experts) {
  if (!gathers_rows(view)) return experts;
  const std::int64_t bytes = rows_bytes(view, computed_rows(view));
  const auto step = [&](LayerExchange kind, const char* name) { return exchange(view, kind, name, bytes); };
  const Passes in{.forward = {step(LayerExchange::kExpertGather, "experts.rows.gather")},
                  .backward = {step(LayerExchange::kExpertScatter, "experts.rows.grad_reduce")}};
  const Passes out{.forward = {step(LayerExchange::kExpertScatter, "experts.rows.reduce")},
                   .backward = {step(LayerExchange::kExpertGather, "experts.rows.grad_gather")}};
  return in_sequence({in, experts, out});
}

/// All-to-all of the rows, and of their gradients backward.
Passes moved_rows(const RankView& view, const std::string& name, std::string_view needed_by) {
  if (view.cut.ep == 1) return {};
  const std::int64_t bytes = rows_bytes(view, sent_rows(view));
  const auto step = [&](const std::string& called) {
    return exchange(view, LayerExchange::kExpertAllToAll, called, bytes);
  };
  return {.forward = {exchange_until(step(name), needed_by)}, .backward = {step(name + ".grad")}};
}

/// It may run beside the shared experts, up to the first routed kernel.
std::string_view dispatch_needed_by(const RankView& view) {
  if (gathers_rows(view)) return "";
  return view.dims.gated_mlp ? "experts.gate" : "experts.up";
}

Passes shared_experts(const RankView& view) {
  if (experts_of(view).shared == 0) return {};
  const std::int64_t h = view.dims.hidden;
  const std::int64_t f = shared_width(view);
  ColumnRegion in{.name = "shared", .width = h, .linears = {}};
  if (view.dims.gated_mlp) in.linears.push_back({"shared.gate", h, f});
  in.linears.push_back({"shared.up", h, f});
  return in_sequence({column_parallel(view, in), row_parallel(view, "shared", {{"shared.down", f, h}})});
}

/// Without sequence parallelism, ranks that share an expert's matrices have the same rows: as an MLP's, their
/// outputs and the gradients of their inputs are partial sums, one per token once they are combined.
Passes summed_over_shares(const RankView& view, const Passes& experts) {
  if (view.sequence_parallel() || view.cut.etp == 1) return experts;
  const std::int64_t bytes = rows_bytes(view, view.tokens());
  const auto sum = [&](const char* name) {
    return exchange(view, LayerExchange::kExpertAllReduce, name, bytes);
  };
  return in_sequence({{.forward = {}, .backward = {sum("experts.rows.grad_reduce")}},
                      experts,
                      {.forward = {sum("experts.rows.reduce")}, .backward = {}}});
}

}  // namespace

Passes expert_mlp(const RankView& view) {
  const Linear router{"router", view.dims.hidden, experts_of(view).count};
  const Passes moved =
      in_sequence({moved_rows(view, "dispatch", dispatch_needed_by(view)), shared_experts(view),
                   around_shared_matrices(view, routed_experts(view)), moved_rows(view, "combine", "")});
  return in_sequence({whole_linear(view, router, view.sharded_tokens()), summed_over_shares(view, moved)});
}

/// Elements, with r rows computed and s sent, f and g the widths of a routed and of the shared experts:
/// activations 3 r f and 3 t g gated (read both, write the product), 2 r f and 2 t g otherwise; a row copied
/// before dispatch 2 s h; weighted sums after combine s h and a row a token written.
std::int64_t expert_elementwise_bytes(const RankView& view) {
  const std::int64_t tensors = view.dims.gated_mlp ? 3 : 2;
  const std::int64_t routed =
      view.activation_bytes(computed_rows(view), model_product(tensors, expert_width(view)));
  const std::int64_t shared =
      view.activation_bytes(view.tokens(), model_product(tensors, shared_width(view)));
  const std::int64_t moved =
      model_sum(model_product(3, rows_bytes(view, sent_rows(view))), rows_bytes(view, view.sharded_tokens()));
  return model_sum(model_sum(routed, shared), moved);
}

}  // namespace busbar
