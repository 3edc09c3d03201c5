// NCCL's tree all-reduce: a double binary tree between the hosts and a chain inside each, at whose head the
// host's first member is its place in the tree; each of the two trees reduces and broadcasts half of the
// data. Without pipelining, N hosts of L ranks take 2 (ceil(log2 N) + L - 1) rounds of S/2.
// Source: NVIDIA/nccl src/graph/connect.cc (connectTrees), src/device/all_reduce.h (runTreeUpDown) v2.28.9.
#include <array>
#include <numeric>

#include "sim/collectives/moves.h"
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

constexpr std::uint32_t kHalves = 2;

// A tree of hosts as a tree of ranks.
Tree with_chains(const Tree& between, const Hosts& hosts, std::uint32_t ranks) {
  Tree tree(ranks);
  const auto join = [&](std::uint32_t parent, std::uint32_t child) {
    tree[child].parent = parent;
    tree[parent].children.push_back(child);
  };
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (between[h].parent) join(hosts[*between[h].parent].front(), hosts[h].front());
    for (std::size_t l = 1; l < hosts[h].size(); ++l) join(hosts[h][l - 1], hosts[h][l]);
  }
  return tree;
}

MoveRounds moves(const GroupShape& shape) {
  const Hosts hosts = hosts_of(shape);
  const std::array<Tree, 2> between = double_tree(static_cast<std::uint32_t>(hosts.size()));
  std::vector<std::uint32_t> ranks(shape.ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  MoveRounds rounds;
  for (std::uint32_t half = 0; half < kHalves; ++half) {
    const Tree tree = with_chains(between[half], hosts, shape.ranks);
    add_all_reduce(rounds, 0, {.tree = tree, .participants = ranks, .chunk = half});
  }
  return rounds;
}

}  // namespace

Schedule all_reduce_tree_schedule(const GroupShape& shape) {
  return schedule_of({.kind = CollectiveKind::kAllReduce, .ranks = shape.ranks, .chunks = kHalves},
                     moves(shape));
}

std::vector<Round> all_reduce_tree_rounds(const GroupShape& shape) {
  return rounds_of(moves(shape), kHalves);
}

}  // namespace busbar
