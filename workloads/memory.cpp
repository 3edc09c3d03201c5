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

/// 34 bytes per token, layer and hidden unit count 16-bit activations with masks of dropout.
Bytes activation_bytes(const Workload& workload) {
  if (!workload.model.transformer) return Bytes();
  const TransformerDims& dims = *workload.model.transformer;
  const std::int64_t element =
      workload.precision.compute == DataType::kFp8 ? 2 : size_of(workload.precision.compute);
  const auto times = [](std::int64_t a, std::int64_t b) {
    return checked_mul(a, b, "the memory of activations");
  };
  const std::int64_t tokens = times(workload.batch.micro, workload.batch.sequence);
  return Bytes(times(times(tokens, dims.hidden), times(dims.layers, 34 * element / 2)));
}

}  // namespace busbar
