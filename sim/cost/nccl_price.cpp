#include <algorithm>
#include <bit>
#include <limits>

#include "sim/cost/nccl_cell.h"

namespace busbar {

namespace {

constexpr std::size_t at(NcclAlgorithm algorithm) { return static_cast<std::size_t>(algorithm); }
constexpr std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }

double per_host(const GroupFacts& facts) { return static_cast<double>(facts.ranks) / facts.hosts; }
bool one_per_host(const GroupFacts& facts) { return facts.ranks == facts.hosts; }
double floor_log2(std::uint32_t n) { return std::bit_width(n) - 1; }

const NcclGraph& graph_of(NcclAlgorithm algorithm, const NcclGraphs& graphs) {
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return graphs.tree;
    case NcclAlgorithm::kRing:
    case NcclAlgorithm::kPat:
      return graphs.ring;
    case NcclAlgorithm::kCollNetDirect:
      return graphs.collnet_direct;
    case NcclAlgorithm::kCollNetChain:
      return graphs.collnet_chain;
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kNvlsTree:
      return graphs.nvls;
  }
  return graphs.ring;
}

// ---- Latency, us ----

struct Hops {
  double intra, inter, loop;  // loop: of a broadcast's chain, the slowest class in it
};

NcclHop intra_class(const GroupFacts& facts) {
  return facts.intra_path == PathType::kNvl ? NcclHop::kNvlink : NcclHop::kPci;
}

Hops hops_of(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p) {
  const auto hop = [&](NcclHop hardware, NcclAlgorithm row) {
    return p.constants.hops[static_cast<std::size_t>(hardware)][at(row)][at(protocol)];
  };
  const NcclHop intra = intra_class(p.facts);
  // With one rank per host nothing hides the network's latency: the tree's row holds for all.
  const NcclAlgorithm network_row = one_per_host(p.facts) ? NcclAlgorithm::kTree : algorithm;
  // A chain whose channels run in different orders waits for whole chunks, as a tree does.
  const bool chunked = !p.graphs.ring.same_channels && protocol == Protocol::kSimple;
  return {.intra = hop(intra, algorithm),
          .inter = hop(NcclHop::kNet, network_row),
          .loop = hop(p.facts.hosts > 1 ? NcclHop::kNet : intra,
                      chunked ? NcclAlgorithm::kTree : NcclAlgorithm::kRing)};
}

// Posting a network operation costs the CPU time at every step.
double network_overhead(Protocol protocol, const NcclCellFacts& p) {
  if (p.facts.hosts <= 1) return 0;
  const double us = p.settings.net_overhead_ns       ? *p.settings.net_overhead_ns / 1000
                    : p.facts.cpu == CpuVendor::kAmd ? 2
                                                     : 1;
  return protocol == Protocol::kSimple ? 3 * us : us;
}

// laps x ((n - N) intra steps + (N - 1) network steps); a broadcast or reduce is one chain.
double ring_latency(Protocol protocol, const Hops& hops, const NcclCellFacts& p) {
  if (p.kind == CollectiveKind::kBroadcast || p.kind == CollectiveKind::kReduce)
    return p.graphs.ring.same_channels ? hops.loop : p.facts.ranks * hops.loop;
  const double laps = p.kind == CollectiveKind::kAllReduce ? 2 : 1;
  const double network = laps * (p.facts.hosts - 1.0);
  const double inside = laps * (p.facts.ranks - 1.0) - network;
  return inside * std::max(hops.intra, network_overhead(protocol, p)) + network * hops.inter;
}

// ---- Bandwidth, GB/s ----

double ceiling(const NcclCeiling& table, const NcclCellFacts& p) {
  const std::size_t column = std::min<std::size_t>(p.facts.hosts, 3) - 1;
  return table[static_cast<std::size_t>(p.generation)][column];
}

double ll_ceiling(const NcclCellFacts& p) {
  return nccl_ll_ceiling(p.generation, p.facts.cpu == CpuVendor::kAmd, p.facts.hosts);
}

double ring_bus(Protocol protocol, double bus, const NcclCellFacts& p) {
  const double channels = static_cast<double>(p.graphs.ring.channels);
  if (protocol == Protocol::kLl) return std::min(ll_ceiling(p), bus / 2);
  if (protocol == Protocol::kLl128) return std::min(.92 * bus, channels * ceiling(p.constants.ring_ll128, p));
  return bus;
}

double tree_bus(Protocol protocol, double bus, const NcclCellFacts& p) {
  const double channels = static_cast<double>(p.graphs.tree.channels);
  bus = std::min(.92 * bus, channels * ceiling(p.constants.tree, p));
  if (protocol == Protocol::kLl) bus = std::min(bus / 3.8, ll_ceiling(p));
  if (protocol == Protocol::kLl128)
    bus = std::min(bus * (p.facts.hosts == 1 ? 7. / 9 : 120. / 128),
                   channels * ceiling(p.constants.tree_ll128, p));
  // A host's one GPU takes both directions of its NIC.
  return p.facts.hosts > 1 && p.facts.local_least == 1 ? .85 * bus : bus;
}

