#include "sim/cost/cost_model.h"

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr std::size_t index_of(Protocol p) { return static_cast<std::size_t>(p); }

struct Rate {
  double Bps = Bandwidth::unlimited().Bps();
  std::string_view bound;
};

/// What one operation's costs are made from.
struct Context {
  const Choice& choice;
  const Operation& op;
  const Profile& profile;
  const Generation& g;
  [[nodiscard]] const GroupRoutes& routes() const { return *op.routes; }
  [[nodiscard]] std::size_t p() const { return index_of(choice.protocol); }
  [[nodiscard]] bool several_hosts() const { return routes().hosts > 1; }
  [[nodiscard]] const HostTransport& host() const {
    return host_transport(routes().intra_transport, profile, g);
  }
  [[nodiscard]] const NetworkTransport& network() const { return profile.network(routes().inter_transport); }
  /// Of one GPU's links inside the host, sustained, bytes/s; unlimited for one rank per host.
  [[nodiscard]] double links() const {
    return routes().intra.Bps() > 0 ? op.scales.inside * routes().intra.Bps() * host().efficiency
                                    : Bandwidth::unlimited().Bps();
  }
  /// Of a host's NICs together, sustained.
  [[nodiscard]] double nics() const {
    return several_hosts() && routes().inter.Bps() > 0
               ? op.scales.between * routes().inter.Bps() * network().efficiency
               : Bandwidth::unlimited().Bps();
  }
  /// Of something that channels reach by themselves, bytes/s.
  [[nodiscard]] double channel_GBps(double GBps) const { return 1e9 * op.scales.channel * GBps; }
  [[nodiscard]] double log2_hosts() const { return std::floor(std::log2(std::max(1U, routes().hosts))); }
};

// Of two rates (a^-p + b^-p)^(-1/p): two coupled stages, each of which delays the other a little.
double coupled(double a, double b, double p) {
  const double slow = std::min(a, b);
  const double fast = std::max(a, b);
  return std::isfinite(fast) ? slow * std::pow(1 + std::pow(slow / fast, p), -1 / p) : slow;
}

void take_less(Rate& rate, double Bps, std::string_view bound) {
  if (Bps < rate.Bps) rate = {Bps, bound};
}

// B = min(links x protocol's share, LL's channels) in the host and min(NICs x protocol's share, LL's cap)
// between hosts, coupled: a ring passes both in turn.
Rate ring_rate(const Context& c) {
  constexpr std::string_view kHost[] = {"LL in the host", "LL128 in the host", "GPU links in the host"};
  constexpr std::string_view kNics[] = {"LL between hosts", "LL128 between hosts", "NICs"};
  const bool ll = c.choice.protocol == Protocol::kLl;
  Rate inside, between;
  if (c.routes().intra.Bps() > 0) {
    take_less(inside, c.links() * c.host().share[c.p()], kHost[c.p()]);
    if (ll)
      take_less(inside, c.channel_GBps(c.host().ll_channel_GBps) * static_cast<double>(c.choice.channels),
                "LL channels");
  }
  if (c.several_hosts()) {
    take_less(between, c.nics() * c.network().share[c.p()], kNics[c.p()]);
    if (ll) take_less(between, c.channel_GBps(c.network().ll_cap_GBps), "LL between hosts");
  }
  return {coupled(inside.Bps, between.Bps, c.profile.ring_exponent),
          inside.Bps < between.Bps ? inside.bound : between.bound};
}

Time us(double value) { return Time::from_microseconds(value); }

void set_hops(PlanCosts& costs, const Context& c, const ByProtocol& network_hop) {
  for (std::size_t t = 0; t < kTransports; ++t) {
    const auto transport = static_cast<Transport>(t);
    costs.hop[t] = us(is_network(transport) ? network_hop[c.p()]
                                            : host_transport(transport, c.profile, c.g).hop_us[c.p()]);
  }
}

void set_rate(PlanCosts& costs, const Rate& rate) {
  costs.rate = Bandwidth::bytes_per_second(rate.Bps);
  costs.rate_bound = rate.bound;
}

double network_base_us(const Context& c) { return c.several_hosts() ? c.network().base_us : 0; }

