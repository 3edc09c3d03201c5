#include <numeric>

#include "sim/collectives/algorithm.h"
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

constexpr Algorithm kAlgorithms[] = {
    {"ring", CollectiveKind::kAllReduce, "reduce-scatter then all-gather round a ring: 2(n-1) steps of S/n",
     Wiring::kRings, all_reduce_ring_schedule, all_reduce_ring_plan},
    {"halving-doubling", CollectiveKind::kAllReduce,
     "recursive halving, then doubling: 2 log2(n) rounds, n a power of two", Wiring::kRounds,
     all_reduce_halving_doubling_schedule, rounds_plan, all_reduce_halving_doubling_rounds,
     needs_power_of_two},
    {"hierarchical", CollectiveKind::kAllReduce,
     "ring reduce-scatter inside hosts, ring all-reduces between them, ring all-gather inside",
     Wiring::kRounds, all_reduce_hierarchical_schedule, rounds_plan, all_reduce_hierarchical_rounds,
     needs_equal_hosts},
    {"tree", CollectiveKind::kAllReduce,
     "NCCL's double binary tree between hosts, chains inside: up and down, half of S on each tree",
     Wiring::kTrees, all_reduce_tree_schedule, pipeline_plan, all_reduce_tree_rounds},
    {"nvls", CollectiveKind::kAllReduce,
     "the host's switch reduces and multicasts: S(1+1/n) out of and into each rank", Wiring::kSwitch,
     all_reduce_nvls_schedule, pipeline_plan, all_reduce_nvls_rounds, needs_one_host, true},
    {"nvls-tree", CollectiveKind::kAllReduce,
     "the hosts' switches reduce and multicast, double binary trees between equal places of the hosts",
     Wiring::kSwitchTrees, all_reduce_nvls_tree_schedule, pipeline_plan, all_reduce_nvls_tree_rounds,
     needs_equal_hosts, true},
    {"collnet-direct", CollectiveKind::kAllReduce,
     "direct reduce-scatter inside hosts, the network's switches reduce, direct all-gather inside",
     Wiring::kNetworkSwitch, all_reduce_collnet_direct_schedule, pipeline_plan,
     all_reduce_collnet_direct_rounds, needs_several_equal_hosts, true},
    {"collnet-chain", CollectiveKind::kAllReduce,
     "a chain into each host's first rank, the network's switches reduce, a chain out again",
     Wiring::kNetworkSwitch, all_reduce_collnet_chain_schedule, pipeline_plan,
     all_reduce_collnet_chain_rounds, needs_several_hosts, true},
    {"ring", CollectiveKind::kAllGather, "each part travels once round a ring: n-1 steps of S/n",
     Wiring::kRings, all_gather_ring_schedule, all_gather_ring_plan},
    {"nvls", CollectiveKind::kAllGather, "each rank sends S/n to the host's switch, which copies it to all",
     Wiring::kSwitch, all_gather_nvls_schedule, pipeline_plan, all_gather_nvls_rounds, needs_one_host, true},
    {"pat", CollectiveKind::kAllGather,
     "parallel aggregated trees: ceil(log2 n) rounds at falling distances, (n-1)/n S in all", Wiring::kRounds,
     all_gather_pat_schedule, rounds_plan, all_gather_pat_rounds},
    {"collnet-direct", CollectiveKind::kAllGather,
     "each rank gives the network S/n and gets S/L of its place, then a direct all-gather inside",
     Wiring::kNetworkSwitch, all_gather_collnet_direct_schedule, pipeline_plan,
     all_gather_collnet_direct_rounds, needs_several_equal_hosts, true},
    {"ring", CollectiveKind::kReduceScatter, "partial sums travel once round a ring: n-1 steps of S/n",
     Wiring::kRings, reduce_scatter_ring_schedule, reduce_scatter_ring_plan},
    {"nvls", CollectiveKind::kReduceScatter,
     "the host's switch adds up what each rank sends it and gives each rank its S/n", Wiring::kSwitch,
     reduce_scatter_nvls_schedule, pipeline_plan, reduce_scatter_nvls_rounds, needs_one_host, true},
    {"pat", CollectiveKind::kReduceScatter,
     "parallel aggregated trees: ceil(log2 n) rounds at rising distances, (n-1)/n S in all", Wiring::kRounds,
     reduce_scatter_pat_schedule, rounds_plan, reduce_scatter_pat_rounds},
    {"collnet-direct", CollectiveKind::kReduceScatter,
     "direct reduce-scatter inside hosts, S/L into the network from each rank, the sum of S/n back",
     Wiring::kNetworkSwitch, reduce_scatter_collnet_direct_schedule, pipeline_plan,
     reduce_scatter_collnet_direct_rounds, needs_several_equal_hosts, true},
    {"ring", CollectiveKind::kBroadcast, "a pipelined chain from the root: S over n-1 hops",
     Wiring::kChainsFromRoot, broadcast_ring_schedule, chain_plan},
    {"binomial", CollectiveKind::kBroadcast, "a binomial tree: ceil(log2 n) rounds of S", Wiring::kRounds,
     broadcast_binomial_schedule, rounds_plan, broadcast_binomial_rounds},
    {"ring", CollectiveKind::kReduce, "a pipelined chain into the root: S over n-1 hops",
     Wiring::kChainsToRoot, reduce_ring_schedule, chain_plan},
    {"binomial", CollectiveKind::kReduce, "a binomial tree: ceil(log2 n) rounds of S", Wiring::kRounds,
     reduce_binomial_schedule, rounds_plan, reduce_binomial_rounds},
    {"direct", CollectiveKind::kGather, "everybody sends S/n to the root at once", Wiring::kRounds,
     gather_direct_schedule, rounds_plan, gather_direct_rounds},
    {"direct", CollectiveKind::kScatter, "the root sends S/n to everybody at once", Wiring::kRounds,
     scatter_direct_schedule, rounds_plan, scatter_direct_rounds},
    {"direct", CollectiveKind::kAllToAll, "all pairs at once, S/n each", Wiring::kRounds,
     all_to_all_direct_schedule, rounds_plan, all_to_all_direct_rounds},
    {"pairwise", CollectiveKind::kAllToAll, "n-1 rounds; in round k rank i sends S/n to i+k", Wiring::kRounds,
     all_to_all_pairwise_schedule, rounds_plan, all_to_all_pairwise_rounds},
    {"direct", CollectiveKind::kSendRecv, "each rank sends S to the next: one step", Wiring::kNeighbours,
     send_recv_schedule, send_recv_plan},
    {"ring", CollectiveKind::kBarrier, "an empty all_reduce: 2(n-1) steps of nothing", Wiring::kRings,
     barrier_ring_schedule, barrier_ring_plan},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

const Algorithm* find_algorithm(CollectiveKind kind, std::string_view name) {
  for (const Algorithm& row : kAlgorithms)
    if (row.kind == kind && (name.empty() || row.name == name)) return &row;
  return nullptr;
}

bool is_pipeline(Wiring wiring) { return wiring >= Wiring::kTrees; }

Hosts hosts_of(const GroupShape& shape) {
  if (!shape.hosts.empty()) return shape.hosts;
  std::vector<std::uint32_t> all(shape.ranks);
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

// The send of round k+1 forwards what round k brought: its one predecessor is the send of the rank before.
void append_ring_rounds(Schedule& s, std::uint32_t first_chunk, std::uint32_t steps, bool reduce) {
  const std::uint32_t n = s.ranks;
  for (std::uint32_t k = 0; k < steps; ++k) {
    const auto previous_round = static_cast<std::uint32_t>(s.sends.size()) - n;
    for (std::uint32_t i = 0; i < n; ++i) {
      Send send{.from = i,
                .to = (i + 1) % n,
                .chunk = (first_chunk + i + n - k % n) % n,
                .reduce = reduce,
                .round = s.rounds};
      if (s.rounds > 0) send.after.push_back(previous_round + (i + n - 1) % n);
      s.sends.push_back(send);
    }
    ++s.rounds;
  }
}

}  // namespace busbar
