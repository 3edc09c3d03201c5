#include "sim/study/search_sharing.h"

#include <algorithm>
#include <cmath>

#include "workloads/strategies/ddp.h"
#include "workloads/strategies/fsdp.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

/// Elements of a bucket of the sharded optimizers (strategies/sharded_optimizer.cpp has the sources).
std::int64_t bucket_elements(const Workload& w, std::int64_t ranks) {
  if (w.parallel.sharding != Sharding::kDistributed) return 500'000'000;
  return std::max<std::int64_t>(40'000'000, 1'000'000 * ranks);
}

/// Prices the exchanges of one communicator.
class Priced {
 public:
  Priced(CollectiveTimes& times, std::vector<std::uint32_t> ranks)
      : times_(times), ranks_(std::move(ranks)) {}
  [[nodiscard]] std::int64_t ranks() const { return std::ssize(ranks_); }
  [[nodiscard]] LoneTime of(CollectiveKind kind, std::int64_t elements, DataType type) const {
    const std::int64_t n = std::max<std::int64_t>(1, ranks());
    const std::int64_t padded = (elements + n - 1) / n * n;  // shards are equal
    return times_.collective(ranks_, kind, Bytes(padded * size_of(type)), type);
  }

 private:
  CollectiveTimes& times_;
  std::vector<std::uint32_t> ranks_;
};

/// `elements` in pieces of about `each`: what all and one of them take.
struct Pieces {
  double all = 0, one = 0, least = 0, sms = 0;
};
Pieces pieces(const Priced& group, CollectiveKind kind, std::int64_t elements, std::int64_t each,
              DataType type) {
  if (elements == 0 || group.ranks() < 2) return {};
  const std::int64_t count = std::max<std::int64_t>(1, (elements + each / 2) / each);
  const LoneTime one = group.of(kind, (elements + count - 1) / count, type);
  const LoneTime whole = group.of(kind, elements, type);
  return {static_cast<double>(count) * one.shared, one.shared, whole.seconds, one.sms};
}

class Sharing {
 public:
  Sharing(const Workload& w, const StageTimes& stages, CollectiveTimes& times)
      : w_(w), stages_(stages), times_(times), layout_(w.parallel) {}

  SharingTime run() {
    switch (w_.parallel.sharding) {
      case Sharding::kNone:
      case Sharding::kHorovod:
      case Sharding::kParameterServer:
        whole_replicas("dp", false);
        whole_replicas("edp", true);
        break;
      case Sharding::kZero1:
      case Sharding::kZero2:
      case Sharding::kDistributed:
        sharded_optimizer(shard_slot(w_), stages_.common.front());
        sharded_optimizer("edp", stages_.experts.front());
        break;
      case Sharding::kZero3:
      case Sharding::kFsdp:
      case Sharding::kHsdp:
        sharded_parameters();
        break;
    }
    return t_;
  }

 private:
  [[nodiscard]] Priced group(const std::string& slot) const { return {times_, layout_.members(slot, {})}; }

  void note(const Pieces& p) { t_.sms = std::max(t_.sms, p.sms); }

  void at_end(const Pieces& p) {
    t_.at_end += p.all;
    t_.at_end_last = std::max(t_.at_end_last, p.one);
    t_.least_at_end = std::max(t_.least_at_end, p.least);
    note(p);
  }

  // A bucket closes when it is full, and a gradient is never split: one layer's own buckets stand for all.
  void whole_replicas(const char* slot, bool experts) {
    const Priced ranks = group(slot);
    if (ranks.ranks() < 2) return;
    const DataType type = w_.precision.reduce;
    std::int64_t elements = 0, largest = 1;
    for (const Layer* layer : stages_.first_layers)
      for (const Tensor& tensor : experts ? layer->expert_tensors : layer->tensors) {
        elements += tensor.elements;
        if (layer->is_block) largest = std::max(largest, tensor.elements);
      }
    const std::int64_t cap = bucket_caps(w_.ddp).others.count() / size_of(type);
    Pieces p = pieces(ranks, CollectiveKind::kAllReduce, elements, std::max(cap, largest), type);
    // The embedding's gradient is the last to be there.
    if (!experts && !stages_.first_layers.empty() && !stages_.first_layers.front()->is_block)
      p.one =
          std::max(p.one, ranks
                              .of(CollectiveKind::kAllReduce,
                                  std::max<std::int64_t>(1, stages_.first_layers.front()->elements()), type)
                              .shared);
    at_end(p);
  }