// r' = r (r0 + (1 - r0) min(1, c n 2 MiB / S)): beyond one loop of the 2 MiB chunk buffers the copy is
// pipelined.
double tail_steps(const Context& c) {
  const HostTransport& t = c.host();
  const double r = c.op.kind == CollectiveKind::kAllReduce ? t.tail_all_reduce : t.tail_gather;
  const double loop = static_cast<double>(c.choice.channels) * c.routes().ranks * (2 << 20);
  return r *
         (t.tail_floor + (1 - t.tail_floor) * std::min(1.0, loop / std::max(1.0, c.op.bytes.as_double())));
}

void set_ring(PlanCosts& costs, const Context& c) {
  set_hops(costs, c, c.network().ring_hop_us);
  set_rate(costs, ring_rate(c));
  costs.chain_fill = 0;  // NCCL forwards slices as they come: published broadcast tables show S / B alone
  if (c.choice.algorithm->wiring == Wiring::kRings) costs.tail_steps = tail_steps(c);
  if (c.choice.protocol == Protocol::kLl) return;
  costs.half_bytes = 1024 * (c.several_hosts() ? c.network().half_kib : c.host().half_kib);
  costs.half_exponent = c.several_hosts() ? c.network().half_exponent : c.host().half_exponent;
}

// Every edge carries the reduction one way and the broadcast the other; between more than two hosts a NIC
// carries 2 S of the two trees, between two S.
void set_tree(PlanCosts& costs, const Context& c) {
  set_hops(costs, c, c.network().tree_hop_us);
  Rate rate;
  if (c.routes().intra.Bps() > 0)
    take_less(rate, c.profile.tree_share * c.links() / 2 * c.host().share[c.p()], "GPU links in the host");
  if (c.several_hosts()) {
    take_less(rate, c.nics() * c.network().share[c.p()] / (c.routes().hosts > 2 ? 2 : 1), "NICs");
    if (c.choice.protocol == Protocol::kLl)
      take_less(rate, c.channel_GBps(c.network().ll_cap_GBps), "LL between hosts");
  }
  set_rate(costs, rate);
  if (c.choice.protocol == Protocol::kLl || !c.several_hosts()) return;
  costs.half_message = 1e6 * c.network().tree_half_MB * (1 + c.log2_hosts());
  costs.half_exponent = c.network().half_exponent;
}

// Source: NVIDIA/nccl src/enqueue.cc v2.28.9, NVLS and NVLSTree chunks: they shrink with the message.
double nvls_chunk_kib(const Context& c, const NcclSettings& settings) {
  const double heads = std::max(1U, c.routes().facts.local_least);
  const double k = static_cast<double>(c.choice.channels) * heads;
  const double bytes = c.op.bytes.as_double();
  double chunk = static_cast<double>(settings.nvls_chunk_bytes.value_or(128 << 10)) / 1024;
  if (c.several_hosts()) {
    if (c.routes().hosts >= 4) chunk = std::min(chunk, 64.0);
    if (bytes < 4 * k * chunk * 1024) chunk = std::min(chunk, 64.0);
    if (bytes < k * chunk * 1024) chunk = std::min(chunk, 32.0);
    return chunk;
  }
  for (const auto& [factor, smaller] : {std::pair(64.0, 64.0), std::pair(8.0, 32.0), std::pair(2.0, 16.0)})
    if (bytes < factor * k * chunk * 1024) chunk = std::min(chunk, smaller);
  return chunk;
}

