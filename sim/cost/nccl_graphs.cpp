#include "sim/cost/nccl_graphs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "sim/base/error.h"
#include "sim/cost/nccl_constants.h"

namespace busbar {

namespace {

// Source: NVIDIA/nccl src/include/device.h, src/graph/search.cc v2.28.9.
constexpr std::int64_t kMostChannels = 64, kMostSearched = 32, kMostHeads = 32;
constexpr double kFallbackSpeed = .1;   // GB/s, one channel, where nothing fits
constexpr double kSlowdown = .49;       // no slower speed is tried below this share of the best one's
constexpr double kDuplicated = 25;      // GB/s: channels at least as fast are split in two
constexpr double kIntelBytes = 6. / 5;  // traffic between GPUs through an Intel CPU takes more bytes
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Between sockets, GB/s. Skylake with PCIe Gen3, Sapphire Rapids with faster ones.
// Source: NVIDIA/nccl src/graph/topo.h v2.28.9.
double socket_GBps(CpuVendor cpu, double pcie_GBps) {
  switch (cpu) {
    case CpuVendor::kIntel:
      return pcie_GBps <= 12.5 ? 10 : 22;
    case CpuVendor::kAmd:
      return 16;
    case CpuVendor::kArm:
    case CpuVendor::kOther:
      return 6;
  }
  return 6;
}

// A group's links as NCCL reckons them, GB/s; no limit where there is no such link.
struct Limits {
  double link = kUnlimited;  // of one GPU, to the others of its host
  std::int64_t rings = 0;    // of direct links; 0: any channel may use any link
  double ring = 0;
  std::int64_t nics = 0;  // 0: one host
  double nic = 0;
};

double nccl_share(const GroupFacts& facts) {
  return facts.intra_path <= PathType::kC2c ? nccl_nvlink_share(facts.cc_least) : nccl_pcie_share();
}

double pcie_limit(const GroupFacts& facts, double pcie) {
  if (facts.intra_path < PathType::kPhb) return pcie;
  const double path =
      facts.intra_path == PathType::kPhb ? pcie : std::min(pcie, socket_GBps(facts.cpu, pcie));
  return facts.cpu == CpuVendor::kIntel ? path / kIntelBytes : path;
}

Limits limits_of(const GroupFacts& facts) {
  Limits limits;
  if (facts.local_most > 1) {
    limits.link = facts.intra.Bps() / 1e9 * nccl_share(facts);
    limits.rings = facts.intra_rings;
    limits.ring = facts.intra_ring.Bps() / 1e9 * nccl_share(facts);
    if (limits.rings > 0) limits.link = static_cast<double>(limits.rings) * limits.ring;
    if (facts.intra_path > PathType::kC2c) limits.link = pcie_limit(facts, limits.link);
  }
  if (facts.hosts > 1) {
    limits.nics = std::max<std::int64_t>(1, facts.nics);
    limits.nic = facts.nic.Bps() / 1e9;
  }
  return limits;
}

// How many channels of `speed` fit into a link; a hair of tolerance for rates scaled to whole multiples.
std::int64_t fits(double link, double speed) {
  const double most = static_cast<double>(kMostSearched);
  return static_cast<std::int64_t>(std::min(most, link / speed + 1e-9));
}

std::int64_t channels_at(double speed, const Limits& limits) {
  std::int64_t channels = kMostSearched;
  if (limits.rings > 0)
    channels = std::min(channels, limits.rings * fits(limits.ring, speed));
  else
    channels = std::min(channels, fits(limits.link, speed));
  if (limits.nics > 0) channels = std::min(channels, limits.nics * fits(limits.nic, speed));
  return channels;
}

// Channels x speed at its largest; the faster speed wins a tie. After that, channels of 25 GB/s and more are
// split in two (on Hopper and later only the fastest or few).
NcclGraph search_ring(std::span<const double> speeds, const Limits& limits) {
  NcclGraph best;
  for (const double speed : speeds) {
    if (best.channels > 0 && speed <= kSlowdown * best.intra_GBps) break;
    const std::int64_t channels = channels_at(speed, limits);
    if (static_cast<double>(channels) * speed > static_cast<double>(best.channels) * best.intra_GBps)
      best = {.channels = channels, .intra_GBps = speed, .inter_GBps = speed};
  }
  if (best.channels == 0) best = {.channels = 1, .intra_GBps = kFallbackSpeed, .inter_GBps = kFallbackSpeed};
  return best;
}

NcclGraph duplicated(NcclGraph graph, int cc) {
  const bool stays = cc > 80 && graph.intra_GBps < 50 && graph.channels > 4;
  if (graph.intra_GBps < kDuplicated || stays) return graph;
  const std::int64_t channels = std::min(2 * graph.channels, kMostSearched);
  const double parts = std::ceil(static_cast<double>(channels) / static_cast<double>(graph.channels));
  graph.channels = channels;
  graph.intra_GBps /= parts;
  graph.inter_GBps /= parts;
  return graph;
}

bool same_order(const GroupFacts& facts) {
  if (facts.local_most <= 1) return true;
  return facts.hosts > 1 ? facts.nics <= 1 : facts.intra_rings <= 1;
}

// The ring's channels. On two hosts a tree moves half as much over the network as inside, so that the search
// raises its speed inside up to twice the network's.
NcclGraph tree_graph(NcclGraph ring, const GroupFacts& facts, const Limits& limits) {
  if (facts.hosts != 2) return ring;
  ring.intra_GBps = std::min(2 * ring.inter_GBps, limits.link / static_cast<double>(ring.channels));
  return ring;
}

double fastest_within(std::span<const double> speeds, double limit) {
  for (const double speed : speeds)
    if (speed <= limit * (1 + 1e-9)) return speed;
  return 0;
}

bool has_nvls(const GroupFacts& facts, const NcclSettings& settings) {
  return facts.cc_least >= 90 && facts.nvswitch && facts.local_least >= 2 &&
         facts.intra_path <= PathType::kNvl && settings.nvls.value_or(true);
}

// One channel per head. A GPU's link carries its own channel twice and the others once, hence a speed of at
// most link / (heads + 1); then the network's speed alone is raised, as far as the ring's goes (on one host,
// where no network limits it, to the fastest in the table).
NcclGraph nvls_graph(const NcclGraph& ring, const GroupFacts& facts, const Limits& limits) {
  const std::int64_t heads = std::min<std::int64_t>(facts.local_least, kMostHeads);
  const double link = limits.link / static_cast<double>(heads + 1);
  if (facts.hosts == 1) {
    const std::span<const double> speeds = nccl_intra_speeds(facts.cc_least);
    const double speed = fastest_within(speeds, link);
    if (speed <= 0) return {};
    return {.channels = heads, .intra_GBps = speed, .inter_GBps = speeds.front()};
  }
  const std::span<const double> speeds = nccl_inter_speeds(facts.cc_least);
  const double nic = limits.nic * static_cast<double>(limits.nics) / static_cast<double>(heads);
  const double rings = ring.inter_GBps * static_cast<double>(ring.channels) / static_cast<double>(heads);
  const double speed = fastest_within(speeds, std::min(link, nic));
  if (speed <= 0) return {};
  return {.channels = heads,
          .intra_GBps = speed,
          .inter_GBps = std::max(speed, fastest_within(speeds, std::min(nic, rings)))};
}

bool has_collnet(const GroupFacts& facts, const NcclSettings& settings) {
  return facts.hosts > 1 && facts.in_network_reduction && settings.collnet.value_or(false);
}

// One head per NIC; each GPU spreads its data over all heads.
NcclGraph collnet_direct_graph(const GroupFacts& facts, const Limits& limits) {
  const std::int64_t heads = std::min<std::int64_t>(limits.nics, facts.local_least);
  const double link = limits.link / static_cast<double>(heads);
  const double speed = fastest_within(nccl_inter_speeds(facts.cc_least), std::min(link, limits.nic));
  if (speed <= 0) return {};
  return {.channels = heads, .intra_GBps = speed, .inter_GBps = speed};
}

// Within what NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS say; the least wins.
std::int64_t within(std::int64_t channels, const std::optional<std::int64_t>& least,
                    const std::optional<std::int64_t>& most) {
  if (most) channels = std::min(channels, std::max<std::int64_t>(1, *most));
  if (least) channels = std::max(channels, *least);
  return std::min(channels, kMostChannels);
}

// Each searched channel is used twice; fast rings between Hopper hosts with few channels once more.
std::int64_t communicator_channels(const NcclGraph& ring, const GroupFacts& facts,
                                   const NcclSettings& settings) {
  std::int64_t channels = std::min(2 * ring.channels, kMostChannels);
  if (facts.cc_least >= 90 && facts.hosts > 1 && ring.intra_GBps > 45 && channels < 16) channels *= 2;
  if (has_collnet(facts, settings)) channels += channels / 2;
  return within(channels, settings.min_channels, settings.max_channels);
}

std::int64_t nvls_channels(const GroupFacts& facts, const NcclSettings& settings) {
  if (settings.nvls_channels) return std::min(*settings.nvls_channels, kMostChannels);
  const std::int64_t channels = facts.cc_least < 100 ? 16 : facts.hosts == 1 ? 24 : 32;
  return within(channels, settings.min_channels, settings.max_channels);
}

std::int64_t power_of_two(std::int64_t least) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, least))));
}

