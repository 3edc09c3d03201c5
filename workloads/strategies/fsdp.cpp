#include "workloads/strategies/fsdp.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);

/// Collects the tensors of one unit.
struct UnitTensors {
  std::int64_t elements = 0;
  std::optional<DataType> type;
  bool empty = true;
};

void put(UnitTensors& unit, const Layer& layer) {
  for (const Tensor& tensor : layer.tensors) {
    if (!unit.empty && tensor.type != unit.type)
      throw Error({.where = "model",
                   .message = fmt::format("FSDP gathers {} together with parameters of another type",
                                          quoted(tensor.name))});
    unit.empty = false;
    unit.type = tensor.type;
    unit.elements = checked_add(unit.elements, tensor.elements, "the size of an FSDP unit");
  }
}

FsdpUnit unit_of(const UnitTensors& tensors, const Workload& workload) {
  const std::int64_t shard = tensors.elements / workload.dp + (tensors.elements % workload.dp != 0 ? 1 : 0);
  const std::int64_t padded = checked_mul(shard, workload.dp, "the size of an FSDP unit");
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

/// Expands one workload.
class FsdpStep {
 public:
  explicit FsdpStep(const Workload& workload);
  StepTrace expand();

 private:
  void forward(std::int64_t microbatch);
  void backward(std::int64_t microbatch);
  void forward_layer(const LayerPass& pass);
  void backward_layer(const LayerPass& pass);
  OpIndices gather_root(std::int64_t microbatch);
  /// Gathers a block into gathers_; kNoBlock, an empty unit or a single rank: nothing to do.
  void gather_block(std::size_t block, const LayerPass& pass, OpIndices after);
  void prefetch(std::size_t next, const LayerPass& pass);
  void reduce_scatter(const FsdpUnit& unit, const LayerPass& pass);
  [[nodiscard]] std::size_t block_of(std::size_t layer) const { return block_of_layer_[layer]; }
  [[nodiscard]] bool prefetches() const { return workload_.fsdp.prefetch > 0; }
  [[nodiscard]] std::int64_t shard_elements() const;
  void describe();
  void describe_memory();
  [[nodiscard]] MemoryUse memory() const;

  const Workload& workload_;
  StepBuilder step_;
  FsdpUnits units_;
  std::vector<std::size_t> block_of_layer_;
  OpIndices root_gather_;           // of this microbatch
  std::vector<OpIndices> gathers_;  // by block: its gather for the current pass
};

FsdpStep::FsdpStep(const Workload& workload)
    : workload_(workload), step_(workload), units_(fsdp_units(step_.layers(), workload)) {
  block_of_layer_.assign(step_.layers().size(), kNoBlock);
  for (std::size_t b = 0; b < units_.blocks.size(); ++b)
    block_of_layer_[static_cast<std::size_t>(units_.blocks[b].layer)] = b;
  gathers_.resize(units_.blocks.size());
}

std::string id_of(const FsdpUnit& unit, const LayerPass& pass, const char* what) {
  return fmt::format("{}.mb{}.{}.{}", pass.phase == Phase::kForward ? 'f' : 'b', pass.microbatch, unit.name,
                     what);
}

OpIndices FsdpStep::gather_root(std::int64_t microbatch) {
  if (!step_.communicates() || units_.root.elements == 0) return {};
  const LayerPass pass{Phase::kForward, microbatch, 0};
  return {step_.add_collective({.id = id_of(units_.root, pass, "gather"),
                                .kind = CollectiveKind::kAllGather,
                                .bytes = units_.root.gathered,
                                .type = units_.root.parameters,
                                .phase = Phase::kForward,
                                .microbatch = microbatch},
                               {})};
}

void FsdpStep::gather_block(std::size_t block, const LayerPass& pass, OpIndices after) {
  if (!step_.communicates()) return;
  const FsdpUnit& unit = units_.blocks[block];
  gathers_[block] = {step_.add_collective({.id = id_of(unit, pass, "gather"),
                                           .kind = CollectiveKind::kAllGather,
                                           .bytes = unit.gathered,
                                           .type = unit.parameters,
                                           .phase = pass.phase,
                                           .layer = unit.layer,
                                           .microbatch = pass.microbatch},
                                          std::move(after))};
}

void FsdpStep::reduce_scatter(const FsdpUnit& unit, const LayerPass& pass) {
  if (!step_.communicates() || unit.elements == 0) return;
  step_.add_collective({.id = id_of(unit, pass, "reduce_scatter"),
                        .kind = CollectiveKind::kReduceScatter,
                        .bytes = unit.reduced,
                        .type = unit.reduce,
                        .phase = Phase::kBackward,
                        .layer = unit.layer,
                        .microbatch = pass.microbatch},
                       step_.last_kernel());
}

/// Called before a block's kernels: whatever ran before them is done when they start, the block before
/// included, so `next` is the second block alive.
void FsdpStep::prefetch(std::size_t next, const LayerPass& pass) {
  if (prefetches() && next < units_.blocks.size()) gather_block(next, pass, step_.last_kernel());
}

void FsdpStep::forward_layer(const LayerPass& pass) {
  const std::size_t block = block_of(pass.layer);
  if (block == kNoBlock) return step_.add_kernels(pass, root_gather_);
  if (!prefetches()) gather_block(block, pass, step_.last_kernel());
  prefetch(block + 1, pass);
  step_.add_kernels(pass, gathers_[block]);
}

/// The first gathers wait for nothing but the communicator: the previous microbatch's last reduce-scatter, by
/// which all its blocks are released.
void FsdpStep::forward(std::int64_t microbatch) {
  root_gather_ = gather_root(microbatch);
  if (prefetches() && !units_.blocks.empty()) gather_block(0, {Phase::kForward, microbatch, 0}, {});
  for (std::size_t layer = 0; layer < step_.layers().size(); ++layer)
    forward_layer({Phase::kForward, microbatch, layer});
}

void FsdpStep::backward_layer(const LayerPass& pass) {
  const std::size_t block = block_of(pass.layer);
  if (block == kNoBlock) return step_.add_kernels(pass);
  const bool gathers = workload_.fsdp.reshard_after_forward;
  if (gathers && !prefetches()) gather_block(block, pass, step_.last_kernel());
  if (gathers && block > 0) prefetch(block - 1, pass);
  step_.add_kernels(pass, gathers ? gathers_[block] : OpIndices());
  reduce_scatter(units_.blocks[block], pass);
}

/// Backward begins by gathering the last block, under the head's backward.
void FsdpStep::backward(std::int64_t microbatch) {
  const LayerPass end{Phase::kBackward, microbatch, 0};
  if (workload_.fsdp.reshard_after_forward && !units_.blocks.empty()) prefetch(units_.blocks.size() - 1, end);
  for (std::size_t layer = step_.layers().size(); layer-- > 0;)
    backward_layer({Phase::kBackward, microbatch, layer});
  reduce_scatter(units_.root, end);
}

std::int64_t FsdpStep::shard_elements() const {
  std::int64_t total = units_.root.elements;
  for (const FsdpUnit& unit : units_.blocks) total = checked_add(total, unit.elements, "the size of a shard");
  return total;
}

MemoryUse FsdpStep::memory() const {
  MemoryUse use = states_and_activations(step_.layers(), workload_);
  if (!step_.communicates()) return use;
  const FsdpBuffers buffers = fsdp_buffers(units_, workload_.fsdp);
  const std::int64_t gathered =
      checked_add(buffers.gathered_root.count(), buffers.gathered_blocks.count(), "the memory of a rank");
  use.buffers = Bytes(checked_add(gathered, buffers.gradients.count(), "the memory of a rank"));
  return use;
}

void FsdpStep::describe_memory() {
  const FsdpBuffers buffers = fsdp_buffers(units_, workload_.fsdp);
  if (units_.blocks.empty())
    step_.warn(fmt::format(
        "wrapping only the root keeps all parameters gathered ({}) from forward to the end of backward",
        to_text(buffers.gathered_root)));
  else if (!workload_.fsdp.reshard_after_forward)
    step_.warn(fmt::format("without resharding after forward all blocks stay gathered ({}) until backward",
                           to_text(buffers.gathered_blocks)));
}

void FsdpStep::describe() {
  if (!step_.communicates()) return;
  step_.assume(fmt::format("FSDP2: {} blocks and the root, which stays gathered; {} prefetched",
                           units_.blocks.size(), prefetches() ? "one block" : "nothing"));
  step_.assume(
      fmt::format("FSDP2: parameters gathered in {}, gradients reduce-scattered in {}, on one communicator",
                  name_of(workload_.precision.parameters), name_of(workload_.precision.reduce)));
  if (step_.microbatches() > 1)
    step_.assume(
        fmt::format("FSDP2: each of {} microbatches gathers and reduce-scatters", step_.microbatches()));
  if (!workload_.overlap_dp)
    step_.assume("FSDP2: communication and computation take turns (overlap.dp is false)");
  describe_memory();
}

StepTrace FsdpStep::expand() {
  for (std::int64_t microbatch = 0; microbatch < step_.microbatches(); ++microbatch) {
    forward(microbatch);
    backward(microbatch);
  }
  step_.add_optimizer(shard_elements());
  describe();
  return step_.finish(memory());
}

}  // namespace

FsdpUnits fsdp_units(const std::vector<Layer>& layers, const Workload& workload) {
  FsdpUnits units;
  UnitTensors root;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_block || workload.fsdp.wrap == FsdpWrap::kRoot) {
      put(root, layers[i]);
      continue;
    }
    UnitTensors block;
    put(block, layers[i]);
    FsdpUnit unit = unit_of(block, workload);
    unit.name = layers[i].name;
    unit.layer = static_cast<std::int32_t>(i);
    units.blocks.push_back(std::move(unit));
  }
  units.root = unit_of(root, workload);
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

StepTrace expand_fsdp(const Workload& workload) { return FsdpStep(workload).expand(); }

}  // namespace busbar
