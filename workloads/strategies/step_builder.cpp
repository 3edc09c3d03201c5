#include "workloads/strategies/step_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "workloads/expert_load.h"
#include "workloads/strategies/exchange.h"
#include "workloads/strategies/layout.h"

namespace busbar {

namespace {

void add_once(OpIndices& after, const std::optional<std::uint32_t>& op) {
  if (op && std::find(after.begin(), after.end(), *op) == after.end()) after.push_back(*op);
}

void add_all(OpIndices& after, const OpIndices& more) {
  for (const std::uint32_t op : more) add_once(after, op);
}

OpIndices as_list(const std::optional<std::uint32_t>& op) { return op ? OpIndices{*op} : OpIndices{}; }

std::uint32_t index_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) names.push_back(name);
  return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Where selective recomputation is that of whole blocks, every so manieth has the backward of a full one.
std::vector<Layer> recomputed_layers(const Workload& w) {
  const LayerBatch batch{w.batch.micro, w.batch.sequence, w.precision.compute};
  LayerCut cut = cut_of(w);
  const std::int64_t every = w.framework->selective_every;
  if (w.recompute != Recompute::kSelective || every == 0) return layers_of(w.model, batch, cut);
  cut.recompute = Recompute::kNone;
  std::vector<Layer> all = layers_of(w.model, batch, cut);
  cut.recompute = Recompute::kFull;
  std::vector<Layer> full = layers_of(w.model, batch, cut);
  std::int64_t block = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].is_block && block++ % every == 0) all[i] = std::move(full[i]);
  return all;
}

}  // namespace

StepBuilder::StepBuilder(const Workload& workload, StagePlace place, std::vector<SplitMatrix>& matrices)
    : workload_(workload), place_(place), matrices_(&matrices) {
  const ParallelSpec& p = workload.parallel;
  std::vector<Layer> all = recomputed_layers(workload);
  microbatches_ = microbatches_of(workload);
  const auto blocks = std::count_if(all.begin(), all.end(), [](const Layer& l) { return l.is_block; });
  std::vector<std::int64_t> per_chunk = {blocks};
  if (chunks() > 1) per_chunk = blocks_per_chunk(blocks, workload);
  const std::vector<std::int64_t> chunk_of = chunks_of_layers(all, per_chunk);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chunk_of[i] % p.pp != place.stage) continue;
    if (chunk_of[i] / p.pp >= static_cast<std::int64_t>(chunk_begin_.size()))
      chunk_begin_.push_back(layers_.size());
    layers_.push_back(std::move(all[i]));
    model_layer_.push_back(static_cast<std::int32_t>(i));
  }
  chunk_begin_.push_back(layers_.size());
  BUSBAR_CHECK(!layers_.empty());
  check_op_count();
  program_.name = p.pp > 1 ? fmt::format("stage{}", place.stage) : "rank";
  if (!expert_rank_shares(workload).empty()) program_.name += fmt::format(".ep{}", place.ep);
  for (const std::int64_t stage : {place.stage - 1, place.stage + 1}) {
    const std::int64_t other = (stage + p.pp) % p.pp;
    if (p.pp > 1) incoming_[neighbour(stage)] = messages_from(other);
  }
}

std::int64_t StepBuilder::chunks() const { return workload_.parallel.pp * workload_.parallel.virtual_stages; }

std::pair<std::size_t, std::size_t> StepBuilder::chunk(std::int64_t number) const {
  const auto c = static_cast<std::size_t>(number);
  return {chunk_begin_[c], chunk_begin_[c + 1]};
}

std::vector<StageTask> StepBuilder::tasks() const {
  return stage_tasks(workload_.parallel, place_.stage, microbatches_);
}

std::int64_t StepBuilder::ranks_of(const std::string& slot) const {
  return Layout(workload_.parallel).size(slot);
}

/// Kernels and exchanges, and at most three collectives per layer and microbatch.
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

std::uint32_t StepBuilder::add(Op op, const std::string& stream) {
  op.stream = index_in(program_.streams, stream);
  program_.ops.push_back(std::move(op));
  return static_cast<std::uint32_t>(program_.ops.size() - 1);
}

std::uint32_t StepBuilder::group_slot(const std::string& slot) {
  return index_in(program_.group_slots, slot);
}
std::uint32_t StepBuilder::peer_slot(const std::string& slot) { return index_in(program_.peer_slots, slot); }

