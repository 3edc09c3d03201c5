// Collectives through a switch that reduces and multicasts (NVLink SHARP).
// One host: rank i is the head of chunk i. It pulls the sum of everybody's chunk i from the switch, its own
// included, and stores it to all through the switch, itself included: S (1 + 1/n) out of and into each rank.
// Several hosts (nvls-tree): each of a host's L ranks is the head of 1/L of the data; equal heads of the
// hosts all-reduce their part over a double binary tree, half on each tree.
// Source: NVIDIA/nccl src/transport/nvls.cc, src/device/all_reduce.h (NCCL_ALGO_NVLS, NCCL_ALGO_NVLS_TREE),
// src/graph/connect.cc (connectNvls) v2.28.9.
#include <array>

#include "sim/collectives/moves.h"
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

enum class Way : std::uint8_t { kToSwitch, kFromSwitch };

// How the data is divided among the heads of each host: each head has `per_head` chunks, by its place on the
// host.
struct Switched {
  const GroupShape& shape;
  Hosts hosts;
  std::uint32_t per_head = 1;

  [[nodiscard]] std::uint32_t chunks() const {
    return static_cast<std::uint32_t>(hosts.front().size()) * per_head;
  }

  [[nodiscard]] auto own() const {
    return [this](std::uint32_t l) { return Move{.first = l * per_head, .count = per_head}; };
  }

  // A round between every rank and its host's switch; `move(l)`: what the rank of place l passes or gets.
  template <class MoveOfPlace>
  [[nodiscard]] std::vector<Move> round(Way way, MoveOfPlace move) const {
    std::vector<Move> moves;
    for (std::uint32_t h = 0; h < hosts.size(); ++h)
      for (std::uint32_t l = 0; l < hosts[h].size(); ++l) {
        Move& made = moves.emplace_back(move(l));
        made.from = way == Way::kToSwitch ? hosts[h][l] : host_switch(shape, h);
        made.to = way == Way::kToSwitch ? host_switch(shape, h) : hosts[h][l];
      }
    return moves;
  }

  // Every rank gives all chunks to the switch, which adds them up and gives each head the sum of its own.
  void reduce_to_heads(MoveRounds& rounds) const {
    rounds.push_back(
        round(Way::kToSwitch, [&](std::uint32_t) { return Move{.count = chunks(), .reduce = true}; }));
    rounds.push_back(round(Way::kFromSwitch, own()));
  }

  // Every head gives its chunks to the switch, which copies them to all.
  void multicast_from_heads(MoveRounds& rounds) const {
    rounds.push_back(round(Way::kToSwitch, own()));
    rounds.push_back(round(Way::kFromSwitch, [&](std::uint32_t) { return Move{.count = chunks()}; }));
  }

  // All-reduce between the heads of one place, in rounds of all of them together.
  void trees_between_heads(MoveRounds& rounds) const {
    const std::array<Tree, 2> trees = double_tree(static_cast<std::uint32_t>(hosts.size()));
    const std::size_t first = rounds.size();
    for (std::uint32_t l = 0; l < hosts.front().size(); ++l) {
      std::vector<std::uint32_t> heads;
      for (const auto& host : hosts) heads.push_back(host[l]);
      for (std::uint32_t half = 0; half < per_head; ++half)
        add_all_reduce(rounds, first,
                       {.tree = trees[half], .participants = heads, .chunk = l * per_head + half});
    }
  }
};

// Rank i has place i, whatever the order of the host's list: part i is rank i's.
Switched one_host(const GroupShape& shape) {
  return {.shape = shape, .hosts = hosts_of({.ranks = shape.ranks})};
}

Schedule head(CollectiveKind kind, const GroupShape& shape, std::uint32_t chunks) {
  return {.kind = kind, .ranks = shape.ranks, .chunks = chunks, .sends = {}, .switches = host_count(shape)};
}

MoveRounds all_reduce_moves(const GroupShape& shape) {
  MoveRounds rounds;
  if (shape.ranks == 1) return rounds;
  const Switched host = one_host(shape);
  host.reduce_to_heads(rounds);
  host.multicast_from_heads(rounds);
  return rounds;
}

MoveRounds reduce_scatter_moves(const GroupShape& shape) {
  MoveRounds rounds;
  if (shape.ranks > 1) one_host(shape).reduce_to_heads(rounds);
  return rounds;
}

// A rank has its own part already: the switch gives it the others.
MoveRounds all_gather_moves(const GroupShape& shape) {
  const std::uint32_t n = shape.ranks;
  if (n == 1) return {};
  const Switched host = one_host(shape);
  return {host.round(Way::kToSwitch, host.own()), host.round(Way::kFromSwitch, [&](std::uint32_t l) {
            return Move{.first = l + 1, .count = n - 1};
          })};
}

Switched halves(const GroupShape& shape) { return {.shape = shape, .hosts = hosts_of(shape), .per_head = 2}; }

// A host of one rank has nothing to add up.
MoveRounds tree_moves(const GroupShape& shape) {
  MoveRounds rounds;
  const Switched all = halves(shape);
  const bool inside = all.hosts.front().size() > 1;
  if (inside) all.reduce_to_heads(rounds);
  all.trees_between_heads(rounds);
  if (inside) all.multicast_from_heads(rounds);
  return rounds;
}

}  // namespace

std::string needs_one_host(const GroupShape& shape) {
  return host_count(shape) > 1 ? "it needs all ranks on one host" : "";
}

Schedule all_reduce_nvls_schedule(const GroupShape& shape) {
  return schedule_of(head(CollectiveKind::kAllReduce, shape, shape.ranks), all_reduce_moves(shape));
}
Schedule all_gather_nvls_schedule(const GroupShape& shape) {
  return schedule_of(head(CollectiveKind::kAllGather, shape, shape.ranks), all_gather_moves(shape));
}
Schedule reduce_scatter_nvls_schedule(const GroupShape& shape) {
  return schedule_of(head(CollectiveKind::kReduceScatter, shape, shape.ranks), reduce_scatter_moves(shape));
}
Schedule all_reduce_nvls_tree_schedule(const GroupShape& shape) {
  return schedule_of(head(CollectiveKind::kAllReduce, shape, halves(shape).chunks()), tree_moves(shape));
}
std::vector<Round> all_reduce_nvls_rounds(const GroupShape& shape) {
  return rounds_of(all_reduce_moves(shape), shape.ranks);
}
std::vector<Round> all_gather_nvls_rounds(const GroupShape& shape) {
  return rounds_of(all_gather_moves(shape), shape.ranks);
}
std::vector<Round> reduce_scatter_nvls_rounds(const GroupShape& shape) {
  return rounds_of(reduce_scatter_moves(shape), shape.ranks);
}
std::vector<Round> all_reduce_nvls_tree_rounds(const GroupShape& shape) {
  return rounds_of(tree_moves(shape), halves(shape).chunks());
}

}  // namespace busbar
