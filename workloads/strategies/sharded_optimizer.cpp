#include "workloads/strategies/sharded_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/base/unit_text.h"
#include "workloads/memory.h"
#include "workloads/strategies/ddp.h"
#include "workloads/strategies/stages.h"

namespace busbar {

namespace {

// Elements of a bucket: DeepSpeed's reduce_bucket_size, and Megatron's default of 40 million (grown with dp).
constexpr std::int64_t kDeepSpeedElements = 500'000'000;
constexpr std::int64_t kMegatronElements = 40'000'000;
constexpr std::int64_t kMegatronPerRank = 1'000'000;
constexpr Bytes kNoCap(std::numeric_limits<std::int64_t>::max());

/// One stage of the step.
class ShardedOptimizerStep {
 public:
  explicit ShardedOptimizerStep(StepBuilder& step);
  void forward(const StageTask& task);
  void backward(const StageTask& task);
  void weights_done(const StageTask& task);
  void finish();
  [[nodiscard]] MemoryUse memory() const;

 private:
  struct Buckets {
    std::string slot;
    std::vector<Bucket> list;
    std::size_t sent = 0;
    std::vector<OpIndices> gathered;  // by bucket, of this step's parameters
    [[nodiscard]] std::string prefix() const { return slot == "edp" ? "edp." : ""; }
  };
  [[nodiscard]] bool every_microbatch() const { return sharding() == Sharding::kZero2; }
  [[nodiscard]] Sharding sharding() const { return step_.workload().parallel.sharding; }
  [[nodiscard]] Bytes cap(const std::string& slot) const;
  [[nodiscard]] bool sends(std::int64_t microbatch) const {
    return every_microbatch() || microbatch + 1 == step_.microbatches();
  }
  void scatter_through(std::size_t layer, std::int64_t microbatch);
  void scatter(const Buckets& buckets, std::int64_t microbatch);
  void sum_whole(const Buckets& buckets, std::int64_t microbatch);
  void gather_all(Phase phase);
  void copy_gathered(const Buckets& buckets);
  [[nodiscard]] OpIndices gathers_before(std::size_t layer) const;
  [[nodiscard]] Bytes padded(Bytes bytes, DataType type, std::int64_t ranks) const;

