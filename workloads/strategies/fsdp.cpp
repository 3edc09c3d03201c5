#include "workloads/strategies/fsdp.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "workloads/memory.h"
#include "workloads/strategies/stages.h"

namespace busbar {

namespace {

constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);

/// Collects the tensors of one unit.
struct UnitTensors {
  std::int64_t elements = 0;
  std::optional<DataType> type;
  bool empty = true;
};

void put(UnitTensors& unit, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (!unit.empty && tensor.type != unit.type)
      throw Error({.where = "model",
                   .message = fmt::format("FSDP gathers {} together with parameters of another type",
                                          quoted(tensor.name))});
    unit.empty = false;
    unit.type = tensor.type;
    unit.elements = checked_add(unit.elements, tensor.elements, "the size of an FSDP unit");
  }
}

FsdpUnit unit_of(const UnitTensors& tensors, const Workload& workload, std::int64_t ranks) {
  const std::int64_t shard = tensors.elements / ranks + (tensors.elements % ranks != 0 ? 1 : 0);
  const std::int64_t padded = checked_mul(shard, ranks, "the size of an FSDP unit");
  FsdpUnit unit;
  unit.name = "root";
  unit.elements = shard;
  unit.parameters = tensors.type.value_or(workload.precision.parameters);
  unit.reduce = tensors.type.value_or(workload.precision.reduce);
  unit.gathered = Bytes(checked_mul(padded, size_of(unit.parameters), "the size of an FSDP unit"));
  unit.reduced = Bytes(checked_mul(padded, size_of(unit.reduce), "the size of an FSDP unit"));
  return unit;
}

Bytes sum_of(const std::vector<FsdpUnit>& units, Bytes FsdpUnit::*size) {
  std::int64_t total = 0;
  for (const FsdpUnit& unit : units)
    total = checked_add(total, (unit.*size).count(), "the size of gathered blocks");
  return Bytes(total);
}

/// The largest sum of `alive` neighbours (1 or 2).
Bytes largest_alive(const std::vector<FsdpUnit>& units, std::size_t alive, Bytes FsdpUnit::*size) {
  Bytes largest;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool has_neighbour = alive == 2 && i + 1 < units.size();
    largest = std::max(largest, units[i].*size + (has_neighbour ? units[i + 1].*size : Bytes()));
  }
  return largest;
}

/// One stage of the step.
class FsdpStep {
 public:
  explicit FsdpStep(StepBuilder& step);
  void forward(const StageTask& task);
  void backward(const StageTask& task);
  void weights_done(const StageTask&) {}
  void finish();
  [[nodiscard]] MemoryUse memory() const;

 private:
  void forward_layer(const LayerPass& pass);
  void backward_layer(const LayerPass& pass);
  void gather_root(std::int64_t microbatch);
  /// Gathers a block and its experts into gathers_; nothing to do for empty units and single ranks.
  void gather_block(std::size_t block, const LayerPass& pass, const OpIndices& after);
  [[nodiscard]] OpIndices gather(const FsdpUnit& unit, const std::string& slot, const LayerPass& pass,
                                 OpIndices after);
  void prefetch(std::size_t next, const LayerPass& pass);
  void reduce(const FsdpUnit& unit, const std::string& slot, const LayerPass& pass);
  [[nodiscard]] std::size_t block_of(std::size_t layer) const { return block_of_layer_[layer]; }
  /// [first, last) of the blocks of a chunk.
  [[nodiscard]] std::pair<std::size_t, std::size_t> blocks_of(std::int64_t chunk) const;
  [[nodiscard]] bool prefetches() const { return workload_.fsdp.prefetch > 0; }
  [[nodiscard]] bool gathers_in_forward(std::int64_t microbatch) const {
    return workload_.fsdp.reshard_after_forward || workload_.parallel.pp == 1 || microbatch == 0;
  }
  [[nodiscard]] std::int64_t ranks_of(const std::string& slot) const { return step_.ranks_of(slot); }
  [[nodiscard]] std::int64_t shard_elements() const;
  void describe();
  void describe_memory();