bool StepBuilder::overlaps(LayerExchange exchange) const {
  const std::string_view slot = slot_of(exchange);
  if (slot == "tp" || slot == "etp") return workload_.overlap.tp;
  return slot == "cp" ? workload_.overlap.cp : workload_.overlap.ep;
}

/// What the names of a pass's operations begin with: "f.mb0.block3.".
std::string StepBuilder::prefix_of(const LayerPass& pass) const {
  return fmt::format("{}.mb{}.{}.", pass.phase == Phase::kForward ? 'f' : 'b', pass.microbatch,
                     layers_[pass.layer].name);
}

void StepBuilder::add_kernel(const Kernel& kernel, const LayerPass& pass, const std::string& prefix) {
  Op op;
  op.id = prefix + kernel.name;
  op.kind = OpKind::kCompute;
  op.work = work_of(kernel);
  op.phase = pass.phase;
  op.layer = model_layer_[pass.layer];
  op.microbatch = static_cast<std::int32_t>(pass.microbatch);
  op.after = std::exchange(waiting_, {});
  if (const auto needed = needed_by_.find(kernel.name); needed != needed_by_.end()) {
    add_all(op.after, needed->second);
    needed_by_.erase(needed);
  }
  // An exchange beside kernels is done before the kernel after the one it ran beside.
  std::erase_if(beside_, [&](auto& entry) {
    if (entry.second-- > 0) return false;
    add_once(op.after, entry.first);
    return true;
  });
  last_kernel_ = add(std::move(op), kComputeStream);
}

void StepBuilder::set_collective(Op& op, const LayerCommunication& communication, const ExchangeLeg& leg) {
  op.kind = OpKind::kCollective;
  op.collective = collective_of(communication.exchange);
  op.bytes = leg.bytes;
  op.type = communication.type;
  op.group_slot = group_slot(leg.slot);
  op.group_kind = slot_of(communication.exchange);
  if (communication.exchange == LayerExchange::kExpertAllToAll && !expert_rank_shares(workload_).empty()) {
    op.splits = splits_of(communication);
    op.bytes = (*matrices_)[*op.splits].size();
  }
}

// Dispatch sends each expert rank its share of everybody's tokens; combine brings them back.
std::uint32_t StepBuilder::splits_of(const LayerCommunication& communication) {
  const auto has = [&](const char* part) { return communication.name.find(part) != std::string::npos; };
  const bool back = has("combine") != has("grad");  // gradients go the other way
  const std::string name = fmt::format("experts.{}.{}", back ? "back" : "out", communication.bytes.count());
  for (std::size_t i = 0; i < matrices_->size(); ++i)
    if ((*matrices_)[i].name == name) return static_cast<std::uint32_t>(i);
  matrices_->push_back(
      expert_splits(name, communication.bytes, communication.type, expert_rank_shares(workload_), back));
  return static_cast<std::uint32_t>(matrices_->size() - 1);
}

void StepBuilder::add_exchange(const LayerCommunication& communication, const LayerPass& pass,
                               const std::string& prefix) {
  const std::string slot = slot_of(communication.exchange);
  if (ranks_of(slot) < 2) return;
  OpIndices start = waiting_;
  add_once(start, last_kernel_);
  OpIndices ends;  // the last of each stream
  for (const ExchangeLeg& leg : legs_of(communication, workload_)) {
    Op op;
    op.id = prefix + communication.name + leg.suffix;
    set_collective(op, communication, leg);
    op.phase = pass.phase;
    op.layer = model_layer_[pass.layer];
    op.microbatch = static_cast<std::int32_t>(pass.microbatch);
    if (!leg.follows || ends.empty()) op.after = start;
    if (leg.follows) ends.clear();
    ends.push_back(add(std::move(op), leg.slot));
  }
  // Of a context group only the ring has kernels to run beside: attention needs what the others bring.
  if (!communication.needed_by.empty() &&
      (overlaps(communication.exchange) || slot == "tp" || slot == "etp")) {
    add_all(needed_by_[communication.needed_by], ends);
  } else if (overlaps(communication.exchange) && slot != "cp") {
    for (const std::uint32_t end : ends) beside_.emplace_back(end, 1);
  } else {
    add_all(waiting_, ends);
  }
}