  StepBuilder& step_;
  std::vector<Buckets> buckets_;
};

ShardedOptimizerStep::ShardedOptimizerStep(StepBuilder& step) : step_(step) {
  const Workload& w = step.workload();
  for (const auto& [slot, experts] : {std::pair<std::string, bool>{"dp", false}, {"edp", true}}) {
    if (step.ranks_of(slot) < 2) continue;
    const std::string shard = slot == "dp" ? shard_slot(w) : slot;
    const Bytes size = cap(slot);
    std::vector<Bucket> list =
        ddp_buckets(gradients_of(step.layers(), w.precision.reduce, experts), {size, size});
    if (list.empty()) continue;
    buckets_.push_back({shard, std::move(list), 0, {}});
    buckets_.back().gathered.resize(buckets_.back().list.size());
  }
}

Bytes ShardedOptimizerStep::cap(const std::string& slot) const {
  const Workload& w = step_.workload();
  if (cuts_tensors(w)) return kNoCap;
  if (w.ddp.bucket_cap) return *w.ddp.bucket_cap;
  const std::int64_t elements = sharding() == Sharding::kDistributed
                                    ? std::max(kMegatronElements, kMegatronPerRank * step_.ranks_of(slot))
                                    : kDeepSpeedElements;
  return Bytes(elements * size_of(w.precision.reduce));
}

/// Shards are equal: a buffer is padded to whole elements on each rank.
Bytes ShardedOptimizerStep::padded(Bytes bytes, DataType type, std::int64_t ranks) const {
  const std::int64_t unit = ranks * size_of(type);
  return Bytes((bytes.count() + unit - 1) / unit * unit);
}

// The gathers of the buckets that hold parameters of a layer.
OpIndices ShardedOptimizerStep::gathers_before(std::size_t layer) const {
  OpIndices ops;
  for (const Buckets& buckets : buckets_)
    for (std::size_t b = 0; b < buckets.list.size(); ++b) {
      const bool above = b == 0 || buckets.list[b - 1].layer >= layer;
      if (buckets.list[b].layer <= layer && above)
        ops.insert(ops.end(), buckets.gathered[b].begin(), buckets.gathered[b].end());
    }
  return ops;
}

void ShardedOptimizerStep::gather_all(Phase phase) {
  for (Buckets& buckets : buckets_)
    for (std::size_t b = buckets.list.size(); b-- > 0;) {  // the last bucket holds the first layers
      const Bucket& bucket = buckets.list[b];
      const Workload& w = step_.workload();
      const Bytes bytes(bucket.bytes.count() / size_of(bucket.type) * size_of(w.precision.parameters));
      if (step_.ranks_of(buckets.slot) < 2) continue;
      const std::string id = fmt::format("{}bucket{}.gather", buckets.prefix(), b);
      buckets.gathered[b] = {
          step_.add_collective({.id = id,
                                .kind = CollectiveKind::kAllGather,
                                .bytes = padded(bytes, w.precision.parameters, step_.ranks_of(buckets.slot)),
                                .type = w.precision.parameters,
                                .phase = phase,
                                .layer = step_.model_layer(bucket.layer),
                                .microbatch = phase == Phase::kForward ? 0 : step_.microbatches() - 1,
                                .slot = buckets.slot},
                               phase == Phase::kForward ? OpIndices{} : step_.last_kernel())};
    }
}

// huggingface/nanotron, optim/zero.py (_all_gather_params) and distributed.py (all_gather_coalesced): a list
// of tensors is gathered as one, and every rank's part of every tensor copied by itself.
void ShardedOptimizerStep::copy_gathered(const Buckets& buckets) {
  if (step_.ranks_of(buckets.slot) < 2) return;
  std::int64_t tensors = 0, bytes = 0;
  OpIndices gathered;
  for (std::size_t b = 0; b < buckets.list.size(); ++b) {
    const Bucket& bucket = buckets.list[b];
    tensors += std::ssize(bucket.gradients);
    bytes += bucket.bytes.count() / size_of(bucket.type) * size_of(step_.workload().precision.parameters);
    gathered.insert(gathered.end(), buckets.gathered[b].begin(), buckets.gathered[b].end());
  }
  step_.add_copies({.id = buckets.prefix() + "parameters",
                    .parts = checked_mul(tensors, step_.ranks_of(buckets.slot), "parts of tensors"),
                    .bytes = Bytes(bytes)},
                   std::move(gathered));
}

void ShardedOptimizerStep::forward(const StageTask& task) {
  const bool gathers = sharding() == Sharding::kDistributed && task.microbatch == 0;
  if (gathers && task.chunk == 0) gather_all(Phase::kForward);
  const auto [first, last] = step_.chunk(task.chunk);
  for (std::size_t layer = first; layer < last; ++layer)
    step_.add_kernels({Phase::kForward, task.microbatch, layer},
                      gathers ? gathers_before(layer) : OpIndices{});
}

void ShardedOptimizerStep::backward(const StageTask& task) {
  const bool overlaps = sends(task.microbatch) && step_.workload().overlap.dp && !step_.weights_apart();
  const auto [first, last] = step_.chunk(task.chunk);
  for (std::size_t layer = last; layer-- > first;) {
    step_.add_kernels({Phase::kBackward, task.microbatch, layer});
    if (overlaps) scatter_through(layer, task.microbatch);
  }
}

void ShardedOptimizerStep::weights_done(const StageTask& task) {
  if (!sends(task.microbatch)) return;
  if (step_.weights_apart() && step_.workload().overlap.dp)
    scatter_through(step_.chunk(task.chunk).first, task.microbatch);
  if (task.chunk > 0) return;
  scatter_through(0, task.microbatch);
  if (every_microbatch())
    for (Buckets& buckets : buckets_) buckets.sent = 0;
}

void ShardedOptimizerStep::scatter_through(std::size_t layer, std::int64_t microbatch) {
  for (Buckets& buckets : buckets_)
    for (; buckets.sent < buckets.list.size() && buckets.list[buckets.sent].layer >= layer; ++buckets.sent)
      if (cuts_tensors(step_.workload()))
        sum_whole(buckets, microbatch);
      else
        scatter(buckets, microbatch);
}

// Every rank gets all sums and updates its own part: huggingface/nanotron, trainer.py (training_step, which
// asks for no reduce_scatter) and optim/gradient_accumulator.py (sync_gradients_across_dp).
void ShardedOptimizerStep::sum_whole(const Buckets& buckets, std::int64_t microbatch) {
  const Bucket& bucket = buckets.list[buckets.sent];
  step_.add_collective({.id = fmt::format("{}gradients{}", buckets.prefix(), buckets.sent),
                        .kind = CollectiveKind::kAllReduce,
                        .bytes = bucket.bytes,
                        .type = bucket.type,
                        .phase = Phase::kBackward,
                        .layer = step_.model_layer(bucket.layer),
                        .microbatch = microbatch,
                        .slot = buckets.slot == "shard" ? "dp" : buckets.slot},
                       step_.last_kernel());
}

// In groups of shard_size ranks, what a rank holds then is summed over the replicas, once all microbatches
// are in it.
void ShardedOptimizerStep::scatter(const Buckets& buckets, std::int64_t microbatch) {
  const Bucket& bucket = buckets.list[buckets.sent];
  const std::int64_t ranks = step_.ranks_of(buckets.slot);
  DpCollective collective{.id = fmt::format("{}mb{}.bucket{}", buckets.prefix(), microbatch, buckets.sent),
                          .kind = CollectiveKind::kReduceScatter,
                          .bytes = padded(bucket.bytes, bucket.type, ranks),
                          .type = bucket.type,
                          .phase = Phase::kBackward,
                          .layer = step_.model_layer(bucket.layer),
                          .microbatch = microbatch,
                          .slot = buckets.slot};
  OpIndices reduced = step_.last_kernel();
  if (ranks > 1) reduced = {step_.add_collective(collective, reduced)};
  if (buckets.slot != "shard" || microbatch + 1 < step_.microbatches()) return;
  collective.id += ".replicas";
  collective.kind = CollectiveKind::kAllReduce;
  collective.bytes = Bytes(collective.bytes.count() / ranks);
  collective.slot = "replica";
  step_.add_collective(collective, std::move(reduced));
}

MemoryUse ShardedOptimizerStep::memory() const {
  return stage_memory(step_.layers(), step_.workload(), step_.place().stage);
}

void ShardedOptimizerStep::finish() {
  std::int64_t common = 0, experts = 0;
  for (const Layer& layer : step_.layers()) {
    common = checked_add(common, layer.elements(), "the model");
    experts = checked_add(experts, layer.expert_elements(), "the model");
  }
  const auto shard = [&](std::int64_t elements, const char* slot) {
    const std::int64_t ranks = step_.ranks_of(slot);
    return (elements + ranks - 1) / ranks;
  };
  step_.add_optimizer(shard(common, "shard") + shard(experts, "edp"));
  if (buckets_.empty()) return;
  const bool at_start = sharding() == Sharding::kDistributed;
  if (!at_start) gather_all(Phase::kOptimizer);
  if (cuts_tensors(step_.workload())) {
    for (const Buckets& buckets : buckets_) copy_gathered(buckets);
    step_.assume(
        fmt::format("zero1: all gradients all-reduced in {} when backward has ended, parameters gathered "
                    "after the update and copied tensor by tensor",
                    name_of(step_.workload().precision.reduce)));
    return;
  }
  step_.assume(fmt::format("{}: gradients reduce-scattered in {} on {}, parameters gathered {}",
                           name_of(sharding()), name_of(step_.workload().precision.reduce),
                           every_microbatch() ? "every microbatch" : "the last microbatch",
                           at_start ? "before the forward that needs them" : "after the update"));
}

}  // namespace

StepTrace expand_sharded_optimizer(const Workload& workload) {
  return expand_stages<ShardedOptimizerStep>(workload);
}

}  // namespace busbar