  StepBuilder& step_;
  const Workload& workload_;
  std::string slot_;  // of the shards
  FsdpUnits units_;
  std::vector<std::size_t> block_of_layer_;
  OpIndices root_gather_;                             // of this microbatch
  std::vector<OpIndices> gathers_;                    // by block: its gathers for the current pass
  std::pair<std::size_t, std::size_t> blocks_{0, 0};  // of the current chunk
};

FsdpStep::FsdpStep(StepBuilder& step)
    : step_(step),
      workload_(step.workload()),
      slot_(shard_slot(workload_)),
      units_(fsdp_units(step.layers(), workload_, {step.ranks_of(slot_), step.ranks_of("edp")})) {
  block_of_layer_.assign(step_.layers().size(), kNoBlock);
  for (std::size_t b = 0; b < units_.blocks.size(); ++b)
    block_of_layer_[static_cast<std::size_t>(units_.blocks[b].layer)] = b;
  gathers_.resize(units_.blocks.size());
}

std::string id_of(const FsdpUnit& unit, const LayerPass& pass, const char* what) {
  return fmt::format("{}.mb{}.{}.{}", pass.phase == Phase::kForward ? 'f' : 'b', pass.microbatch, unit.name,
                     what);
}

std::pair<std::size_t, std::size_t> FsdpStep::blocks_of(std::int64_t chunk) const {
  const auto [first, last] = step_.chunk(chunk);
  std::pair<std::size_t, std::size_t> blocks{units_.blocks.size(), 0};
  for (std::size_t layer = first; layer < last; ++layer)
    if (block_of(layer) != kNoBlock) {
      blocks.first = std::min(blocks.first, block_of(layer));
      blocks.second = std::max(blocks.second, block_of(layer) + 1);
    }
  return blocks.second == 0 ? std::pair<std::size_t, std::size_t>{0, 0} : blocks;
}

OpIndices FsdpStep::gather(const FsdpUnit& unit, const std::string& slot, const LayerPass& pass,
                           OpIndices after) {
  if (ranks_of(slot) < 2 || unit.elements == 0) return {};
  return {step_.add_collective(
      {.id = id_of(unit, pass, "gather"),
       .kind = CollectiveKind::kAllGather,
       .bytes = unit.gathered,
       .type = unit.parameters,
       .phase = pass.phase,
       .layer = unit.layer < 0 ? -1 : step_.model_layer(static_cast<std::size_t>(unit.layer)),
       .microbatch = pass.microbatch,
       .slot = slot},
      std::move(after))};
}

void FsdpStep::gather_root(std::int64_t microbatch) {
  root_gather_ = gather(units_.root, slot_, {Phase::kForward, microbatch, 0}, {});
}

void FsdpStep::gather_block(std::size_t block, const LayerPass& pass, const OpIndices& after) {
  gathers_[block] = gather(units_.blocks[block], slot_, pass, after);
  const OpIndices experts = gather(units_.experts[block], "edp", pass, after);
  gathers_[block].insert(gathers_[block].end(), experts.begin(), experts.end());
}

// HSDP: what this rank reduced is summed over the replicas too, once all microbatches are in it.
void FsdpStep::reduce(const FsdpUnit& unit, const std::string& slot, const LayerPass& pass) {
  if (unit.elements == 0) return;
  DpCollective collective{
      .id = id_of(unit, pass, "reduce_scatter"),
      .kind = CollectiveKind::kReduceScatter,
      .bytes = unit.reduced,
      .type = unit.reduce,
      .phase = Phase::kBackward,
      .layer = unit.layer < 0 ? -1 : step_.model_layer(static_cast<std::size_t>(unit.layer)),
      .microbatch = pass.microbatch,
      .slot = slot};
  OpIndices reduced = step_.last_kernel();
  if (ranks_of(slot) > 1) reduced = {step_.add_collective(collective, step_.last_kernel())};
  if (slot == "edp" || ranks_of("replica") < 2 || pass.microbatch + 1 < step_.microbatches()) return;
  collective.id = id_of(unit, pass, "all_reduce");
  collective.kind = CollectiveKind::kAllReduce;
  collective.bytes = Bytes(unit.elements * size_of(unit.reduce));
  collective.slot = "replica";
  step_.add_collective(collective, std::move(reduced));
}

