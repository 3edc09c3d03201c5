#include "workloads/layer_parts.h"

#include <algorithm>
#include <utility>

#include "sim/base/units.h"

namespace busbar {

namespace {

LayerStep matmul(const RankView& view, std::string name, const MatmulShape& shape) {
  KernelWork work;
  work.type = view.batch.compute;
  work.matmul = shape;
  resolve_shape(work);
  return {.kernel = {std::move(name), work}, .communication = std::nullopt};
}

LayerStep forward_of(const RankView& view, const Linear& linear, std::int64_t tokens) {
  return matmul(view, linear.name, {tokens, linear.out, linear.in});
}

/// dX[t, in] = dY[t, out] W^T.
LayerStep input_gradient(const RankView& view, const Linear& linear, std::int64_t tokens) {
  return matmul(view, linear.name + ".dgrad", {tokens, linear.in, linear.out});
}

/// dW[in, out] = X^T dY[t, out].
LayerStep weight_gradient(const RankView& view, const Linear& linear, std::int64_t tokens) {
  return matmul(view, linear.name + ".wgrad", {linear.in, linear.out, tokens});
}

void append(std::vector<LayerStep>& to, const std::vector<LayerStep>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::int64_t model_product(std::int64_t a, std::int64_t b) { return checked_mul(a, b, "the model's size"); }
std::int64_t model_sum(std::int64_t a, std::int64_t b) { return checked_add(a, b, "the model's size"); }

std::int64_t RankView::tokens() const { return model_product(batch.micro, batch.sequence / cut.cp); }

std::int64_t RankView::sharded_tokens() const { return sequence_parallel() ? tokens() / cut.tp : tokens(); }

std::int64_t RankView::kv_heads() const { return std::max<std::int64_t>(dims.kv_heads / cut.tp, 1); }

std::int64_t RankView::key_dim() const {
  if (!dims.latent) return dims.head_dim;
  return model_sum(dims.latent->qk_nope_head_dim, dims.latent->qk_rope_head_dim);
}

std::int64_t RankView::value_dim() const { return dims.latent ? dims.latent->v_head_dim : dims.head_dim; }

std::int64_t RankView::activation_bytes(std::int64_t rows, std::int64_t width) const {
  return model_product(model_product(rows, width), size_of(activation_type()));
}

Passes in_sequence(const std::vector<Passes>& parts) {
  Passes all;
  for (const Passes& part : parts) append(all.forward, part.forward);
  for (std::size_t i = parts.size(); i-- > 0;) append(all.backward, parts[i].backward);
  return all;
}

LayerStep memory_bound(const RankView& view, std::string name, std::int64_t bytes) {
  KernelWork work;
  work.type = view.activation_type();
  work.bytes = static_cast<double>(bytes);
  return {.kernel = {std::move(name), work}, .communication = std::nullopt};
}

LayerStep exchange(const RankView& view, LayerExchange kind, std::string name, std::int64_t bytes) {
  return {.kernel = {},
          .communication = LayerCommunication{.name = std::move(name),
                                              .exchange = kind,
                                              .bytes = Bytes(bytes),
                                              .type = view.activation_type(),
                                              .needed_by = ""}};
}

LayerStep exchange_until(LayerStep step, std::string_view needed_by) {
  step.communication->needed_by = needed_by;
  return step;
}

Passes whole_linear(const RankView& view, const Linear& linear, std::int64_t tokens) {
  return {.forward = {forward_of(view, linear, tokens)},
          .backward = {input_gradient(view, linear, tokens), weight_gradient(view, linear, tokens)}};
}

Passes column_parallel(const RankView& view, const ColumnRegion& region) {
  const std::int64_t tokens = view.tokens();
  const std::int64_t bytes = view.activation_bytes(tokens, region.width);
  const bool sharded = view.sequence_parallel();
  const LayerStep gather = exchange(view, LayerExchange::kTensorGather, region.name + ".gather", bytes);
  Passes passes;
  if (sharded) {
    passes.forward.push_back(gather);
    passes.backward.push_back(exchange_until(gather, region.linears.back().name + ".wgrad"));
  }
  for (const Linear& linear : region.linears) passes.forward.push_back(forward_of(view, linear, tokens));
  for (std::size_t i = region.linears.size(); i-- > 0;)
    passes.backward.push_back(input_gradient(view, region.linears[i], tokens));
  if (view.cut.tp > 1) {
    const LayerExchange sum = sharded ? LayerExchange::kTensorScatter : LayerExchange::kTensorAllReduce;
    passes.backward.push_back(
        exchange_until(exchange(view, sum, region.name + ".grad_reduce", bytes), region.gradient_needed_by));
  }
  for (std::size_t i = region.linears.size(); i-- > 0;)
    passes.backward.push_back(weight_gradient(view, region.linears[i], tokens));
  return passes;
}

Passes row_parallel(const RankView& view, const std::string& name, const std::vector<Linear>& linears) {
  const std::int64_t bytes = view.activation_bytes(view.tokens(), view.dims.hidden);
  const bool sharded = view.sequence_parallel();
  std::vector<Passes> parts;
  parts.reserve(linears.size() + 1);
  for (const Linear& linear : linears) parts.push_back(whole_linear(view, linear, view.tokens()));
  Passes end;
  if (view.cut.tp > 1) {
    const LayerExchange sum = sharded ? LayerExchange::kTensorScatter : LayerExchange::kTensorAllReduce;
    end.forward.push_back(exchange(view, sum, name + ".reduce", bytes));
  }
  if (sharded)
    end.backward.push_back(exchange(view, LayerExchange::kTensorGather, name + ".grad_gather", bytes));
  parts.push_back(end);
  return in_sequence(parts);
}

}  // namespace busbar
