// Collectives through a network whose switches reduce (CollNet over InfiniBand SHARP): S out of and into each
// host. Direct: each of a host's L ranks is the head of 1/L of the data, which the others send it and which
// it gives them again: S (2 - 1/L) out of each rank, 4 rounds (2 for L = 1). Chain: all of it through the
// first rank of the host: 2 L rounds, L the most ranks on a host. Not modelled: several chains per host, and
// the levels of the switches' own tree. Source: NVIDIA/nccl src/device/all_reduce.h
// (NCCL_ALGO_COLLNET_DIRECT, NCCL_ALGO_COLLNET_CHAIN), src/graph/connect.cc (connectCollNet) v2.28.9.
#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/collectives/moves.h"
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

Schedule head(CollectiveKind kind, const GroupShape& shape, std::uint32_t chunks) {
  return {
      .kind = kind, .ranks = shape.ranks, .chunks = chunks, .sends = {}, .switches = host_count(shape) + 1};
}

std::uint32_t heads(const GroupShape& shape) {
  return static_cast<std::uint32_t>(shape.hosts.front().size());
}

// Turned round: what was added up on the way in is copied on the way out.
std::vector<Move> back(std::vector<Move> round) {
  for (Move& move : round) {
    std::swap(move.from, move.to);
    move.reduce = false;
  }
  return round;
}

// Everybody gives each head of its host the head's chunks: `per_head` of them, numbered by place.
std::vector<Move> into_heads(const GroupShape& shape, std::uint32_t per_head) {
  std::vector<Move> round;
  for (const auto& host : shape.hosts)
    for (std::uint32_t l = 0; l < host.size(); ++l)
      for (const std::uint32_t other : host)
        if (other != host[l])
          round.push_back(
              {.from = other, .to = host[l], .first = l * per_head, .count = per_head, .reduce = true});
  return round;
}

// Every head gives the network all its chunks.
std::vector<Move> into_network(const GroupShape& shape, std::uint32_t per_head) {
  std::vector<Move> round;
  for (const auto& host : shape.hosts)
    for (std::uint32_t l = 0; l < host.size(); ++l)
      round.push_back({.from = host[l],
                       .to = network_switch(shape),
                       .first = l * per_head,
                       .count = per_head,
                       .reduce = true});
  return round;
}

// The network gives every rank its own part: number l H + h.
std::vector<Move> own_from_network(const GroupShape& shape) {
  std::vector<Move> round;
  for (std::uint32_t h = 0; h < shape.hosts.size(); ++h)
    for (std::uint32_t l = 0; l < shape.hosts[h].size(); ++l)
      round.push_back(
          {.from = network_switch(shape), .to = shape.hosts[h][l], .first = l * host_count(shape) + h});
  return round;
}

MoveRounds direct_moves(const GroupShape& shape) {
  const std::vector<Move> inside = into_heads(shape, 1);
  const std::vector<Move> out = into_network(shape, 1);
  if (heads(shape) == 1) return {out, back(out)};
  return {inside, out, back(out), back(inside)};
}

MoveRounds reduce_scatter_moves(const GroupShape& shape) {
  MoveRounds rounds;
  if (heads(shape) > 1) rounds.push_back(into_heads(shape, host_count(shape)));
  rounds.push_back(into_network(shape, host_count(shape)));
  rounds.push_back(own_from_network(shape));
  return rounds;
}

// The same backwards.
MoveRounds all_gather_moves(const GroupShape& shape) {
  MoveRounds rounds = reduce_scatter_moves(shape);
  std::reverse(rounds.begin(), rounds.end());
  for (std::vector<Move>& round : rounds) round = back(std::move(round));
  return rounds;
}

// Parts by place and host, renamed to the ranks that they belong to.
Schedule with_parts(CollectiveKind kind, const GroupShape& shape, const MoveRounds& moves) {
  Schedule s = schedule_of(head(kind, shape, shape.ranks), moves);
  const std::uint32_t hosts = host_count(shape);
  for (Send& send : s.sends) send.chunk = shape.hosts[send.chunk % hosts][send.chunk / hosts];
  return s;
}

// A tree with the network's switch as the root of the hosts' chains.
MoveRounds chain_moves(const GroupShape& shape) {
  const std::uint32_t root = shape.ranks;
  Tree tree(shape.ranks + 1);
  for (const auto& host : shape.hosts)
    for (std::size_t l = 0; l < host.size(); ++l) {
      const std::uint32_t parent = l == 0 ? root : host[l - 1];
      tree[host[l]].parent = parent;
      tree[parent].children.push_back(host[l]);
    }
  std::vector<std::uint32_t> participants(shape.ranks);
  std::iota(participants.begin(), participants.end(), 0);
  participants.push_back(network_switch(shape));
  MoveRounds rounds;
  add_all_reduce(rounds, 0, {.tree = tree, .participants = participants});
  return rounds;
}

}  // namespace

std::string needs_several_hosts(const GroupShape& shape) {
  return host_count(shape) < 2 ? "it needs ranks on at least two hosts" : "";
}
std::string needs_several_equal_hosts(const GroupShape& shape) {
  const std::string reason = needs_several_hosts(shape);
  return reason.empty() ? needs_equal_hosts(shape) : reason;
}

Schedule all_reduce_collnet_direct_schedule(const GroupShape& shape) {
  return schedule_of(head(CollectiveKind::kAllReduce, shape, heads(shape)), direct_moves(shape));
}
Schedule all_reduce_collnet_chain_schedule(const GroupShape& shape) {
  return schedule_of(head(CollectiveKind::kAllReduce, shape, 1), chain_moves(shape));
}
Schedule all_gather_collnet_direct_schedule(const GroupShape& shape) {
  return with_parts(CollectiveKind::kAllGather, shape, all_gather_moves(shape));
}
Schedule reduce_scatter_collnet_direct_schedule(const GroupShape& shape) {
  return with_parts(CollectiveKind::kReduceScatter, shape, reduce_scatter_moves(shape));
}
std::vector<Round> all_gather_collnet_direct_rounds(const GroupShape& shape) {
  return rounds_of(all_gather_moves(shape), shape.ranks);
}
std::vector<Round> reduce_scatter_collnet_direct_rounds(const GroupShape& shape) {
  return rounds_of(reduce_scatter_moves(shape), shape.ranks);
}
std::vector<Round> all_reduce_collnet_direct_rounds(const GroupShape& shape) {
  return rounds_of(direct_moves(shape), heads(shape));
}
std::vector<Round> all_reduce_collnet_chain_rounds(const GroupShape& shape) {
  return rounds_of(chain_moves(shape), 1);
}

}  // namespace busbar