/// Called before a block's kernels: whatever ran before them is done when they start, the block before
/// included, so `next` is the second block alive.
void FsdpStep::prefetch(std::size_t next, const LayerPass& pass) {
  if (prefetches() && next >= blocks_.first && next < blocks_.second)
    gather_block(next, pass, step_.last_kernel());
}

void FsdpStep::forward_layer(const LayerPass& pass) {
  const std::size_t block = block_of(pass.layer);
  if (block == kNoBlock) return step_.add_kernels(pass, root_gather_);
  const bool gathers = gathers_in_forward(pass.microbatch);
  if (gathers && !prefetches()) gather_block(block, pass, step_.last_kernel());
  if (gathers) prefetch(block + 1, pass);
  step_.add_kernels(pass, gathers_[block]);
}

/// The first gathers wait for nothing but the communicator: the previous microbatch's last reduce-scatter, by
/// which all its blocks are released.
void FsdpStep::forward(const StageTask& task) {
  const auto [first, last] = step_.chunk(task.chunk);
  blocks_ = blocks_of(task.chunk);
  const bool gathers = gathers_in_forward(task.microbatch);
  if (gathers && task.chunk == 0) gather_root(task.microbatch);
  if (gathers && prefetches() && blocks_.first < blocks_.second)
    gather_block(blocks_.first, {Phase::kForward, task.microbatch, first}, {});
  for (std::size_t layer = first; layer < last; ++layer)
    forward_layer({Phase::kForward, task.microbatch, layer});
}

void FsdpStep::backward_layer(const LayerPass& pass) {
  const std::size_t block = block_of(pass.layer);
  if (block == kNoBlock) return step_.add_kernels(pass);
  const bool gathers = workload_.fsdp.reshard_after_forward;
  if (gathers && !prefetches()) gather_block(block, pass, step_.last_kernel());
  if (gathers && block > 0) prefetch(block - 1, pass);
  step_.add_kernels(pass, gathers ? gathers_[block] : OpIndices());
  reduce(units_.blocks[block], slot_, pass);
  reduce(units_.experts[block], "edp", pass);
}

/// Backward begins by gathering the last block, under the head's backward.
void FsdpStep::backward(const StageTask& task) {
  const auto [first, last] = step_.chunk(task.chunk);
  blocks_ = blocks_of(task.chunk);
  const LayerPass end{Phase::kBackward, task.microbatch, first};
  if (workload_.fsdp.reshard_after_forward && blocks_.first < blocks_.second)
    prefetch(blocks_.second - 1, end);
  for (std::size_t layer = last; layer-- > first;) backward_layer({Phase::kBackward, task.microbatch, layer});
  if (task.chunk == 0) reduce(units_.root, slot_, end);
}

std::int64_t FsdpStep::shard_elements() const {
  std::int64_t total = units_.root.elements;
  for (const auto* list : {&units_.blocks, &units_.experts})
    for (const FsdpUnit& unit : *list) total = checked_add(total, unit.elements, "the size of a shard");
  return total;
}

MemoryUse FsdpStep::memory() const { return fsdp_memory(step_.layers(), workload_, step_.place().stage); }

void FsdpStep::describe_memory() {
  const FsdpBuffers buffers = fsdp_buffers(units_, workload_.fsdp);
  if (units_.blocks.empty())
    step_.warn(
        "gathered-parameters",
        fmt::format(
            "wrapping only the root keeps all parameters gathered ({}) from forward to the end of backward",
            to_text(buffers.gathered_root)));
  else if (!workload_.fsdp.reshard_after_forward)
    step_.warn("gathered-parameters",
               fmt::format("without resharding after forward all blocks stay gathered ({}) until backward",
                           to_text(buffers.gathered_blocks)));
}

