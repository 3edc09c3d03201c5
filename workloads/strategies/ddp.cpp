#include "workloads/strategies/ddp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/unit_text.h"
#include "workloads/memory.h"
#include "workloads/strategies/stages.h"

namespace busbar {

namespace {

constexpr Bytes kDefaultCap = 25_MiB;
constexpr Bytes kDefaultFirst = 1_MiB;
// HOROVOD_FUSION_THRESHOLD. Source: Horovod documentation, tensor fusion.
constexpr Bytes kFusionBuffer = 64_MiB;

void put(Bucket& bucket, std::size_t index, const GradientTensor& gradient) {
  bucket.layer = bucket.gradients.empty() ? gradient.layer : std::min(bucket.layer, gradient.layer);
  bucket.gradients.push_back(index);
  bucket.bytes = Bytes(checked_add(bucket.bytes.count(), gradient.bytes.count(), "the gradients' size"));
  bucket.type = gradient.type;
}

/// The open bucket of one type, and the size at which it closes.
struct Filling {
  Bucket bucket;
  Bytes cap;
};

/// One stage of a data-parallel step.
class DdpStep {
 public:
  explicit DdpStep(StepBuilder& step);
  void forward(const StageTask& task);
  void backward(const StageTask& task);
  void weights_done(const StageTask& task);
  void finish();
  [[nodiscard]] MemoryUse memory() const;

 private:
  struct Buckets {  // of one communicator
    std::string slot;
    std::vector<Bucket> list;
    std::size_t sent = 0;
  };
  void sum_through(std::size_t layer);
  void sum(const Buckets& buckets, std::size_t number);
  void describe();

