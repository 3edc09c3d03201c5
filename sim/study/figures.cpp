#include "sim/study/figures.h"

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr double kHour = 3600;
// State that a checkpoint keeps for each parameter: fp32 master copy and AdamW's two moments, as the sharded
// optimizers of PyTorch and Megatron write them.
constexpr double kStateBytes = 12;
constexpr double kSpareProbability = 0.99;
// Drawn runs are long enough for some thousand failures at the best interval, and not longer than that.
constexpr double kDrawnFailures = 2000;

// Hosts that stand by are as those that train, with as many ports each, rounded up.
ClusterSize spares_of(const FigureInputs& inputs) {
  const ClusterSize& size = inputs.size;
  if (inputs.failures.spares == 0 || size.hosts == 0) return {};
  const auto part = [&](std::int64_t of) {
    return (checked_mul(of, inputs.failures.spares, "what spare hosts have") + size.hosts - 1) / size.hosts;
  };
  return {.gpus = part(size.gpus), .hosts = inputs.failures.spares, .ports = part(size.ports)};
}

ClusterSize sum_of(const ClusterSize& a, const ClusterSize& b) {
  return {.gpus = a.gpus + b.gpus, .hosts = a.hosts + b.hosts, .ports = a.ports + b.ports};
}

}  // namespace

double RuleOfSix::seconds(double mfu) const { return 6 * parameters * tokens / (gpus * peak_flops * mfu); }
double RuleOfSix::gpu_hours(double mfu) const { return seconds(mfu) * gpus / kHour; }
double RuleOfSix::mfu(double seconds) const {
  return 6 * parameters * tokens / (gpus * peak_flops * seconds);
}

GoodputRecord goodput_of(const FigureInputs& inputs, double step_s, std::optional<double> training_s) {
  const FailureSpec& f = inputs.failures;
  const auto hosts = static_cast<double>(std::max<std::int64_t>(1, inputs.size.hosts));
  FailureModel model{
      .asynchronous = f.asynchronous, .restart_s = f.restart_s, .repair_s = f.repair_s, .spares = f.spares};
  if (f.gpu_mtbf_s) model.mtbf_s = *f.gpu_mtbf_s / static_cast<double>(inputs.size.gpus);
  if (f.storage_Bps) {
    model.checkpoint_bytes =
        f.checkpoint_bytes.value_or(f.bytes_per_parameter.value_or(kStateBytes) * inputs.parameters);
    model.storage_Bps = *f.storage_Bps;
    model.staging_Bps = f.staging_Bps ? *f.staging_Bps * hosts : *f.storage_Bps;
  }
  GoodputRecord record{.mtbf_s = model.mtbf_s,
                       .checkpoint_bytes = model.checkpoint_bytes,
                       .stall_s = model.stall_s(),
                       .write_s = model.write_s(),
                       .young_s = young_interval(model),
                       .daly_s = daly_interval(model),
                       .spares = f.spares,
                       .spares_needed = spares_for(model, kSpareProbability)};
  const double drawn_s = std::max(training_s.value_or(0), kDrawnFailures * model.mtbf_s);
  const bool has_both = model.mtbf_s > 0 && record.stall_s > 0;
  record.simulated_s = has_both ? simulated_interval(model, drawn_s, inputs.seed) : record.daly_s;
  record.interval_s = record.simulated_s;
  if (f.interval_steps) record.interval_s = static_cast<double>(*f.interval_steps) * step_s;
  if (f.interval_s) record.interval_s = *f.interval_s;
  record.stall_share = 1 - checkpoint_share(model, record.interval_s);
  record.expected = expected_goodput(model, record.interval_s);
  if (model.mtbf_s > 0 && std::isfinite(record.interval_s) && record.interval_s > 0) {
    const GoodputRun run = simulate_goodput(model, record.interval_s, drawn_s, inputs.seed);
    record.simulated = run.goodput;
    record.waiting = run.waiting;
    record.failures = run.failures;
  } else {
    record.simulated = record.expected;
  }
  return record;
}

PlanFigures plan_figures(const StepFigures& step, const FigureInputs& inputs,
                         const std::optional<GoodputRecord>& failures) {
  const auto gpus = static_cast<double>(inputs.size.gpus);
  PlanFigures f{
      .step_s = step.step_s, .tokens_per_s = step.tokens / step.step_s, .memory_bytes = step.memory_bytes()};
  f.tokens_per_s_gpu = f.tokens_per_s / gpus;
  f.flops_per_gpu = step.model_flops / step.step_s / gpus;
  if (step.peak_flops > 0 && step.model_flops > 0) f.mfu = f.flops_per_gpu / step.peak_flops;
  f.headroom_bytes = inputs.capacity_bytes - f.memory_bytes;
  std::optional<double> pure_s;
  if (inputs.tokens && f.tokens_per_s > 0) pure_s = *inputs.tokens / f.tokens_per_s;
  f.failures = failures;
  if (failures) f.goodput = failures->simulated;
  const double per_1e12 = 1e12 / f.tokens_per_s / std::max(f.goodput, 1e-9);
  const ClusterSize spares = spares_of(inputs), all = sum_of(inputs.size, spares);
  f.cost_per_1e12_tokens = cost_of(inputs.prices, all, per_1e12);
  if (!pure_s) return f;
  f.train_s = *pure_s / std::max(f.goodput, 1e-9);
  f.gpu_hours = *f.train_s * gpus / kHour;
  f.cost = cost_of(inputs.prices, all, *f.train_s);
  f.energy_j = energy_of(inputs.prices, all, *f.train_s);
  if (spares.hosts == 0) return f;
  f.spare_gpu_hours = *f.train_s * static_cast<double>(spares.gpus) / kHour;
  f.spare_cost = cost_of(inputs.prices, spares, *f.train_s);
  f.spare_energy_j = energy_of(inputs.prices, spares, *f.train_s);
  return f;
}

}  // namespace busbar