  void sharded_optimizer(const std::string& slot, std::int64_t elements) {
    const Priced ranks = group(slot);
    if (ranks.ranks() < 2 || elements == 0) return;
    if (cuts_tensors(w_)) return whole_gradients(slot, elements);
    const std::int64_t each = bucket_elements(w_, layout_.size(slot == "edp" ? "edp" : "dp"));
    const Pieces reduce = pieces(ranks, CollectiveKind::kReduceScatter, elements, each, w_.precision.reduce);
    const Pieces gather = pieces(ranks, CollectiveKind::kAllGather, elements, each, w_.precision.parameters);
    const double passes = static_cast<double>(microbatches_of(w_));
    const bool every = w_.parallel.sharding == Sharding::kZero2;
    t_.least = std::max(t_.least, (every ? passes : 1) * reduce.least + gather.least);
    if (every) {
      t_.per_backward += reduce.all;
      note(reduce);
    } else {
      at_end(reduce);
    }
    if (slot == "shard") replicas(elements / ranks.ranks());
    if (w_.parallel.sharding == Sharding::kDistributed) {
      t_.at_start += gather.all;
      t_.at_start_first = std::max(t_.at_start_first, gather.one);
    } else {
      t_.after += gather.all;
    }
  }

  // ZeRO-1 tensor by tensor: one sum that nothing hides, one gather, and copies that the host launches.
  void whole_gradients(const std::string& slot, std::int64_t elements) {
    const Priced all = group(slot == "shard" ? "dp" : slot), ranks = group(slot);
    const Pieces sum = pieces(all, CollectiveKind::kAllReduce, elements, elements, w_.precision.reduce);
    const Pieces gather =
        pieces(ranks, CollectiveKind::kAllGather, elements, elements, w_.precision.parameters);
    at_end(sum);
    t_.after += gather.all;
    t_.least = std::max(t_.least, sum.least + gather.least);
    std::int64_t tensors = 0;
    for (const Layer* layer : stages_.first_layers)
      tensors += std::ssize(slot == "edp" ? layer->expert_tensors : layer->tensors);
    t_.host += static_cast<double>(tensors * ranks.ranks()) * copy_launch(w_.launch).seconds();
  }

  void replicas(std::int64_t elements) {
    const Priced ranks = group("replica");
    at_end(pieces(ranks, CollectiveKind::kAllReduce, elements, std::max<std::int64_t>(1, elements),
                  w_.precision.reduce));
  }

  // Block by block; the first gather of a microbatch has nothing to hide behind.
  void sharded_parameters() {
    const std::int64_t blocks = std::max<std::int64_t>(1, stages_.blocks.front());
    std::int64_t block_elements = 0;
    for (const Layer* layer : stages_.first_layers)
      if (layer->is_block) block_elements += layer->elements();
    const std::int64_t root = stages_.common.front() - block_elements;
    unit(shard_slot(w_), block_elements, blocks);
    unit("edp", stages_.experts.front(), blocks);
    const Priced ranks = group(shard_slot(w_));
    if (ranks.ranks() < 2) return;
    if (root > 0) {
      const double gather = ranks.of(CollectiveKind::kAllGather, root, w_.precision.parameters).shared;
      const double reduce = ranks.of(CollectiveKind::kReduceScatter, root, w_.precision.reduce).shared;
      t_.per_forward += gather;
      t_.per_backward += reduce;
      t_.first += gather;
    }
    if (layout_.size("replica") > 1 && shard_slot(w_) == "shard")
      replicas(stages_.common.front() / ranks.ranks());
  }

  void unit(const std::string& slot, std::int64_t elements, std::int64_t blocks) {
    const Priced ranks = group(slot);
    if (ranks.ranks() < 2 || elements == 0) return;
    const std::int64_t each = std::max<std::int64_t>(1, elements / blocks);
    const Pieces gather = pieces(ranks, CollectiveKind::kAllGather, elements, each, w_.precision.parameters);
    const Pieces reduce = pieces(ranks, CollectiveKind::kReduceScatter, elements, each, w_.precision.reduce);
    const bool again = w_.fsdp.reshard_after_forward;
    t_.per_forward += gather.all;
    t_.per_backward += reduce.all + (again ? gather.all : 0);
    t_.first += gather.one;
    const double gathers = again ? 2 : 1;
    const double passes = static_cast<double>(microbatches_of(w_));
    const bool every = again || w_.parallel.pp == 1;
    t_.least = std::max(t_.least, passes * reduce.least + (every ? passes : 1) * gathers * gather.least);
    note(gather);
    note(reduce);
  }

  const Workload& w_;
  const StageTimes& stages_;
  CollectiveTimes& times_;
  Layout layout_;
  SharingTime t_;
};

}  // namespace

SharingTime sharing_time(const Workload& workload, const StageTimes& stages, CollectiveTimes& times,
                         double sms) {
  SharingTime time = Sharing(workload, stages, times).run();
  time.sms = sms > 0 ? std::min(0.5, time.sms / sms) : 0;
  return time;
}

}  // namespace busbar
