// What launching kernels and collectives takes the host.
#include <fmt/format.h>

#include <utility>

#include "workloads/strategies/exchange.h"
#include "workloads/strategies/step_builder.h"

namespace busbar {

namespace {

// One small operation of PyTorch, without gradients: pytorch/pytorch issue 41383.
constexpr double kCopyLaunchUs = 5;

}  // namespace

Time copy_launch(const LaunchSpec& launch) {
  return launch.copy.value_or(Time::from_microseconds(kCopyLaunchUs));
}

// A block's kernels, and every collective for each of its members.
Time StepBuilder::launch_time(const LayerPass& pass) const {
  const Framework& f = *workload_.framework;
  const LaunchSpec& launch = workload_.launch;
  const Layer& layer = layers_[pass.layer];
  const bool is_forward = pass.phase == Phase::kForward;
  const Time forward = launch.forward.value_or(Time::from_microseconds(f.block_forward_us));
  Time time;
  if (layer.is_block && is_forward) time = forward;
  if (layer.name == "head")
    time = Time::from_microseconds(is_forward ? f.head_forward_us : f.head_backward_us);
  if (layer.is_block && !is_forward) {
    time = launch.backward.value_or(Time::from_microseconds(f.block_backward_us));
    if (workload_.recompute == Recompute::kFull) time += forward;
  }
  if (launch.member == Time()) return time;
  std::int64_t members = 0;
  for (const LayerStep& step : is_forward ? layer.forward : layer.backward)
    if (step.communication)
      if (const auto ranks = ranks_of(slot_of(step.communication->exchange)); ranks > 1) members += ranks;
  return time + launch.member * members;
}

// The host launches block after block, ahead of the GPU while it can.
void StepBuilder::add_launches(const LayerPass& pass) {
  const Time time = launch_time(pass);
  if (time == Time()) return;
  Op op;
  op.id = prefix_of(pass) + "launches";
  op.kind = OpKind::kHost;
  op.work = KernelWork{.duration = time};
  op.phase = pass.phase;
  op.layer = model_layer_[pass.layer];
  op.microbatch = static_cast<std::int32_t>(pass.microbatch);
  op.after = std::exchange(host_waits_for_, {});
  waiting_.push_back(add(std::move(op), "host"));
}

// The small collectives of a step's end: all but their cost to the host is lost beside the others.
OpIndices StepBuilder::add_step_collectives() {
  const std::int64_t count = workload_.framework->step_collectives;
  if (count == 0 || workload_.launch.member == Time()) return {};
  Op op;
  op.id = "step.launches";
  op.kind = OpKind::kHost;
  op.work = KernelWork{.duration = workload_.launch.member * (count * workload_.parallel.world())};
  op.phase = Phase::kOptimizer;
  op.after = last_kernel();
  return {add(std::move(op), "host")};
}

// The host launches a copy for each part, ahead of the gather where it can.
void StepBuilder::add_copies(const GatheredParts& gathered, OpIndices after) {
  Op host;
  host.id = gathered.id + ".copies.launch";
  host.kind = OpKind::kHost;
  host.work = KernelWork{.duration = copy_launch(workload_.launch) * gathered.parts};
  host.phase = Phase::kOptimizer;
  after.push_back(add(std::move(host), "host"));
  Op op;
  op.id = gathered.id + ".copies";
  op.work = KernelWork{.bytes = kCopyTraffic * static_cast<double>(gathered.bytes.count()),
                       .type = workload_.precision.parameters};
  op.phase = Phase::kOptimizer;
  op.after = std::move(after);
  last_kernel_ = add(std::move(op), kComputeStream);
}

std::uint32_t StepBuilder::add_collective_launch(const DpCollective& collective) {
  Op op;
  op.id = collective.id + ".launch";
  op.kind = OpKind::kHost;
  op.work = KernelWork{.duration = workload_.launch.member * ranks_of(collective.slot)};
  op.phase = collective.phase;
  op.layer = collective.layer;
  op.microbatch = static_cast<std::int32_t>(collective.microbatch);
  return add(std::move(op), "host");
}

// In order with all other launches, so that a slow message holds up the kernels behind it.
OpIndices StepBuilder::add_message_launch(const Op& message) {
  if (workload_.launch.message == Time()) return {};
  Op op;
  op.id = message.id + ".launch";
  op.kind = OpKind::kHost;
  op.work = KernelWork{.duration = workload_.launch.message};
  op.phase = message.phase;
  op.microbatch = message.microbatch;
  return {add(std::move(op), "host")};
}

}  // namespace busbar
