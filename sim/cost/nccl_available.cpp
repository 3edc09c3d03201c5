#include "sim/cost/nccl_cell.h"

namespace busbar {

namespace {

constexpr std::size_t at(NcclAlgorithm algorithm) { return static_cast<std::size_t>(algorithm); }
constexpr std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }

bool one_per_host(const GroupFacts& facts) { return facts.ranks == facts.hosts; }

bool algorithm_fits_kind(NcclAlgorithm algorithm, CollectiveKind kind) {
  if (algorithm == NcclAlgorithm::kRing) return true;
  if (nccl_is_gather(kind))
    return algorithm == NcclAlgorithm::kPat || algorithm == NcclAlgorithm::kNvls ||
           algorithm == NcclAlgorithm::kCollNetDirect;
  return kind == CollectiveKind::kAllReduce && algorithm != NcclAlgorithm::kPat;
}

// Gathers over several hosts through the network's reduction need a head for every rank of a host.
bool gathers_by_collnet(const NcclCellFacts& p, const NcclGraph& graph) {
  return p.graphs.collnet_direct.channels > 0 && p.facts.local_most <= graph.channels &&
         p.facts.local_most <= p.graphs.collnet_direct.channels;
}

bool nvls_is_there(const NcclCellFacts& p) {
  const NcclGraph& graph = p.graphs.nvls;
  if (graph.channels == 0 || (p.constants.nvls_by_efficiency && graph.channels < 2)) return false;
  if (p.kind != CollectiveKind::kAllReduce && p.facts.local_most > 32) return false;
  if (p.facts.hosts == 1) return true;
  if (p.graphs.collnet_chain.channels == 0) return false;
  return !nccl_is_gather(p.kind) || gathers_by_collnet(p, graph);
}

bool hardware_has(NcclAlgorithm algorithm, const NcclCellFacts& p) {
  switch (algorithm) {
    case NcclAlgorithm::kTree:
    case NcclAlgorithm::kRing:
      return true;
    case NcclAlgorithm::kCollNetDirect:
      return p.graphs.collnet_direct.channels > 0 && p.facts.nvswitch && p.facts.local_most <= 8 &&
             (!nccl_is_gather(p.kind) || gathers_by_collnet(p, p.graphs.collnet_direct));
    case NcclAlgorithm::kCollNetChain:
      return p.graphs.collnet_chain.channels > 0 && p.facts.local_most <= 8;
    case NcclAlgorithm::kNvls:
      return nvls_is_there(p);
    case NcclAlgorithm::kNvlsTree:
      return p.facts.hosts > 1 && p.graphs.nvls.channels >= 2 && p.constants.has_nvls_tree;
    case NcclAlgorithm::kPat:
      return p.constants.pat_share > 0 && one_per_host(p.facts) && p.facts.cc_least >= 60;
  }
  return false;
}

// LL128 needs stores of 128 bytes to arrive whole: NCCL trusts NVLink, and PCIe up to a class of path.
bool ll128_is_safe(const NcclCellFacts& p) {
  const GroupFacts& f = p.facts;
  const bool mixed_is_fine = p.constants.ll128_on_mixed_hopper && f.cc_least >= 90;
  if (f.cc_least < 70 || (f.cc_least != f.cc_most && !mixed_is_fine)) return false;
  if (f.local_most > 1 && f.intra_path > PathType::kNvb) return false;
  if (f.hosts == 1) return true;
  if (f.inter_path == PathType::kP2c && !p.constants.ll128_over_c2c_to_nic) return false;
  return f.inter_path <= (f.cc_least >= 90 ? PathType::kPxn : PathType::kPxb);
}

}  // namespace

bool nccl_is_gather(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
}

bool nccl_allowed(NcclAlgorithm algorithm, Protocol protocol, CollectiveKind kind,
                  const NcclSettings& settings) {
  const auto k = static_cast<std::size_t>(kind);
  const auto& algorithms = settings.algorithms[k];
  const auto& protocols = settings.protocols[k];
  return (!algorithms || (*algorithms)[at(algorithm)]) && (!protocols || (*protocols)[at(protocol)]);
}

bool nccl_available(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p) {
  const bool all_protocols = algorithm == NcclAlgorithm::kTree || algorithm == NcclAlgorithm::kRing;
  if (!all_protocols && protocol != Protocol::kSimple) return false;
  if (!algorithm_fits_kind(algorithm, p.kind) || !hardware_has(algorithm, p)) return false;
  // A user who names protocols takes LL128 where NCCL would not.
  const bool named = p.settings.protocols[static_cast<std::size_t>(p.kind)].has_value();
  if (protocol == Protocol::kLl128 && !named && !ll128_is_safe(p)) return false;
  return nccl_allowed(algorithm, protocol, p.kind, p.settings);
}

}  // namespace busbar
