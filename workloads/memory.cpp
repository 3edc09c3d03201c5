#include "workloads/memory.h"

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr const char* kSize = "the memory of the model's states";

/// AdamW keeps two moments, and an fp32 master copy of parameters that are not fp32 themselves; plain SGD
/// keeps nothing.
std::int64_t optimizer_bytes_per_parameter(const PrecisionSpec& precision, const OptimizerSpec& optimizer) {
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
  const bool shards_parameters = sharding == Sharding::kZero3 || sharding == Sharding::kFsdp;
  const bool shards_gradients = shards_parameters || sharding == Sharding::kZero2;
  MemoryUse use;
  use.parameters = share(total(size_of(precision.parameters)), ranks, shards_parameters);
  use.gradients = share(total(size_of(precision.gradients)), ranks, shards_gradients);
  use.optimizer =
      share(total(optimizer_bytes_per_parameter(precision, optimizer)), ranks, sharding != Sharding::kNone);
  // The parts fit one by one; their sum must too.
  static_cast<void>(total(size_of(precision.parameters) + size_of(precision.gradients) +
                          optimizer_bytes_per_parameter(precision, optimizer)));
  return use;
}

// Per token and layer, in elements of the compute type: the two norms' inputs (2 h), what the projections
// read (h for q, k, v; the attention's output for its projection), q, k and v for the attention, the MLP's
// input (h), and its inner tensors (gated: gate, up and their product; else before and after the
// nonlinearity). No dropout, no kept scores. The head keeps its logits, their softmax in fp32, and their
// gradient.
Bytes activation_bytes(const Workload& workload) {
  if (!workload.model.transformer) return Bytes();
  const TransformerDims& d = *workload.model.transformer;
  const std::int64_t element =
      workload.precision.compute == DataType::kFp8 ? 2 : size_of(workload.precision.compute);
  constexpr const char* kWhat = "the memory of activations";
  const auto times = [](std::int64_t a, std::int64_t b) { return checked_mul(a, b, kWhat); };
  const std::int64_t tokens = times(workload.batch.micro, workload.batch.sequence);
  const std::int64_t attention = times(d.heads, d.head_dim);
  const std::int64_t kept =
      4 * d.hidden + 2 * attention + 2 * times(d.kv_heads, d.head_dim) + (d.gated_mlp ? 3 : 2) * d.ffn_hidden;
  const std::int64_t layers = times(times(tokens, element), times(kept, d.layers));
  const std::int64_t logits = times(times(tokens, d.vocab), 2 * element + 4);
  return Bytes(checked_add(layers, logits, kWhat));
}

}  // namespace busbar
