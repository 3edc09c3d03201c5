#include "sim/cost/nccl_selector.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace busbar {

namespace {

// Candidate speeds per channel, GB/s. Source: NVIDIA/nccl src/graph/search.cc v2.28.9.
constexpr double kIntraAmpere[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kInterAmpere[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12};
constexpr double kIntraHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kInterHopper[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12};

// Source: NVIDIA/nccl src/graph/tuning.cc v2.28.9, microseconds, LL / LL128 / Simple.
constexpr std::array<double, kNcclProtocols> kBase = {6.6, 14.0, 8.4};
constexpr std::array<double, kNcclProtocols> kNvlinkHop = {0.6, 1.9, 3.4};
constexpr std::array<double, kNcclProtocols> kNetworkHop = {2.7, 4.0, 14.0};
constexpr double kNetworkOverhead = 1.0;  // per hop, Intel hosts; three times that for Simple
constexpr double kPlateau = 1.4;          // Ring, Simple, all_reduce between hosts
constexpr std::int64_t kMaxRingChannels = 32;

std::span<const double> intra_speeds(int cc) {
  return cc < 90 ? std::span<const double>(kIntraAmpere) : kIntraHopper;
}
std::span<const double> inter_speeds(int cc) {
  return cc < 90 ? std::span<const double>(kInterAmpere) : kInterHopper;
}

// Channels x speed at its largest; the faster speed wins a tie.
RingGraph search_one_host(double link_GBps, int cc) {
  RingGraph best;
  for (const double speed : intra_speeds(cc)) {
    const auto channels =
        std::min<std::int64_t>(kMaxRingChannels, static_cast<std::int64_t>(link_GBps / speed));
    if (static_cast<double>(channels) * speed > static_cast<double>(best.channels) * best.speed_GBps)
      best = {.channels = channels, .speed_GBps = speed};
  }
  return best;
}

// One channel per NIC, at the largest speed that both the NIC and its share of the GPU's links carry.
RingGraph search_many_hosts(const GroupRoutes& routes, double link_GBps, int cc) {
  const auto rails = std::max<std::int64_t>(1, static_cast<std::int64_t>(routes.rings.size()));
  double limit = routes.inter_nic.Bps() / 1e9;
  if (link_GBps > 0) limit = std::min(limit, link_GBps / static_cast<double>(rails));
  for (const double speed : inter_speeds(cc))
    if (speed <= limit) return {.channels = rails, .speed_GBps = speed};
  return {.channels = rails, .speed_GBps = limit};
}

struct RingSteps {
  double intra, inter;
};

RingSteps ring_steps(CollectiveKind kind, const GroupRoutes& routes) {
  const double laps = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kBarrier ? 2 : 1;
  const double inter = laps * (routes.hosts - 1.0);
  return {laps * (routes.ranks - 1.0) - inter, inter};
}

std::array<double, kNcclProtocols> bus_bandwidths(const GroupRoutes& routes, const Generation& g,
                                                  const RingGraph& graph) {
  const double bus = static_cast<double>(graph.channels) * graph.speed_GBps;
  const double ll_max = routes.hosts == 1   ? g.ll_max_one_host
                        : routes.hosts == 2 ? g.ll_max_two_hosts
                                            : g.ll_max_more_hosts;
  return {std::min(ll_max, bus / 2),
          std::min(0.92 * bus, static_cast<double>(graph.channels) * g.ring_ll128_max_per_channel), bus};
}

}  // namespace

RingGraph ring_graph(const GroupRoutes& routes, const Generation& g) {
  const double link = routes.intra.Bps() / 1e9 * g.nccl_link_ratio;
  RingGraph graph = routes.hosts <= 1 ? search_one_host(link, g.compute_capability)
                                      : search_many_hosts(routes, link, g.compute_capability);
  const bool keeps = g.compute_capability > 80 && graph.speed_GBps < 50 && graph.channels > 4;
  if (graph.speed_GBps >= 25 && !keeps) {
    graph.channels *= 2;
    graph.speed_GBps /= 2;
  }
  graph.communicator_channels = std::min<std::int64_t>(64, 2 * graph.channels);
  if (g.compute_capability >= 90 && routes.hosts > 1 && graph.speed_GBps > 45 &&
      graph.communicator_channels < 16)
    graph.communicator_channels *= 2;
  return graph;
}

// L = base + intra steps x max(hop, overhead) + network steps x hop;  T = L + S / B, B = busbw x n / steps.
std::array<double, kNcclProtocols> ring_table(CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                                              const Generation& generation) {
  const RingGraph graph = ring_graph(routes, generation);
  const std::array<double, kNcclProtocols> bus = bus_bandwidths(routes, generation, graph);
  const RingSteps steps = ring_steps(kind, routes);
  std::array<double, kNcclProtocols> time{};
  for (std::size_t p = 0; p < kNcclProtocols; ++p) {
    const double overhead = routes.hosts > 1 ? kNetworkOverhead * (p == 2 ? 3 : 1) : 0;
    double latency =
        kBase[p] + steps.intra * std::max(kNvlinkHop[p], overhead) + steps.inter * kNetworkHop[p];
    const double per_channel =
        bytes.as_double() / (static_cast<double>(graph.communicator_channels) * routes.ranks);
    if (p == 2 && kind == CollectiveKind::kAllReduce && routes.hosts > 1 && per_channel >= 64)
      latency *= kPlateau;
    // Broadcast and reduce: one hop's latency, all of S over the chain.
    const bool chain = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
    if (chain) latency = kBase[p] + (routes.hosts > 1 ? kNetworkHop[p] : kNvlinkHop[p]);
    const double algorithm_GBps = chain ? bus[p] : bus[p] * routes.ranks / (steps.intra + steps.inter);
    time[p] = latency + bytes.as_double() / (1000 * algorithm_GBps);
  }
  return time;
}

Protocol choose_ring_protocol(CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                              const Generation& generation) {
  if (routes.ranks <= 1) return Protocol::kSimple;
  const std::array<double, kNcclProtocols> time = ring_table(kind, bytes, routes, generation);
  return static_cast<Protocol>(std::min_element(time.begin(), time.end()) - time.begin());
}

}  // namespace busbar