// Up to 2.27: a fixed ratio, already that of the algorithm.
double nvls_by_ratio(NcclAlgorithm algorithm, const NcclCellFacts& p) {
  const NcclGraph& g = p.graphs.nvls;
  const double channels = static_cast<double>(g.channels);
  const double ppn = per_host(p.facts);
  if (nccl_is_gather(p.kind)) return channels * std::min(g.intra_GBps * (ppn - 1) / ppn, .9 * g.inter_GBps);
  const bool halved = algorithm == NcclAlgorithm::kNvlsTree && p.facts.hosts > 2;
  return channels * std::min(g.intra_GBps, halved ? g.inter_GBps / 2 : g.inter_GBps) * 5 / 6;
}

// From 2.28: per channel what the switch and the network leave.
double nvls_by_efficiency(NcclAlgorithm algorithm, const NcclCellFacts& p) {
  const NcclGraph& g = p.graphs.nvls;
  const double channels = static_cast<double>(g.channels);
  const double ppn = per_host(p.facts);
  const bool tree = algorithm == NcclAlgorithm::kNvlsTree;
  const double intra = g.intra_GBps * nccl_nvls_efficiency(p.generation) * (channels - 1) / channels *
                       (nccl_is_gather(p.kind) ? (ppn - 1) / ppn : 2);
  const double inter = g.inter_GBps * (tree && p.facts.hosts <= 2 ? 2 : 1);
  const double most = tree ? ceiling(p.constants.nvls_tree, p) : std::numeric_limits<double>::infinity();
  return channels * std::min({intra, inter, most});
}

// All GPUs need a NIC of their own for full speed.
double collnet_direct_bus(const NcclCellFacts& p) {
  const NcclGraph& g = p.graphs.collnet_direct;
  const double ppn = per_host(p.facts);
  if (nccl_is_gather(p.kind)) return ppn * std::min(g.intra_GBps, .9 * g.inter_GBps);
  const double channels = static_cast<double>(g.channels);
  const double ratio = ppn / channels;
  const double bus = channels * g.intra_GBps / (ratio - (ratio - 1) / 2);
  return p.facts.cc_least >= 90 ? .85 * bus : bus;
}

// Of bus bandwidth, what the algorithm's is: ranks / steps round a ring.
double ring_ratio(const NcclCellFacts& p) {
  const double n = p.facts.ranks;
  if (p.kind == CollectiveKind::kAllReduce) return n / (2 * (n - 1));
  return nccl_is_gather(p.kind) ? n / (n - 1) : 1;
}

}  // namespace

double nccl_latency_us(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p) {
  const Hops hops = hops_of(algorithm, protocol, p);
  const double base = p.constants.base[at(algorithm)][at(protocol)];
  const auto per_host = p.facts.ranks / p.facts.hosts;  // NCCL divides whole numbers
  const double others = per_host - 1;
  const double depth = floor_log2(p.facts.hosts);
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return base + 2 * (others * hops.intra + depth * hops.inter);
    case NcclAlgorithm::kRing:
      return base + ring_latency(protocol, hops, p);
    case NcclAlgorithm::kCollNetDirect:
      return base + 2 * (std::min(1.0, others) * hops.intra + others * 0.4) + hops.inter;
    case NcclAlgorithm::kCollNetChain:
      return base + 2 * others * hops.intra + hops.inter;
    case NcclAlgorithm::kNvls:
      return base + hops.intra + (p.facts.hosts > 1 ? hops.inter : 0);
    case NcclAlgorithm::kNvlsTree:
      return base + hops.intra + 2 * depth * hops.inter;
    case NcclAlgorithm::kPat:
      return base + depth * hops.inter / 3.5 + 2.8 * p.facts.ranks;
  }
  return 0;
}

double nccl_bandwidth_GBps(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p) {
  const NcclGraph& g = graph_of(algorithm, p.graphs);
  const bool few = p.facts.hosts <= 2 || algorithm == NcclAlgorithm::kCollNetChain;
  const double bus = static_cast<double>(g.channels) * (few ? g.intra_GBps : g.inter_GBps);
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return tree_bus(protocol, bus, p) / 2;
    case NcclAlgorithm::kRing:
      return ring_bus(protocol, bus, p) * ring_ratio(p);
    case NcclAlgorithm::kCollNetDirect:
      return collnet_direct_bus(p) * (nccl_is_gather(p.kind) ? 1 : .5);
    case NcclAlgorithm::kCollNetChain:
      return bus / 2;
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kNvlsTree:
      if (!p.constants.nvls_by_efficiency) return nvls_by_ratio(algorithm, p);
      return nvls_by_efficiency(algorithm, p) * (nccl_is_gather(p.kind) ? 1 : ring_ratio(p));
    case NcclAlgorithm::kPat:
      return bus * p.constants.pat_share;
  }
  return 0;
}

}  // namespace busbar