void StepBuilder::add_kernels(const LayerPass& pass, const OpIndices& after) {
  const Layer& layer = layers_[pass.layer];
  const bool forward = pass.phase == Phase::kForward;
  add_all(waiting_, after);
  if (!workload_.overlap.dp) add_once(waiting_, last_collective_);
  add_launches(pass);
  const std::string prefix = prefix_of(pass);
  for (const LayerStep& step : forward ? layer.forward : layer.backward) {
    if (step.communication) {
      add_exchange(*step.communication, pass, prefix);
    } else if (forward || !weights_apart() || !Layer::is_weight_gradient(step.kernel)) {
      add_kernel(step.kernel, pass, prefix);
    }
  }
  for (const auto& [name, ops] : needed_by_) add_all(waiting_, ops);
  needed_by_.clear();
  if (!forward && !weights_apart()) add_to_gradients(pass);
}

void StepBuilder::add_weight_gradients(const StageTask& task) {
  const auto [first, last] = chunk(task.chunk);
  for (std::size_t layer = last; layer-- > first;) {
    const LayerPass pass{Phase::kBackward, task.microbatch, layer};
    for (const LayerStep& step : layers_[layer].backward)
      if (!step.communication && Layer::is_weight_gradient(step.kernel))
        add_kernel(step.kernel, pass, prefix_of(pass));
    add_to_gradients(pass);
  }
}

std::uint32_t StepBuilder::add_collective(const DpCollective& collective, OpIndices after) {
  if (!workload_.overlap.dp) add_once(after, last_kernel_);
  if (workload_.launch.member != Time()) after.push_back(add_collective_launch(collective));
  Op op;
  op.id = collective.id;
  op.kind = OpKind::kCollective;
  op.collective = collective.kind;
  op.bytes = collective.bytes;
  op.type = collective.type;
  if (is_reducing(collective.kind)) op.reduction = Reduction::kAvg;
  if (is_rooted(collective.kind)) op.root = 0;
  op.phase = collective.phase;
  op.layer = collective.layer;
  op.microbatch = static_cast<std::int32_t>(collective.microbatch);
  op.group_slot = group_slot(collective.slot);
  op.group_kind = collective.slot;
  op.after = std::move(after);
  last_collective_ = add(std::move(op), collective.slot);
  return *last_collective_;
}

void StepBuilder::add_optimizer(std::int64_t parameters) {
  const std::int64_t each = optimizer_bytes_per_parameter(workload_.precision, workload_.optimizer);
  const OpIndices launched = add_step_collectives();
  if (each == 0) return;
  std::int64_t all = 0;
  for (const Layer& layer : layers_)
    all = checked_add(all, layer.elements() + layer.expert_elements(), "the model");
  Op op;
  op.after = launched;
  op.id = "optimizer";
  op.work = KernelWork{
      .bytes = static_cast<double>(checked_mul(parameters, each, "the optimizer's memory traffic")) +
               static_cast<double>(gradient_pass_bytes(workload_)) * static_cast<double>(all),
      .type = DataType::kFp32};
  op.phase = Phase::kOptimizer;
  // Whatever is still under way on any stream.
  for (std::size_t stream = 0; stream < program_.streams.size(); ++stream)
    for (std::size_t i = program_.ops.size(); i-- > 0;)
      if (program_.ops[i].stream == stream && program_.ops[i].kind == OpKind::kCollective) {
        op.after.push_back(static_cast<std::uint32_t>(i));
        break;
      }
  last_kernel_ = add(std::move(op), kComputeStream);
}

Program StepBuilder::take(const MemoryUse& memory) {
  program_.memory = memory;
  return std::move(program_);
}

std::string shard_slot(const Workload& w) {
  const std::int64_t all = w.parallel.dp * w.parallel.cp;
  return w.parallel.shard_size.value_or(all) == all ? "dp" : "shard";
}

StageParameters parameters_on(const std::vector<Layer>& layers) {
  StageParameters sums;
  const auto add = [](auto& sum, const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors)
      sum[tensor.type] = checked_add(sum[tensor.type], tensor.elements, "the model's parameters");
  };
  for (const Layer& layer : layers) {
    add(sums.common, layer.tensors);
    add(sums.experts, layer.expert_tensors);
  }
  return sums;
}

std::int64_t gradient_pass_bytes(const Workload& w) {
  return w.framework->gradient_passes * size_of(w.precision.gradients);
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
