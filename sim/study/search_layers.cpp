#include "sim/study/search_layers.h"

#include <algorithm>
#include <numeric>

#include "sim/base/error.h"
#include "sim/replay/step_figures.h"
#include "workloads/strategies/layout.h"
#include "workloads/strategies/pipeline.h"

namespace busbar {

namespace {

GpuSpeed speed_of(const Topology& topology) {
  const std::int32_t model = topology.device(topology.ranks().front()).gpu_model;
  if (model < 0)
    throw Error(
        {.where = topology.name(), .message = "planning needs GPUs whose model is known (--list gpus)"});
  const GpuModel& m = topology.gpu_models()[static_cast<std::size_t>(model)];
  return {m.name, m.peak, m.memory_bandwidth, m.sms};
}

/// The first blocks that are alone of their kind, and after how many the others repeat.
std::pair<std::int64_t, std::int64_t> repetition(const Workload& w) {
  std::int64_t unique = 0, period = 1;
  if (w.model.transformer && w.model.transformer->experts) {
    unique = w.model.transformer->experts->dense_layers;
    period = w.model.transformer->experts->every;
  }
  if (w.recompute == Recompute::kSelective)
    period = std::lcm(period, std::max<std::int64_t>(1, w.framework->selective_every));
  return {unique, period};
}

/// One microbatch on one stage of a model whose blocks stand twice each: the second time they follow blocks
/// like themselves.
Workload small_step(const Workload& base, const Candidate& c) {
  Candidate one = c;
  one.pp = one.virtual_stages = 1;
  one.sharding = Sharding::kNone;
  one.shard_size.reset();
  if (!keeps_weights_apart(c.schedule)) one.schedule = PipelineSchedule::k1f1b;
  const std::int64_t experts = one.ep;  // etp is 1
  one.dp = experts / std::gcd(experts, one.tp * one.cp);
  Workload w = workload_of(base, one);
  w.batch.global = w.batch.micro * w.parallel.dp;
  if (w.model.transformer) {
    const auto [unique, period] = repetition(w);
    w.model.transformer->layers = std::min(w.model.transformer->layers, unique + 2 * period);
  }
  return w;
}

bool shares_gradients(const Op& op) {
  return op.group_kind == "dp" || op.group_kind == "edp" || op.group_kind == "embedding" ||
         op.phase == Phase::kOptimizer;
}

/// Seconds of each operation of a program.
struct Durations {
  std::vector<double> expected, least;
};

/// Operations in order, each when its stream and what it waits for are done; launches run ahead.
std::vector<LayerTime> run_in_order(const Program& program, std::size_t layers,
                                    const std::vector<double>& seconds, bool apart) {
  std::vector<LayerTime> times(layers);
  std::vector<double> end(program.ops.size(), 0), stream(program.streams.size(), 0);
  std::vector<std::vector<bool>> begun(layers, std::vector<bool>(3, false));
  double last = 0;  // end of the kernel before
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    double start = stream[op.stream];
    for (const std::uint32_t before : op.after) start = std::max(start, end[before]);
    const double taken = op.kind == OpKind::kHost ? 0 : seconds[i];
    end[i] = stream[op.stream] = start + taken;
    if (op.phase == Phase::kOptimizer || op.layer < 0) continue;
    LayerTime& layer = times[static_cast<std::size_t>(op.layer)];
    if (op.kind == OpKind::kHost) layer.host += seconds[i];
    if (op.kind != OpKind::kCompute) continue;
    const bool weights = apart && op.id.ends_with(".wgrad");
    const std::size_t pass = weights ? 2 : op.phase == Phase::kForward ? 0 : 1;
    PassTime& time = pass == 2 ? layer.weights : pass == 0 ? layer.forward : layer.backward;
    auto first = begun[static_cast<std::size_t>(op.layer)].begin() + static_cast<std::ptrdiff_t>(pass);
    if (!*first) time.lead += start - last;
    *first = true;
    time.time += end[i] - last;
    last = end[i];
  }
  return times;
}

double sum_of(const std::vector<LayerTime>& times) {
  double sum = 0;
  for (const LayerTime& t : times) sum += t.forward.time + t.backward.time + t.weights.time;
  return sum;
}

}  // namespace

