#include "sim/cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/cost/nccl_selector.h"

namespace busbar {

namespace {

constexpr std::size_t index_of(Protocol p) { return static_cast<std::size_t>(p); }

bool is_p2p(CollectiveKind kind) { return kind == CollectiveKind::kSendRecv; }

std::string_view default_algorithm(CollectiveKind kind) { return is_p2p(kind) ? "direct" : "ring"; }

const Algorithm& find_or_throw(CollectiveKind kind, const std::optional<std::string>& wanted) {
  const std::string_view name = wanted ? std::string_view(*wanted) : default_algorithm(kind);
  if (const Algorithm* row = find_algorithm(kind, name)) return *row;
  std::string known;
  for (const Algorithm& row : algorithms())
    if (row.kind == kind) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw Error(
      {.where = "--algorithm",
       .expected = fmt::format("an algorithm for {} ({})", name_of(kind), known.empty() ? "none yet" : known),
       .given = std::string(name)});
}

std::int64_t default_channels(CollectiveKind kind, const GroupRoutes& routes, const Profile& profile,
                              const Generation& g) {
  if (is_p2p(kind)) return routes.hosts > 1 ? profile.p2p_channels_network : profile.p2p_channels_host;
  return ring_graph(routes, g).communicator_channels;
}

// B = min(NVLink rate x protocol's share in the host, NIC total x protocol's share between hosts), bytes/s.
double ring_rate(std::size_t p, const GroupRoutes& routes, const Profile& profile, const Generation& g) {
  double rate = routes.intra.Bps() > 0
                    ? routes.intra.Bps() * link_efficiency(routes.intra_link, profile, g) * g.share[p]
                    : Bandwidth::unlimited().Bps();
  if (routes.hosts > 1) {
    const double nics =
        routes.inter.Bps() * link_efficiency(routes.inter_link, profile, g) * profile.network.share[p];
    rate = std::min(rate,
                    p == index_of(Protocol::kLl) ? std::min(nics, profile.network.ll_cap_GBps * 1e9) : nics);
  }
  return rate;
}

void set_latencies(PlanCosts& costs, std::size_t p, const GroupRoutes& routes, const Profile& profile,
                   const Generation& g) {
  costs.base = Time::from_microseconds(g.base_us[p] + (routes.hosts > 1 ? profile.network.base_us : 0));
  for (std::size_t link = 0; link < kLinkTypes; ++link)
    costs.hop[link] = Time::from_microseconds(
        is_network(static_cast<LinkType>(link)) ? profile.network.hop_us[p] : g.hop_us[p]);
}

// r' = r (r0 + (1 - r0) min(1, c n 2 MiB / S)): beyond one loop of the 2 MiB chunk buffers the copy is
// pipelined.
double tail_steps(CollectiveKind kind, double bytes, std::int64_t channels, const GroupRoutes& routes,
                  const Generation& g) {
  const double r = kind == CollectiveKind::kAllReduce ? g.tail_all_reduce : g.tail_gather;
  const double loop = static_cast<double>(channels) * routes.ranks * (2 << 20);
  return r * (g.tail_floor + (1 - g.tail_floor) * std::min(1.0, loop / std::max(1.0, bytes)));
}

double kernel_efficiency(const KernelWork& work, const Generation& g) {
  if (!work.attention) return g.matmul_efficiency;
  return work.attention->backward ? g.attention_backward_efficiency : g.attention_efficiency;
}

}  // namespace

double link_efficiency(LinkType type, const Profile& profile, const Generation& generation) {
  return type == LinkType::kNvlink ? generation.nvlink_efficiency
                                   : profile.efficiency[static_cast<std::size_t>(type)];
}

Choice choose(CollectiveKind kind, Bytes bytes, const GroupRoutes& routes, const Profile& profile,
              const Generation& generation, const Overrides& overrides) {
  Choice choice;
  choice.algorithm = &find_or_throw(kind, overrides.algorithm);
  if (profile.ideal) {
    choice.channels = overrides.channels.value_or(1);
    return choice;
  }
  choice.channels = overrides.channels.value_or(default_channels(kind, routes, profile, generation));
  const Protocol chosen =
      is_p2p(kind) ? Protocol::kSimple : choose_ring_protocol(kind, bytes, routes, generation);
  choice.protocol = overrides.protocol.value_or(chosen);
  return choice;
}

PlanCosts costs_of(const Choice& choice, CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                   const Profile& profile, const Generation& g) {
  PlanCosts costs{.channels = choice.channels};
  if (profile.ideal) return costs;
  const std::size_t p = index_of(choice.protocol);
  set_latencies(costs, p, routes, profile, g);
  costs.sms_per_channel = profile.sms_per_channel;
  costs.memory_bytes_per_byte = profile.memory_bytes_per_byte;
  if (is_p2p(kind)) {
    const double per_channel =
        routes.hosts > 1 ? profile.p2p_channel_GBps_network : profile.p2p_channel_GBps_host;
    costs.rate = Bandwidth::gigabytes_per_second(per_channel * static_cast<double>(choice.channels));
    return costs;
  }
  costs.rate = Bandwidth::bytes_per_second(ring_rate(p, routes, profile, g));
  if (choice.protocol != Protocol::kLl) {
    costs.half_bytes = 1024 * (routes.hosts > 1 ? profile.network.half_kib : g.half_kib);
    costs.half_exponent = routes.hosts > 1 ? profile.network.half_exponent : g.half_exponent;
  }
  costs.tail_steps = tail_steps(kind, bytes.as_double(), choice.channels, routes, g);
  return costs;
}

KernelDemand kernel_demand(const KernelWork& work, const GpuSpeed& gpu, const Generation& g) {
  if (work.duration) return {.sm_s = work.duration->seconds(), .memory_s = 0};
  KernelDemand demand;
  if (work.flops > 0) {
    const auto peak = gpu.peak.find(work.type);
    if (peak == gpu.peak.end())
      throw Error({.message = fmt::format("the GPU has no {} peak, which a kernel of this step needs",
                                          name_of(work.type))});
    demand.sm_s = work.flops / (peak->second.flops() * kernel_efficiency(work, g) * g.step_share);
  }
  if (work.bytes > 0)
    demand.memory_s = work.bytes / (gpu.memory_bandwidth.Bps() * g.memory_efficiency * g.step_share);
  return demand;
}

}  // namespace busbar
