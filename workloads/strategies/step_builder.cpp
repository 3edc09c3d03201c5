#include "workloads/strategies/step_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/error.h"
#include "workloads/memory.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

constexpr const char* kComputeStream = "compute";
constexpr const char* kDpStream = "dp";

void check_batch(const Workload& workload) {
  if (const auto problem = batch_problem(workload.batch, workload.dp))
    throw Error({.where = "batch", .message = *problem});
  if (workload.dp > kMaxRanks)
    throw Error({.where = "parallel.dp",
                 .expected = fmt::format("at most {} ranks", kMaxRanks),
                 .given = std::to_string(workload.dp)});
}

void add_once(OpIndices& after, const std::optional<std::uint32_t>& op) {
  if (op && std::find(after.begin(), after.end(), *op) == after.end()) after.push_back(*op);
}

OpIndices as_list(const std::optional<std::uint32_t>& op) { return op ? OpIndices{*op} : OpIndices{}; }

std::int64_t added(std::int64_t a, std::int64_t b) { return checked_add(a, b, "the memory of a rank"); }

MemoryUse operator+(const MemoryUse& a, const MemoryUse& b) {
  MemoryUse sum;
  sum.parameters = Bytes(added(a.parameters.count(), b.parameters.count()));
  sum.gradients = Bytes(added(a.gradients.count(), b.gradients.count()));
  sum.optimizer = Bytes(added(a.optimizer.count(), b.optimizer.count()));
  return sum;
}

/// MemoryUse::total() adds without looking.
void check_total(const MemoryUse& use) {
  std::int64_t total = 0;
  for (const Bytes part : {use.parameters, use.gradients, use.optimizer, use.activations, use.buffers})
    total = added(total, part.count());
}

std::map<std::optional<DataType>, std::int64_t> elements_by_type(const std::vector<Layer>& layers) {
  std::map<std::optional<DataType>, std::int64_t> elements;
  for (const Layer& layer : layers)
    for (const Tensor& tensor : layer.tensors)
      elements[tensor.type] = checked_add(elements[tensor.type], tensor.elements, "the model's parameters");
  return elements;
}

}  // namespace

StepBuilder::StepBuilder(const Workload& workload) : workload_(workload) {
  check_batch(workload);
  layers_ =
      layers_of(workload.model, workload.batch.micro, workload.batch.sequence, workload.precision.compute);
  microbatches_ = workload.batch.global / (workload.batch.micro * workload.dp);
  BUSBAR_CHECK(!layers_.empty());
  check_op_count();
  program_.name = "rank";
  trace_.name = workload.name;
}

/// Kernels, and at most three collectives per layer and microbatch.
void StepBuilder::check_op_count() const {
  std::int64_t ops = 0;
  for (const Layer& layer : layers_)
    ops += static_cast<std::int64_t>(layer.forward.size() + layer.backward.size()) + 3;
  ops = checked_mul(ops, microbatches_, "the operations of a step");
  if (ops > kMaxOps)
    throw Error({.where = "workload",
                 .expected = fmt::format("at most {} operations per rank", kMaxOps),
                 .given = fmt::format("about {} ({} microbatches)", ops, microbatches_)});
}

OpIndices StepBuilder::last_kernel() const { return as_list(last_kernel_); }
OpIndices StepBuilder::last_collective() const { return as_list(last_collective_); }

std::uint32_t StepBuilder::add(Op op, const char* stream) {
  const auto found = std::find(program_.streams.begin(), program_.streams.end(), stream);
  op.stream = static_cast<std::uint32_t>(found - program_.streams.begin());
  if (found == program_.streams.end()) program_.streams.emplace_back(stream);
  program_.ops.push_back(std::move(op));
  return static_cast<std::uint32_t>(program_.ops.size() - 1);
}

void StepBuilder::add_kernels(const LayerPass& pass, OpIndices after) {
  const Layer& layer = layers_[pass.layer];
  const bool forward = pass.phase == Phase::kForward;
  if (!workload_.overlap_dp) add_once(after, last_collective_);
  for (const Kernel& kernel : forward ? layer.forward : layer.backward) {
    Op op;
    op.id = fmt::format("{}.mb{}.{}.{}", forward ? 'f' : 'b', pass.microbatch, layer.name, kernel.name);
    op.kind = OpKind::kCompute;
    op.work = kernel.work;
    op.phase = pass.phase;
    op.layer = static_cast<std::int32_t>(pass.layer);
    op.microbatch = static_cast<std::int32_t>(pass.microbatch);
    op.after = std::exchange(after, {});
    last_kernel_ = add(std::move(op), kComputeStream);
  }
}