std::size_t CutTimes::index(std::int64_t i, std::int64_t blocks) const {
  const std::int64_t kept = std::ssize(expected) - 2;  // without embedding and head
  if (i > blocks) return expected.size() - 1;
  const std::int64_t block = i - 1;
  if (i == 0 || block < unique_blocks + period || kept < unique_blocks + 2 * period)
    return static_cast<std::size_t>(i);
  return static_cast<std::size_t>(1 + unique_blocks + period + (block - unique_blocks) % period);
}

LayerTimes::LayerTimes(const Workload& base, const Topology& topology, const Profile& profile,
                       CollectiveTimes& times)
    : base_(base), gpu_(speed_of(topology)), times_(times) {
  Candidate one;
  one.micro = 1;
  profile_ = with_shares_of(expand(small_step(base, one)), profile);
  generation_ = generation_of(profile_, gpu_.model).generation;
}

double LayerTimes::kernel_seconds(const KernelWork& work) const {
  const KernelDemand demand = kernel_demand(work, gpu_, profile_, *generation_);
  return std::max(demand.sm_s, demand.memory_s);
}

double LayerTimes::traffic_seconds(double bytes) const {
  KernelWork work;
  work.type = DataType::kFp32;
  work.bytes = bytes;
  return kernel_seconds(work);
}

const CutTimes& LayerTimes::of(const Candidate& c) {
  const bool spread = c.ep > c.tp * c.cp && !c.stages_outside;  // experts' ranks lie pp apart
  const Key key{c.tp, c.cp, c.ep, c.micro, c.recompute, keeps_weights_apart(c.schedule), spread ? c.pp : 1};
  const std::scoped_lock lock(mutex_);
  const auto [it, is_new] = by_cut_.try_emplace(key);
  if (is_new) it->second = measure(c);
  return it->second;
}

CutTimes LayerTimes::measure(const Candidate& c) {
  const Workload small = small_step(base_, c);
  const StepTrace trace = expand(small);
  const Layout layout(workload_of(base_, c).parallel);
  std::map<std::string, std::vector<std::uint32_t>> members;
  const auto ranks_of = [&](const std::string& slot) -> const std::vector<std::uint32_t>& {
    const auto [it, is_new] = members.try_emplace(slot);
    if (is_new) it->second = layout.members(slot, {});
    return it->second;
  };
  CutTimes cut;
  std::tie(cut.unique_blocks, cut.period) = repetition(small);
  const LayerBatch batch{small.batch.micro, small.batch.sequence, small.precision.compute};
  cut.layers = layers_of(small.model, batch, cut_of(small));
  for (const Program& program : trace.programs) {  // several where experts are loaded unevenly
    Durations d;
    for (const Op& op : program.ops) {
      double expected = 0, least = 0;
      if (op.kind == OpKind::kCompute || op.kind == OpKind::kHost) {
        expected = least = op.kind == OpKind::kHost ? op.work->duration->seconds() : kernel_seconds(*op.work);
      } else if (op.kind == OpKind::kCollective && !shares_gradients(op)) {
        const LoneTime t =
            times_.collective(ranks_of(program.group_slots[op.group_slot]), op.collective, op.bytes, op.type);
        expected = t.shared;
        least = op.splits ? 0 : t.seconds;  // an uneven exchange may be shorter than an even one of its size
      }
      d.expected.push_back(expected);
      d.least.push_back(least);
    }
    const bool apart = keeps_weights_apart(c.schedule);
    std::vector<LayerTime> times = run_in_order(program, cut.layers.size(), d.expected, apart);
    if (sum_of(times) <= sum_of(cut.expected)) continue;
    cut.expected = std::move(times);
    cut.least = run_in_order(program, cut.layers.size(), d.least, apart);
  }
  return cut;
}

}  // namespace busbar
