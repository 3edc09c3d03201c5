#include "workloads/strategies/ddp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/unit_text.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

constexpr Bytes kDefaultCap = 25_MiB;
constexpr Bytes kDefaultFirst = 1_MiB;

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

/// Expands one workload.
class DdpStep {
 public:
  explicit DdpStep(const Workload& workload);
  StepTrace expand();

 private:
  void forward(std::int64_t microbatch);
  void backward(std::int64_t microbatch);
  void all_reduce_through(std::size_t layer);
  void describe();
  [[nodiscard]] MemoryUse memory() const;

  const Workload& workload_;
  StepBuilder step_;
  std::vector<Bucket> buckets_;
  std::size_t sent_ = 0;
};

DdpStep::DdpStep(const Workload& workload) : workload_(workload), step_(workload) {
  if (!step_.communicates()) return;
  buckets_ = ddp_buckets(gradients_of(step_.layers(), workload.precision.reduce), bucket_caps(workload.ddp));
}

void DdpStep::forward(std::int64_t microbatch) {
  for (std::size_t layer = 0; layer < step_.layers().size(); ++layer)
    step_.add_kernels({Phase::kForward, microbatch, layer});
}

/// Earlier microbatches only accumulate: the last one's backward sends the sums.
void DdpStep::backward(std::int64_t microbatch) {
  const bool last = microbatch + 1 == step_.microbatches();
  for (std::size_t layer = step_.layers().size(); layer-- > 0;) {
    step_.add_kernels({Phase::kBackward, microbatch, layer});
    if (last && workload_.overlap_dp) all_reduce_through(layer);
  }
  if (last) all_reduce_through(0);
}

/// Sends the buckets whose gradients are complete once backward has passed `layer`. A bucket waits for those
/// before it.
void DdpStep::all_reduce_through(std::size_t layer) {
  for (; sent_ < buckets_.size() && buckets_[sent_].layer >= layer; ++sent_) {
    const Bucket& bucket = buckets_[sent_];
    step_.add_collective({.id = fmt::format("bucket{}", sent_),
                          .kind = CollectiveKind::kAllReduce,
                          .bytes = bucket.bytes,
                          .type = bucket.type,
                          .phase = Phase::kBackward,
                          .layer = static_cast<std::int32_t>(bucket.layer),
                          .microbatch = step_.microbatches() - 1},
                         step_.last_kernel());
  }
}

/// Buckets are one more copy of the gradients (gradient_as_bucket_view is off by default).
MemoryUse DdpStep::memory() const {
  MemoryUse use = states_and_activations(step_.layers(), workload_);
  for (const Bucket& bucket : buckets_) use.buffers += bucket.bytes;
  return use;
}

void DdpStep::describe() {
  if (buckets_.empty()) return;
  const BucketCaps caps = bucket_caps(workload_.ddp);
  step_.assume(fmt::format("DDP: gradients all-reduced in {} as {} buckets, closed at {} (the first at {})",
                           name_of(workload_.precision.reduce), buckets_.size(), to_text(caps.others),
                           to_text(caps.first)));
  if (step_.microbatches() > 1)
    step_.assume(fmt::format("DDP: {} microbatches accumulate, only the last one's backward communicates",
                             step_.microbatches()));
  if (!workload_.overlap_dp) step_.assume("DDP: all-reduces start when backward has ended");
  if (workload_.overlap_dp && buckets_.back().bytes > caps.others)
    step_.warn(
        fmt::format("the last bucket ({}) is complete only when backward ends: its all-reduce is exposed",
                    to_text(buckets_.back().bytes)));
}

StepTrace DdpStep::expand() {
  for (std::int64_t microbatch = 0; microbatch < step_.microbatches(); ++microbatch) {
    forward(microbatch);
    backward(microbatch);
  }
  step_.add_optimizer(parameter_count(workload_.model));
  describe();
  return step_.finish(memory());
}

}  // namespace

BucketCaps bucket_caps(const DdpSpec& spec) {
  const Bytes first = spec.first_bucket.value_or(spec.bucket_cap.value_or(kDefaultFirst));
  return {first, spec.bucket_cap.value_or(kDefaultCap)};
}

std::vector<GradientTensor> gradients_of(const std::vector<Layer>& layers, DataType reduce) {
  std::vector<GradientTensor> gradients;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const Tensor& tensor : layers[i].tensors) {
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

StepTrace expand_ddp(const Workload& workload) { return DdpStep(workload).expand(); }

}  // namespace busbar