// Two per NVLink between two GPUs, or two. A direct link's GPU spreads its links over its peers.
std::int64_t channels_per_local_peer(const GroupFacts& facts, const Limits& limits) {
  if (facts.intra_path > PathType::kNvl) return 2;
  const double peers = facts.nvswitch ? 1 : facts.local_most - 1.0;
  const double links = limits.link / peers / nccl_nvlink_GBps(facts.cc_least);
  return 2 * std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(links + 1e-9, 1e3)));
}

// As many as a GPU has NICs, at least two, or one on large groups.
std::int64_t channels_per_net_peer(const GroupFacts& facts, const NcclSettings& settings,
                                   std::int64_t p2p_channels) {
  if (settings.channels_per_net_peer) return std::max<std::int64_t>(1, *settings.channels_per_net_peer);
  const std::int64_t nics = facts.nics / std::max(1u, facts.local_most);
  const std::int64_t start = 2 * std::int64_t{facts.ranks} > 4 * p2p_channels ? 1 : 2;
  return std::max(nics, start);
}

void add_p2p_channels(NcclGraphs& graphs, const GroupFacts& facts, const NcclSettings& settings,
                      const Limits& limits) {
  graphs.p2p_channels =
      power_of_two(within(graphs.channels, settings.min_p2p_channels, settings.max_p2p_channels));
  std::int64_t per_peer = graphs.p2p_channels;
  if (facts.local_most > 1) per_peer = std::min(per_peer, channels_per_local_peer(facts, limits));
  if (facts.hosts > 1)
    per_peer = std::min(per_peer, channels_per_net_peer(facts, settings, graphs.p2p_channels));
  graphs.p2p_channels_per_peer = std::min(power_of_two(per_peer), graphs.p2p_channels);
}

