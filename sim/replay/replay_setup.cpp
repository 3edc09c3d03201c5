// Before the first event: binding ranks to programs, pricing kernels, naming group kinds.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/replay/replay.h"

namespace busbar {

namespace {

std::string kind_name(const Program& program, const Op& op) {
  if (!op.group_kind.empty()) return op.group_kind;
  if (op.kind == OpKind::kCollective) return program.group_slots[op.group_slot];
  return "pp";
}

GroupKinds group_kinds(const StepTrace& trace) {
  GroupKinds kinds;
  for (const Program& program : trace.programs) {
    std::vector<std::uint32_t>& by_op = kinds.by_op.emplace_back();
    for (const Op& op : program.ops) {
      if (!communicates(op)) {
        by_op.push_back(0);
        continue;
      }
      const std::string name = kind_name(program, op);
      const auto it = std::find(kinds.names.begin(), kinds.names.end(), name);
      by_op.push_back(static_cast<std::uint32_t>(it - kinds.names.begin()));
      if (it == kinds.names.end()) kinds.names.push_back(name);
    }
  }
  return kinds;
}

}  // namespace

Replay::Replay(const Topology& topology, const StepTrace& trace, const Profile& profile,
               const Overrides& overrides)
    : topology_(&topology),
      trace_(&trace),
      profile_(&profile),
      index_(index_programs(trace)),
      placement_(topology, profile),
      plans_(trace, placement_, profile, overrides),
      rendezvous_(trace),
      strands_(placement_.capacities()),
      kernels_(gpus()),
      kinds_(group_kinds(trace)),
      exposure_(trace.ranks, kinds_.names.size()),
      forming_(trace.groups.size(), nullptr) {
  bind_ranks();
  price_kernels();
}

// A GPU without a model has no SMs or HBM that communication could take.
std::vector<KernelSet::Gpu> Replay::gpus() const {
  if (trace_->ranks > placement_.ranks())
    throw Error(
        {.where = trace_->name,
         .expected = fmt::format("at most the {} GPUs of {}", placement_.ranks(), quoted(topology_->name())),
         .given = fmt::format("{} ranks", trace_->ranks)});
  std::vector<KernelSet::Gpu> gpus(trace_->ranks,
                                   KernelSet::Gpu{std::int64_t{1} << 40, std::int64_t{1} << 60});
  for (std::uint32_t rank = 0; rank < trace_->ranks; ++rank) {
    const std::int32_t model = topology_->device(topology_->ranks()[rank]).gpu_model;
    if (model < 0) continue;
    const GpuModel& m = topology_->gpu_models()[static_cast<std::size_t>(model)];
    gpus[rank] = {std::max<std::int64_t>(1, m.sms),
                  static_cast<std::int64_t>(std::clamp(m.memory_bandwidth.Bps(), 1.0, 1e18))};
  }
  return gpus;
}

void Replay::bind_ranks() {
  ranks_.resize(trace_->ranks);
  timeline_of_rank_.assign(trace_->ranks, -1);
  std::vector<bool> shown(index_.programs.size(), false);
  for (std::uint32_t b = 0; b < trace_->bindings.size(); ++b)
    for (const std::uint32_t rank : expand(trace_->bindings[b].ranks)) {
      ranks_[rank].binding = b;
      ranks_[rank].program = index_.by_rank[rank];
    }
  for (std::uint32_t rank = 0; rank < trace_->ranks; ++rank) {
    RankState& r = ranks_[rank];
    const IndexedProgram& program = index_.programs[r.program];
    r.first_lane = static_cast<std::uint32_t>(lanes_.size());
    for (const auto& stream : program.streams) r.lanes_left += stream.empty() ? 0U : 1U;
    lanes_.resize(lanes_.size() + program.streams.size());
    rank_of_lane_.resize(lanes_.size(), rank);
    // One timeline per program: its lowest rank speaks for those that run the same.
    if (shown[r.program]) continue;
    shown[r.program] = true;
    timeline_of_rank_[rank] = static_cast<std::int32_t>(timelines_.size());
    timelines_.push_back({rank, program_of(rank).name, {}});
  }
}

void Replay::price_kernels() {
  for (std::uint32_t rank = 0; rank < trace_->ranks; ++rank) {
    const Device& device = topology_->device(topology_->ranks()[rank]);
    const std::uint32_t program = index_.programs[ranks_[rank].program].program;
    auto& demands = demands_[{program, device.gpu_model, device.compute}];  // a slowed GPU has its own prices
    demands_of_rank_.push_back(&demands);
    if (!demands.empty() || trace_->programs[program].ops.empty()) continue;
    GpuSpeed speed;
    if (device.gpu_model >= 0) {
      const GpuModel& m = topology_->gpu_models()[static_cast<std::size_t>(device.gpu_model)];
      speed = {m.name, m.peak, m.memory_bandwidth, m.sms};
    }
    for (const Op& op : trace_->programs[program].ops) {
      KernelDemand& d = demands.emplace_back();
      if (op.kind != OpKind::kCompute) continue;
      if (!op.work.duration && device.gpu_model < 0 && (op.work.flops > 0 || op.work.bytes > 0))
        throw Error(
            {.where = topology_->name(),
             .message = fmt::format("{} has no GPU model, which operation {} needs (or give it a duration)",
                                    quoted(device.id), quoted(op.id))});
      d = kernel_demand(op.work, speed, *profile_, placement_.generation(rank));
      d.sm_s /= device.compute;
    }
  }
}

}  // namespace busbar