void FsdpStep::describe() {
  if (!step_.communicates()) return;
  const std::int64_t ranks = ranks_of(slot_);
  if (ranks < 2) return step_.assume("HSDP: one rank per shard: gradients all-reduced over the replicas");
  if (slot_ == "shard")
    step_.assume(fmt::format("HSDP: shards over {} ranks, {} replicas", ranks, ranks_of("replica")));
  step_.assume(fmt::format("FSDP2: {} blocks and the root, which stays gathered; {} prefetched",
                           units_.blocks.size(), prefetches() ? "one block" : "nothing"));
  step_.assume(
      fmt::format("FSDP2: parameters gathered in {}, gradients reduce-scattered in {}, on one communicator",
                  name_of(workload_.precision.parameters), name_of(workload_.precision.reduce)));
  if (step_.microbatches() > 1)
    step_.assume(
        fmt::format("FSDP2: each of {} microbatches gathers and reduce-scatters", step_.microbatches()));
  if (!workload_.overlap.dp)
    step_.assume("FSDP2: communication and computation take turns (overlap.dp is false)");
  describe_memory();
}

void FsdpStep::finish() {
  step_.add_optimizer(shard_elements());
  describe();
}

}  // namespace

FsdpUnits fsdp_units(const std::vector<Layer>& layers, const Workload& workload, const FsdpShards& shards) {
  FsdpUnits units;
  UnitTensors root;
  const auto named = [](FsdpUnit unit, std::string name, std::size_t layer) {
    unit.name = std::move(name);
    unit.layer = static_cast<std::int32_t>(layer);
    return unit;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_block || workload.fsdp.wrap == FsdpWrap::kRoot) {
      put(root, layers[i].tensors);
      put(root, layers[i].expert_tensors);
      continue;
    }
    UnitTensors block, experts;
    put(block, layers[i].tensors);
    put(experts, layers[i].expert_tensors);
    units.blocks.push_back(named(unit_of(block, workload, shards.common), layers[i].name, i));
    units.experts.push_back(
        named(unit_of(experts, workload, shards.experts), layers[i].name + ".experts", i));
  }
  units.root = unit_of(root, workload, shards.common);
  return units;
}

FsdpBuffers fsdp_buffers(const FsdpUnits& units, const FsdpSpec& spec) {
  const std::size_t alive = spec.prefetch > 0 ? 2 : 1;
  FsdpBuffers buffers;
  buffers.gathered_root = units.root.gathered;
  buffers.gathered_blocks = spec.reshard_after_forward
                                ? largest_alive(units.blocks, alive, &FsdpUnit::gathered)
                                : sum_of(units.blocks, &FsdpUnit::gathered);
  const Bytes blocks = largest_alive(units.blocks, 2, &FsdpUnit::reduced);
  buffers.gradients = Bytes(checked_add(units.root.reduced.count(), blocks.count(), "the memory of a rank"));
  return buffers;
}

MemoryUse fsdp_memory(const std::vector<Layer>& layers, const Workload& workload, std::int64_t stage) {
  MemoryUse use = stage_memory(layers, workload, stage);
  const Layout layout(workload.parallel);
  const std::int64_t ranks = layout.size(shard_slot(workload));
  if (ranks < 2) return use;
  const FsdpBuffers buffers =
      fsdp_buffers(fsdp_units(layers, workload, {ranks, layout.size("edp")}), workload.fsdp);
  const std::int64_t gathered =
      checked_add(buffers.gathered_root.count(), buffers.gathered_blocks.count(), "the memory of a rank");
  const std::int64_t all = checked_add(gathered, buffers.gradients.count(), "the memory of a rank");
  use.buffers = Bytes(checked_add(use.buffers.count(), all, "the memory of a rank"));
  return use;
}

StepTrace expand_fsdp(const Workload& workload) { return expand_stages<FsdpStep>(workload); }

}  // namespace busbar