  StepBuilder& step_;
  std::vector<Buckets> buckets_;
};

DdpStep::DdpStep(StepBuilder& step) : step_(step) {
  const Workload& w = step.workload();
  const BucketCaps caps = w.parallel.sharding == Sharding::kHorovod ? BucketCaps{kFusionBuffer, kFusionBuffer}
                                                                    : bucket_caps(w.ddp);
  for (const auto& [slot, experts] : {std::pair<std::string, bool>{"dp", false}, {"edp", true}}) {
    if (step.ranks_of(slot) < 2) continue;
    std::vector<Bucket> list = ddp_buckets(gradients_of(step.layers(), w.precision.reduce, experts), caps);
    if (!list.empty()) buckets_.push_back({slot, std::move(list)});
  }
}

void DdpStep::forward(const StageTask& task) {
  const auto [first, last] = step_.chunk(task.chunk);
  for (std::size_t layer = first; layer < last; ++layer)
    step_.add_kernels({Phase::kForward, task.microbatch, layer});
}

/// Earlier microbatches only accumulate: the last one's backward sends the sums.
void DdpStep::backward(const StageTask& task) {
  const bool sends =
      task.microbatch + 1 == step_.microbatches() && step_.workload().overlap.dp && !step_.weights_apart();
  const auto [first, last] = step_.chunk(task.chunk);
  for (std::size_t layer = last; layer-- > first;) {
    step_.add_kernels({Phase::kBackward, task.microbatch, layer});
    if (sends) sum_through(layer);
  }
}

void DdpStep::weights_done(const StageTask& task) {
  const bool ends = task.microbatch + 1 == step_.microbatches() && task.chunk == 0;
  const bool overlaps = step_.workload().overlap.dp;
  if (task.microbatch + 1 == step_.microbatches() && step_.weights_apart() && overlaps)
    sum_through(step_.chunk(task.chunk).first);
  if (ends) sum_through(0);
}

/// Sends the buckets whose gradients are complete once backward has passed `layer`. A bucket waits for those
/// before it.
void DdpStep::sum_through(std::size_t layer) {
  for (Buckets& buckets : buckets_)
    for (; buckets.sent < buckets.list.size() && buckets.list[buckets.sent].layer >= layer; ++buckets.sent)
      sum(buckets, buckets.sent);
}

void DdpStep::sum(const Buckets& buckets, std::size_t number) {
  const Bucket& bucket = buckets.list[number];
  const bool server = step_.workload().parallel.sharding == Sharding::kParameterServer;
  DpCollective collective{
      .id = fmt::format("{}bucket{}", buckets.slot == "dp" ? "" : buckets.slot + ".", number),
      .kind = server ? CollectiveKind::kReduce : CollectiveKind::kAllReduce,
      .bytes = bucket.bytes,
      .type = bucket.type,
      .phase = Phase::kBackward,
      .layer = step_.model_layer(bucket.layer),
      .microbatch = step_.microbatches() - 1,
      .slot = buckets.slot};
  const std::uint32_t reduced = step_.add_collective(collective, step_.last_kernel());
  if (!server) return;
  collective.id += ".pull";
  collective.kind = CollectiveKind::kBroadcast;
  step_.add_collective(collective, {reduced});
}

MemoryUse DdpStep::memory() const {
  return ddp_memory(step_.layers(), step_.workload(), step_.place().stage);
}

void DdpStep::describe() {
  if (buckets_.empty()) return;
  const Workload& w = step_.workload();
  const std::vector<Bucket>& list = buckets_.front().list;
  const BucketCaps caps = bucket_caps(w.ddp);
  if (w.parallel.sharding == Sharding::kNone)
    step_.assume(fmt::format("DDP: gradients all-reduced in {} as {} buckets, closed at {} (the first at {})",
                             name_of(w.precision.reduce), list.size(), to_text(caps.others),
                             to_text(caps.first)));
  if (w.parallel.sharding == Sharding::kHorovod)
    step_.assume(fmt::format("Horovod: gradients all-reduced in {} buffers of {}", list.size(),
                             to_text(kFusionBuffer)));
  if (w.parallel.sharding == Sharding::kParameterServer)
    step_.assume("parameter server: rank 0 of each group sums gradients and sends the parameters back");
  if (step_.microbatches() > 1)
    step_.assume(fmt::format("DDP: {} microbatches accumulate, only the last one's backward communicates",
                             step_.microbatches()));
  if (!w.overlap.dp) step_.assume("DDP: all-reduces start when backward has ended");
  if (w.overlap.dp && list.back().bytes > caps.others && w.parallel.sharding == Sharding::kNone)
    step_.warn(
        "exposed-bucket",
        fmt::format("the last bucket ({}) is complete only when backward ends: its all-reduce is exposed",
                    to_text(list.back().bytes)));
}

void DdpStep::finish() {
  std::int64_t elements = 0;
  for (const Layer& layer : step_.layers())
    elements = checked_add(elements, layer.elements() + layer.expert_elements(), "the model");
  step_.add_optimizer(elements);
  describe();
}

}  // namespace

BucketCaps bucket_caps(const DdpSpec& spec) {
  const Bytes first = spec.first_bucket.value_or(spec.bucket_cap.value_or(kDefaultFirst));
  return {first, spec.bucket_cap.value_or(kDefaultCap)};
}

std::vector<GradientTensor> gradients_of(const std::vector<Layer>& layers, DataType reduce, bool experts) {
  std::vector<GradientTensor> gradients;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const Tensor& tensor : experts ? layers[i].expert_tensors : layers[i].tensors) {
      const DataType type = tensor.type.value_or(reduce);
      gradients.push_back(
          {i, Bytes(checked_mul(tensor.elements, size_of(type), "the gradients' size")), type});
    }
  }
  return gradients;
}

std::vector<Bucket> ddp_buckets(std::span<const GradientTensor> gradients, const BucketCaps& caps) {
  std::vector<Bucket> buckets;
  std::map<DataType, Filling> open;
  for (std::size_t i = gradients.size(); i-- > 0;) {
    Filling& filling = open.try_emplace(gradients[i].type, Filling{{}, caps.first}).first->second;
    put(filling.bucket, i, gradients[i]);
    if (filling.bucket.bytes < filling.cap) continue;
    buckets.push_back(std::move(filling.bucket));
    filling = {{}, caps.others};
  }
  for (auto& [type, filling] : open)
    if (!filling.bucket.gradients.empty()) buckets.push_back(std::move(filling.bucket));
  return buckets;
}

MemoryUse ddp_memory(const std::vector<Layer>& layers, const Workload& w, std::int64_t stage) {
  MemoryUse use = stage_memory(layers, w, stage);
  const Layout layout(w.parallel);
  for (const auto& [slot, experts] : {std::pair<const char*, bool>{"dp", false}, {"edp", true}}) {
    if (layout.size(slot) < 2) continue;
    for (const GradientTensor& gradient : gradients_of(layers, w.precision.reduce, experts))
      use.buffers +=
          w.framework->buckets_as_parameters
              ? Bytes(gradient.bytes.count() / size_of(gradient.type) * size_of(w.precision.parameters))
              : gradient.bytes;
  }
  return use;
}

StepTrace expand_ddp(const Workload& workload) { return expand_stages<DdpStep>(workload); }

}  // namespace busbar