std::uint32_t StepBuilder::add_collective(const DpCollective& collective, OpIndices after) {
  if (!workload_.overlap_dp) add_once(after, last_kernel_);
  Op op;
  op.id = collective.id;
  op.kind = OpKind::kCollective;
  op.collective = collective.kind;
  op.bytes = collective.bytes;
  op.type = collective.type;
  if (is_reducing(collective.kind)) op.reduction = Reduction::kAvg;
  op.phase = collective.phase;
  op.layer = collective.layer;
  op.microbatch = static_cast<std::int32_t>(collective.microbatch);
  op.group_kind = "dp";
  op.after = std::move(after);
  last_collective_ = add(std::move(op), kDpStream);
  return *last_collective_;
}

void StepBuilder::add_optimizer(std::int64_t parameters) {
  const std::int64_t each = optimizer_bytes_per_parameter(workload_.precision, workload_.optimizer);
  if (each == 0) return;
  Op op;
  op.id = "optimizer";
  op.work.type = DataType::kFp32;
  op.work.bytes = static_cast<double>(checked_mul(parameters, each, "the optimizer's memory traffic"));
  op.phase = Phase::kOptimizer;
  op.after = last_collective();
  last_kernel_ = add(std::move(op), kComputeStream);
}

/// Three times the forward FLOPs: backward is two matmuls for each of forward's. For a transformer this is
/// 6 x matmul parameters x tokens + 12 s^2 heads head_dim per layer and sample, half of that when causal.
/// Recomputation in attention's backward does not count. 0 (unknown) where a time is given instead of work.
/// Source: Narayanan et al., SC 2021, section 5.1; Chowdhery et al., PaLM, 2022, appendix B.
double StepBuilder::model_flops() const {
  double forward = 0;
  for (const Layer& layer : layers_) {
    for (const Kernel& kernel : layer.forward) {
      if (kernel.work.duration && *kernel.work.duration != Time::zero()) return 0;
      forward += kernel.work.flops;
    }
  }
  return 3 * forward * static_cast<double>(microbatches_) * static_cast<double>(workload_.dp);
}

StepTrace StepBuilder::finish(const MemoryUse& memory) {
  check_total(memory);
  const auto ranks = static_cast<std::uint32_t>(workload_.dp);
  const std::vector<RankRange> all = {{0, ranks, 1}};
  trace_.ranks = ranks;
  trace_.tokens = static_cast<double>(workload_.batch.global) * static_cast<double>(workload_.batch.sequence);
  trace_.model_flops = model_flops();
  Binding binding{.ranks = all, .program = 0, .groups = {}, .peers = {}};
  if (last_collective_) {
    trace_.groups = {{"dp", all}};
    program_.group_slots = {"dp"};
    binding.groups = {GroupId(0)};
  }
  program_.memory = memory;
  trace_.programs.push_back(std::move(program_));
  trace_.bindings.push_back(std::move(binding));
  return std::move(trace_);
}

MemoryUse states_and_activations(const std::vector<Layer>& layers, const Workload& workload) {
  MemoryUse use;
  for (const auto& [type, elements] : elements_by_type(layers)) {
    PrecisionSpec precision = workload.precision;
    if (type) precision.parameters = precision.gradients = *type;
    use = use + model_states(elements, workload.dp, workload.sharding, precision, workload.optimizer);
  }
  use.activations = activation_bytes(workload);
  return use;
}

std::int64_t optimizer_bytes_per_parameter(const PrecisionSpec& precision, const OptimizerSpec& optimizer) {
  const std::int64_t gradient = size_of(precision.gradients);
  const std::int64_t parameter = size_of(precision.parameters);
  if (optimizer.kind == "sgd") return gradient + 2 * parameter;
  if (optimizer.kind != "adamw") return 0;
  const std::int64_t moments = std::int64_t{4} * size_of(optimizer.state);
  const std::int64_t master = precision.parameters == DataType::kFp32 ? 0 : 2 * size_of(DataType::kFp32);
  return gradient + master + moments + std::int64_t{master == 0 ? 2 : 1} * parameter;
}

}  // namespace busbar
