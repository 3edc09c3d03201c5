#include "sim/cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/cost/nccl_selector.h"

namespace busbar {

namespace {

constexpr double kFittedChannels = 24;  // of A100 and H100 hosts with NVSwitch (ring_graph)

constexpr std::size_t index_of(Protocol p) { return static_cast<std::size_t>(p); }

// NCCL runs these as grouped sends and receives.
bool is_p2p(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return true;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kBarrier:
      return false;
  }
  return false;
}

// --algorithm is for the collectives that have the row; barriers and sends keep their only one.
const Algorithm& find_or_throw(CollectiveKind kind, const GroupShape& shape,
                               const std::optional<std::string>& wanted) {
  const bool fixed = kind == CollectiveKind::kSendRecv || kind == CollectiveKind::kBarrier;
  const std::string_view name = wanted && !fixed ? std::string_view(*wanted) : "";
  const Algorithm* row = find_algorithm(kind, name);
  if (row == nullptr) {
    std::string known;
    for (const Algorithm& other : algorithms())
      if (other.kind == kind) known += (known.empty() ? "" : ", ") + std::string(other.name);
    throw Error({.where = "--algorithm",
                 .expected = fmt::format("an algorithm for {} ({})", name_of(kind), known),
                 .given = quoted(name)});
  }
  const std::string refusal = row->refusal == nullptr ? "" : row->refusal(shape);
  if (!refusal.empty())
    throw Error({.where = "--algorithm",
                 .message = fmt::format("{} cannot run {} on {} ranks: {}", row->name, name_of(kind),
                                        shape.ranks, refusal)});
  return *row;
}

std::int64_t default_channels(const Algorithm& row, const GroupRoutes& routes, const Profile& profile,
                              const Generation& g) {
  if (is_p2p(row.kind)) return routes.hosts > 1 ? profile.p2p_channels_network : profile.p2p_channels_host;
  return ring_graph(routes, g).communicator_channels;
}

struct Rate {
  double Bps;
  std::string_view bound;
};

// B = min(NVLink rate x protocol's share in the host, NIC total x protocol's share between hosts).
Rate ring_rate(std::size_t p, const GroupRoutes& routes, const Profile& profile, const Generation& g) {
  constexpr std::string_view kHost[] = {"LL in the host", "LL128 in the host", "GPU links in the host"};
  constexpr std::string_view kNics[] = {"LL between hosts", "LL128 between hosts", "NICs"};
  Rate rate{Bandwidth::unlimited().Bps(), ""};
  if (routes.intra.Bps() > 0)
    rate = {routes.intra.Bps() * link_efficiency(routes.intra_link, profile, g) * g.share[p], kHost[p]};
  if (routes.hosts > 1 && routes.inter.Bps() > 0) {
    double nics =
        routes.inter.Bps() * link_efficiency(routes.inter_link, profile, g) * profile.network.share[p];
    if (p == index_of(Protocol::kLl)) nics = std::min(nics, profile.network.ll_cap_GBps * 1e9);
    if (nics < rate.Bps) rate = {nics, kNics[p]};
  }
  return rate;
}

// Grouped sends: each of a GPU's flows gets its part of what the GPU's links and NIC sustain for them.
Rate exchange_rate(const GroupRoutes& routes, const Profile& profile, const Generation& g) {
  Rate rate{Bandwidth::unlimited().Bps(), ""};
  const double peers = std::max(1.0, routes.ranks - 1.0);
  if (routes.intra.Bps() > 0)
    rate = {profile.exchange_share_host * routes.intra.Bps() *
                link_efficiency(routes.intra_link, profile, g) / peers,
            "GPU links in the host"};
  if (routes.hosts > 1 && routes.inter.Bps() > 0) {
    const double per_host = std::max(1.0, static_cast<double>(routes.ranks) / routes.hosts);
    const double nic = profile.exchange_share_network * routes.inter.Bps() / per_host /
                       std::max(1.0, routes.ranks - per_host);
    if (nic < rate.Bps) rate = {nic, "NICs"};
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
  choice.algorithm = &find_or_throw(kind, {routes.ranks, 0, routes.by_host}, overrides.algorithm);
  if (profile.ideal) {
    choice.channels = overrides.channels.value_or(1);
    return choice;
  }
  choice.channels =
      overrides.channels.value_or(default_channels(*choice.algorithm, routes, profile, generation));
  const bool in_rounds =
      choice.algorithm->wiring == Wiring::kRounds || choice.algorithm->wiring == Wiring::kNeighbours;
  const Protocol chosen =
      in_rounds ? Protocol::kSimple : choose_ring_protocol(kind, bytes, routes, generation);
  choice.protocol = overrides.protocol.value_or(chosen);
  return choice;
}

namespace {

// A send's channels each sustain what a window of chunks allows.
void set_send_rate(PlanCosts& costs, const GroupRoutes& routes, const Profile& profile) {
  const double per_channel =
      routes.hosts > 1 ? profile.p2p_channel_GBps_network : profile.p2p_channel_GBps_host;
  costs.rate = Bandwidth::gigabytes_per_second(per_channel * static_cast<double>(costs.channels));
  costs.rate_bound = "P2P window";
}

// Grouped sends have a floor of their own, which covers the hops inside a host.
void set_exchange_latencies(PlanCosts& costs, const GroupRoutes& routes, const Profile& profile,
                            const Generation& g) {
  costs.base = Time::from_microseconds(g.exchange_base_us + (routes.hosts > 1 ? profile.network.base_us : 0));
  for (std::size_t link = 0; link < kLinkTypes; ++link)
    if (!is_network(static_cast<LinkType>(link))) costs.hop[link] = Time::zero();
}

// 1 + (S0 / S)^g: S0 is given for the whole buffer, the plan asks per channel of one message.
void set_exchange_rate(PlanCosts& costs, const GroupRoutes& routes, const Profile& profile,
                       const Generation& g) {
  const Rate rate = exchange_rate(routes, profile, g);
  costs.rate = Bandwidth::bytes_per_second(rate.Bps);
  costs.rate_bound = rate.bound;
  costs.half_bytes = g.exchange_half_MB * 1e6 / (static_cast<double>(costs.channels) * routes.ranks);
  costs.half_exponent = g.exchange_half_exponent;
}

void set_ring_rate(PlanCosts& costs, Protocol protocol, const GroupRoutes& routes, const Profile& profile,
                   const Generation& g) {
  const Rate rate = ring_rate(index_of(protocol), routes, profile, g);
  costs.rate = Bandwidth::bytes_per_second(rate.Bps);
  costs.rate_bound = rate.bound;
  if (protocol == Protocol::kLl) return;
  // Fitted in hosts of 24 channels: the fill follows S / n, so that a host with more channels is not slower
  // for them.
  const double in_host = g.half_kib * kFittedChannels / static_cast<double>(costs.channels);
  costs.half_bytes = 1024 * (routes.hosts > 1 ? profile.network.half_kib : in_host);
  costs.half_exponent = routes.hosts > 1 ? profile.network.half_exponent : g.half_exponent;
}

}  // namespace

PlanCosts costs_of(const Choice& choice, CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                   const Profile& profile, const Generation& g) {
  PlanCosts costs{.channels = choice.channels};
  if (profile.ideal) return costs;
  const std::size_t p = index_of(choice.protocol);
  set_latencies(costs, p, routes, profile, g);
  costs.sms_per_channel = profile.sms_per_channel;
  costs.memory_bytes_per_byte = profile.memory_bytes_per_byte;
  if (is_p2p(kind)) set_exchange_latencies(costs, routes, profile, g);
  if (kind == CollectiveKind::kSendRecv) {
    set_send_rate(costs, routes, profile);
  } else if (is_p2p(kind)) {
    set_exchange_rate(costs, routes, profile, g);
  } else {
    set_ring_rate(costs, choice.protocol, routes, profile, g);
    costs.chain_fill = 0;  // NCCL forwards slices as they come: published broadcast tables show S / B alone
    if (choice.algorithm->wiring == Wiring::kRings)
      costs.tail_steps = tail_steps(kind, bytes.as_double(), choice.channels, routes, g);
  }
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