// The switch gives a GPU's links S (1 + 1/n) to carry each way; all_gather and reduce_scatter S.
void set_switch(PlanCosts& costs, const Context& c, const NcclSettings& settings) {
  set_hops(costs, c, c.network().tree_hop_us);
  const SwitchReduction& nvls = c.g.nvls;
  for (std::size_t t = 0; t < kTransports; ++t)
    costs.hop[t] = is_network(static_cast<Transport>(t)) ? us(c.network().nvls_tree_hop_us) : Time::zero();
  costs.base = us(nvls.base_us);
  const double n = std::max(2U, c.routes().facts.local_least);
  const double crossing = c.op.kind == CollectiveKind::kAllReduce ? n / (n + 1) : 1;
  const double inside =
      c.links() * nvls.efficiency * crossing / (1 + nvls.chunk_kib / nvls_chunk_kib(c, settings));
  if (c.several_hosts()) {
    const double between =
        c.nics() / (c.routes().hosts > 2 && c.choice.nccl == NcclAlgorithm::kNvlsTree ? 2 : 1);
    set_rate(costs,
             {coupled(inside, between, c.profile.stage_exponent),
              inside < between ? "NVSwitch and NICs, mostly NVSwitch" : "NVSwitch and NICs, mostly NICs"});
  } else {
    set_rate(costs, {inside, "NVSwitch"});
  }
  costs.half_message = 1e6 * nvls.half_MB * (1 + c.log2_hosts());
  costs.half_exponent = nvls.half_exponent;
}

// The network's switches reduce: S out of and into each host, one hop of NCCL's own figure for SHARP
// (src/graph/tuning.cc v2.28.9) after the base latencies.
void set_network_reduction(PlanCosts& costs, const Context& c) {
  constexpr double kSharpHop_us = 31;
  set_hops(costs, c, {kSharpHop_us, kSharpHop_us, kSharpHop_us});
  Rate rate;
  if (c.routes().intra.Bps() > 0)
    take_less(rate, c.profile.tree_share * c.links() / 2, "GPU links in the host");
  take_less(rate, c.nics(), "NICs");
  set_rate(costs, rate);
  costs.half_message = 1e6 * c.network().tree_half_MB;
  costs.half_exponent = c.network().half_exponent;
}

// Algorithms in rounds that NCCL does not have, and PAT.
void set_rounds(PlanCosts& costs, const Context& c) {
  set_hops(costs, c, c.network().ring_hop_us);
  set_rate(costs, ring_rate(c));
  if (c.choice.protocol == Protocol::kLl) return;
  costs.half_bytes = 1024 * (c.several_hosts() ? c.network().half_kib : c.host().half_kib);
  costs.half_exponent = c.several_hosts() ? c.network().half_exponent : c.host().half_exponent;
}

// Grouped sends have a floor of their own, which covers the hops inside a host.
void set_sends_latency(PlanCosts& costs, const Context& c) {
  set_hops(costs, c, c.network().ring_hop_us);
  costs.base = us(c.g.sends.base_us + network_base_us(c));
  for (std::size_t t = 0; t < kTransports; ++t)
    if (!is_network(static_cast<Transport>(t))) costs.hop[t] = Time::zero();
}

// A send's channels each sustain what a window of chunks allows.
void set_send(PlanCosts& costs, const Context& c) {
  set_sends_latency(costs, c);
  const double per_channel = c.several_hosts() ? c.g.sends.network_channel_GBps : c.g.sends.channel_GBps;
  Rate rate{c.channel_GBps(per_channel) * static_cast<double>(c.choice.channels), "P2P window"};
  if (c.several_hosts())
    take_less(rate, c.op.scales.between * c.network().sends_share * c.routes().inter_nic.Bps(), "NICs");
  else
    take_less(rate, c.profile.sends_share_host * c.links(), "GPU links in the host");
  set_rate(costs, rate);
}

// Each of a GPU's flows gets its part of what its links, its channels and its NIC sustain for them all.
Rate exchange_rate(const Context& c) {
  const GroupRoutes& routes = c.routes();
  const double peers = std::max(1.0, routes.ranks - 1.0);
  Rate rate;
  if (routes.intra.Bps() > 0) {
    take_less(rate, c.profile.sends_share_host * c.links() / peers, "GPU links in the host");
    take_less(rate,
              c.channel_GBps(c.g.sends.channel_GBps) * static_cast<double>(c.choice.channels) / routes.ranks,
              "P2P channels");
  }
  if (c.several_hosts() && routes.inter.Bps() > 0) {
    // The host with the fewest ranks: each of them meets the most ranks of other hosts.
    const double local = std::max(1U, routes.facts.local_least);
    take_less(rate,
              c.op.scales.between * c.network().sends_share * routes.inter.Bps() / local /
                  std::max(1.0, routes.ranks - local),
              local > routes.facts.nics ? "shared NICs" : "NICs");
  }
  return rate;
}

