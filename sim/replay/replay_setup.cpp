// Before the first event: who takes part, what their kernels cost, which program each runs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <unordered_map>

#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "sim/replay/implied_links.h"
#include "sim/replay/replay.h"
#include "sim/symmetry/colour_refinement.h"

namespace busbar {

Replay::Replay(const Topology& topology, const StepTrace& trace, const Profile& profile,
               const ReplayOptions& options)
    : topology_(&topology),
      trace_(&trace),
      profile_(&profile),
      index_(index_programs(trace)),
      placement_(topology, profile, options.scales),
      plans_(trace, placement_, profile, options.overrides),
      kinds_(group_kinds(trace)),
      calls_(trace, kinds_),
      implied_(find_implied()),
      implied_at_(placement_.sort_capacities()),
      keeps_timelines_(options.timelines),
      ends_only_(options.ends_only),
      system_(find_system(options)),
      rendezvous_(trace, system_),
      strands_(placement_.capacities(), implied_, system_.links_replayed()),
      kernels_(gpus()),
      exposure_(system_.players.size(), kinds_.names.size()),
      forming_(system_.meetings.size(), nullptr) {
  seat_players();
}

// Reductions in the network's switches begin and end there: no link follows from others.
std::vector<bool> Replay::find_implied() const {
  if (topology_->in_network_reduction() || plans_.overrides().algorithm)
    return std::vector<bool>(topology_->links().size(), false);
  return implied_links(*topology_, placement_.capacities(), placement_.shapes());
}

System Replay::find_system(const ReplayOptions& options) {
  if (trace_->ranks > placement_.ranks())
    throw Error(
        {.where = trace_->name,
         .expected = fmt::format("at most the {} GPUs of {}", placement_.ranks(), quoted(topology_->name())),
         .given = fmt::format("{} ranks", trace_->ranks)});
  slow_ranks();
  price_kernels();
  const SystemParts parts{trace_, &index_, &calls_, &kinds_, &plans_, &placement_, &implied_};
  return options.symmetry ? merged_system(parts, colours(options.apart)) : whole_system(parts);
}

// What a rank or a link brings along: its kernels' times and its GPU; its capacity and what reports call it.
SystemColours Replay::colours(std::span<const std::uint32_t> apart) const {
  SystemColours colours;
  for (std::uint32_t rank = 0; rank < trace_->ranks; ++rank) {
    const KernelSet::Gpu gpu = gpu_of(rank);
    colours.ranks.push_back(mix(mix(demands_of_rank_[rank], static_cast<std::uint64_t>(gpu.sms)),
                                static_cast<std::uint64_t>(gpu.memory_Bps)));
    if (!slowdown_.empty())
      colours.ranks.back() = mix(colours.ranks.back(), std::bit_cast<std::uint64_t>(slowdown_[rank]));
  }
  for (const std::uint32_t rank : apart)
    if (rank < trace_->ranks) colours.ranks[rank] = mix(colours.ranks[rank], rank + 1);
  colour_links(colours);
  return colours;
}

// Like the name of a link's class: the type, in the network the roles of both ends.
void Replay::colour_links(SystemColours& colours) const {
  const Topology& t = *topology_;
  std::vector<std::uint64_t> roles(kDeviceKinds, 0);  // of devices that all of their kind share
  std::unordered_map<DeviceId, std::uint64_t> switches;
  DeviceId last_switch;
  std::uint64_t last_role = 0;
  const auto role = [&](DeviceId device) {
    if (last_role != 0 && device == last_switch) return last_role;
    const bool is_switch = t.kind(device) == DeviceKind::kSwitch;
    std::uint64_t& known = is_switch ? switches[device] : roles[static_cast<std::size_t>(t.kind(device))];
    if (known == 0) known = fnv1a(t.role_of(device));
    if (is_switch) {
      last_switch = device;
      last_role = known;
    }
    return known;
  };
  struct Last {
    double capacity = 0;  // 0: none so far
    std::uint64_t named = 0;
    std::uint32_t sort = 0;
  };
  std::vector<Last> last(t.specs().size());  // by spec: most links have the colour of the last alike
  std::unordered_map<std::uint64_t, std::uint32_t> sorts;
  colours.links.reserve(t.links().size());
  for (std::size_t i = 0; i < t.links().size(); ++i) {
    const LinkId id = LinkId::from_index(i);
    Last& alike = last[t.spec_number(id)];
    const LinkSpec& spec = t.spec(id);
    const double capacity = placement_.capacities()[i];
    const std::uint64_t named =
        is_network(spec.type) ? mix(role(t.from(id)), role(t.to(id))) : static_cast<std::uint64_t>(spec.type);
    if (alike.capacity != capacity || alike.named != named) {
      const std::uint64_t rates =
          mix(std::bit_cast<std::uint64_t>(capacity), std::bit_cast<std::uint64_t>(spec.bandwidth.Bps()));
      const auto [it, is_new] =
          sorts.try_emplace(mix(rates, named), static_cast<std::uint32_t>(colours.link_sorts.size()));
      if (is_new) colours.link_sorts.push_back(it->first);
      alike = {capacity, named, it->second};
    }
    colours.links.push_back(alike.sort);
  }
}

// A GPU without a model has no SMs or HBM that communication could take.
KernelSet::Gpu Replay::gpu_of(std::uint32_t rank) const {
  const std::int32_t model = topology_->device(topology_->ranks()[rank]).gpu_model;
  if (model < 0) return {std::int64_t{1} << 40, std::int64_t{1} << 60};
  const GpuModel& m = topology_->gpu_models()[static_cast<std::size_t>(model)];
  const double memory = placement_.scales().memory * m.memory_bandwidth.Bps();
  return {std::max<std::int64_t>(1, m.sms), static_cast<std::int64_t>(std::clamp(memory, 1.0, 1e18))};
}

std::vector<KernelSet::Gpu> Replay::gpus() const {
  std::vector<KernelSet::Gpu> gpus;
  for (const Player& player : system_.players) gpus.push_back(gpu_of(player.rank));
  return gpus;
}

void Replay::seat_players() {
  ranks_.resize(system_.players.size());
  timeline_of_.assign(ranks_.size(), -1);
  std::vector<bool> shown(index_.programs.size(), false);
  for (std::uint32_t player = 0; player < ranks_.size(); ++player) {
    RankState& r = ranks_[player];
    r.program = index_.by_rank[rank_of(player)];
    const IndexedProgram& program = index_.programs[r.program];
    r.first_lane = static_cast<std::uint32_t>(lanes_.size());
    for (const auto& stream : program.streams) r.lanes_left += stream.empty() ? 0U : 1U;
    lanes_.resize(lanes_.size() + program.streams.size());
    player_of_lane_.resize(lanes_.size(), player);
    // One timeline per program: its lowest rank speaks for those that run the same.
    if (shown[r.program] || !keeps_timelines_) continue;
    shown[r.program] = true;
    timeline_of_[player] = static_cast<std::int32_t>(timelines_.size());
    timelines_.push_back({rank_of(player), program_of(player).name, {}});
  }
}

void Replay::slow_ranks() {
  if (trace_->slowdowns.empty()) return;
  slowdown_.assign(trace_->ranks, 1);
  for (const Slowdown& slowdown : trace_->slowdowns)
    for (const std::uint32_t rank : expand(slowdown.ranks)) slowdown_[rank] = slowdown.factor;
}

void Replay::price_kernels() {
  std::map<std::tuple<std::uint32_t, std::int32_t, double>, std::uint32_t> known;
  for (std::uint32_t rank = 0; rank < trace_->ranks; ++rank) {
    const Device device = topology_->device(topology_->ranks()[rank]);
    const std::uint32_t program = index_.programs[index_.by_rank[rank]].program;
    // A slowed GPU has its own prices.
    const auto [it, is_new] = known.try_emplace({program, device.gpu_model, device.compute},
                                                static_cast<std::uint32_t>(demands_.size()));
    demands_of_rank_.push_back(it->second);
    if (is_new) demands_.push_back(demands(rank));
  }
}

std::vector<KernelDemand> Replay::demands(std::uint32_t rank) const {
  const Device device = topology_->device(topology_->ranks()[rank]);
  GpuSpeed speed;
  if (device.gpu_model >= 0) {
    const GpuModel& m = topology_->gpu_models()[static_cast<std::size_t>(device.gpu_model)];
    speed = {m.name, m.peak, m.memory_bandwidth, m.sms};
  }
  std::vector<KernelDemand> demands;
  std::unordered_map<const KernelWork*, KernelDemand> known;  // layers and microbatches repeat
  for (const Op& op : trace_->programs[index_.programs[index_.by_rank[rank]].program].ops) {
    KernelDemand& d = demands.emplace_back();
    if (op.kind != OpKind::kCompute) continue;
    if (!op.work->duration && device.gpu_model < 0 && (op.work->flops > 0 || op.work->bytes > 0))
      throw Error(
          {.where = topology_->name(),
           .message = fmt::format("{} has no GPU model, which operation {} needs (or give it a duration)",
                                  quoted(topology_->name_of(topology_->ranks()[rank])), quoted(op.id))});
    const auto [it, is_new] = known.try_emplace(&*op.work);
    if (is_new) it->second = kernel_demand(*op.work, speed, *profile_, placement_.generation(rank));
    d = it->second;
    d.sm_s /= device.compute;
  }
  return demands;
}

}  // namespace busbar