void take_from_log(NcclGraphs& graphs, const NcclLog& log) {
  if (log.channels) graphs.channels = std::max<std::int64_t>(1, *log.channels);
  if (log.p2p_channels) graphs.p2p_channels = *log.p2p_channels;
  if (log.p2p_channels_per_peer) graphs.p2p_channels_per_peer = *log.p2p_channels_per_peer;
  if (log.nvls_channels) graphs.nvls_channels = *log.nvls_channels;
  if (graphs.nvls_channels == 0) graphs.nvls = {};
}

}  // namespace

const NcclLog* nccl_log_of(const GroupFacts& facts, const NcclSettings& settings) {
  if (!settings.log) return nullptr;
  const NcclLog& log = *settings.log;
  const bool fits_group =
      (log.ranks == 0 || log.ranks == facts.ranks) && (log.hosts == 0 || log.hosts == facts.hosts);
  return fits_group ? &log : nullptr;
}

NcclGraphs nccl_graphs(const GroupFacts& facts, const NcclSettings& settings) {
  BUSBAR_CHECK(facts.ranks >= 1);
  NcclGraphs graphs;
  if (facts.ranks == 1) {
    graphs.ring = graphs.tree = {.channels = 1};
    return graphs;
  }
  const Limits limits = limits_of(facts);
  const int cc = facts.cc_least;
  graphs.ring =
      duplicated(search_ring(facts.hosts > 1 ? nccl_inter_speeds(cc) : nccl_intra_speeds(cc), limits), cc);
  graphs.ring.same_channels = same_order(facts);
  graphs.tree = tree_graph(graphs.ring, facts, limits);
  if (has_nvls(facts, settings)) graphs.nvls = nvls_graph(graphs.ring, facts, limits);
  if (graphs.nvls.channels > 0) graphs.nvls_channels = nvls_channels(facts, settings);
  if (has_collnet(facts, settings)) {
    graphs.collnet_chain = graphs.ring;
    graphs.collnet_direct = collnet_direct_graph(facts, limits);
  }
  graphs.channels = communicator_channels(graphs.ring, facts, settings);
  add_p2p_channels(graphs, facts, settings, limits);
  if (const NcclLog* log = nccl_log_of(facts, settings)) take_from_log(graphs, *log);
  return graphs;
}

}  // namespace busbar