// 1 + (S0 / S)^g inside a host, 1 + (m0 / m)^g between hosts with m the message to one peer; the plan asks
// per channel of one message.
void set_exchange(PlanCosts& costs, const Context& c) {
  set_sends_latency(costs, c);
  set_rate(costs, exchange_rate(c));
  const auto channels = static_cast<double>(costs.channels);
  const GroupedSends& sends = c.g.sends;
  costs.half_bytes = c.several_hosts() ? c.network().sends_half_MB * 1e6 / channels
                                       : c.op.scales.launch * sends.half_us * 1e-6 * c.links() /
                                             (channels * c.routes().ranks);
  costs.half_exponent = c.several_hosts() ? c.network().sends_half_exponent : sends.half_exponent;
}

void set_by_wiring(PlanCosts& costs, const Context& c, const NcclSettings& settings) {
  switch (c.choice.algorithm->wiring) {
    case Wiring::kRings:
    case Wiring::kChainsFromRoot:
    case Wiring::kChainsToRoot:
      return set_ring(costs, c);
    case Wiring::kTrees:
      return set_tree(costs, c);
    case Wiring::kSwitch:
    case Wiring::kSwitchTrees:
      return set_switch(costs, c, settings);
    case Wiring::kNetworkSwitch:
      return set_network_reduction(costs, c);
    case Wiring::kNeighbours:
      return set_send(costs, c);
    case Wiring::kRounds:
      if (c.choice.algorithm->kind == CollectiveKind::kAllToAll ||
          c.choice.algorithm->kind == CollectiveKind::kGather ||
          c.choice.algorithm->kind == CollectiveKind::kScatter)
        return set_exchange(costs, c);
      return set_rounds(costs, c);
  }
}

}  // namespace

double link_efficiency(LinkType type, const Profile& profile, const Generation& generation) {
  switch (type) {
    case LinkType::kNvlink:
    case LinkType::kXgmi:
      return generation.links.efficiency;
    case LinkType::kPcie:
      return profile.pcie_efficiency;
    case LinkType::kRdma:
      return profile.network(Transport::kRdma).efficiency;
    case LinkType::kSlingshot:
      return profile.network(Transport::kSlingshot).efficiency;
    case LinkType::kTcp:
      return profile.network(Transport::kTcp).efficiency;
    case LinkType::kEfa:
      return profile.network(Transport::kEfa).efficiency;
    case LinkType::kC2c:
    case LinkType::kUpi:
      return 1;
  }
  BUSBAR_CHECK(false);
}

PlanCosts costs_of(const Choice& choice, const Operation& op, const Profile& profile, const Generation& g,
                   const Overrides& overrides) {
  PlanCosts costs{.channels = choice.channels, .stated = op.scales.latency};
  if (profile.ideal) return costs;
  const Context c{choice, op, profile, g};
  costs.base = us(g.base_us[c.p()] + network_base_us(c));
  costs.sms_per_channel = profile.sms_per_channel;
  costs.memory_bytes_per_byte = profile.memory_bytes_per_byte;
  if (op.routes->ranks > 1) set_by_wiring(costs, c, overrides.nccl);
  if (overrides.isolated) costs.base += us(profile.isolated_us);
  costs.base = scaled(costs.base, op.scales.launch);
  for (std::size_t t = 0; t < kTransports; ++t) costs.hop[t] = scaled(costs.hop[t], op.scales.latency[t]);
  return costs;
}

// (device^p + launches^p)^(1/p), a maximum with a soft corner.
Time with_launches(Time device, const CallStyle& calls, const Profile& profile, const Generation& g) {
  if (profile.ideal || calls.gpus_per_process <= 1) return device;
  const double each = calls.launch ? calls.launch->seconds() : g.launch_us * 1e-6;
  const double launches = static_cast<double>(calls.gpus_per_process) * each *
                          (calls.cuda_graph ? profile.graph_launch_share : 1);
  return Time::from_seconds(1 / coupled(1 / device.seconds(), 1 / launches, profile.launch_exponent));
}

}  // namespace busbar
