// Binomial trees: ceil(log2 n) (alpha + S/B). Source: Thakur, Rabenseifner & Gropp, IJHPCA 2005, section 4.4.
#include <algorithm>

#include "sim/collectives/rows.h"

namespace busbar {

namespace {

struct Edge {
  std::uint32_t parent, child;  // relative to the root
};

// Round k of a broadcast: ranks below 2^k pass on to the rank 2^k above.
std::vector<std::vector<Edge>> broadcast_rounds(std::uint32_t n) {
  std::vector<std::vector<Edge>> rounds;
  for (std::uint32_t reach = 1; reach < n; reach *= 2) {
    std::vector<Edge>& edges = rounds.emplace_back();
    for (std::uint32_t r = 0; r < reach && r + reach < n; ++r) edges.push_back({r, r + reach});
  }
  return rounds;
}

std::uint32_t absolute(const GroupShape& shape, std::uint32_t relative) {
  return (shape.root + relative) % shape.ranks;
}

std::vector<Round> as_rounds(const GroupShape& shape, bool reduce) {
  std::vector<Round> rounds;
  for (const auto& edges : broadcast_rounds(shape.ranks)) {
    Round round{.share = 1};
    for (const Edge& e : edges) {
      const std::uint32_t up = absolute(shape, e.parent);
      const std::uint32_t down = absolute(shape, e.child);
      round.transfers.push_back(reduce ? RoundTransfer{down, up} : RoundTransfer{up, down});
    }
    rounds.push_back(std::move(round));
  }
  if (reduce) std::reverse(rounds.begin(), rounds.end());
  return rounds;
}

// The whole message as one chunk; a send waits for all that has reached its sender.
Schedule as_schedule(CollectiveKind kind, const GroupShape& shape) {
  Schedule s{.kind = kind, .ranks = shape.ranks, .chunks = 1, .root = shape.root};
  std::vector<std::vector<std::uint32_t>> arrived(shape.ranks);
  for (const Round& round : as_rounds(shape, kind == CollectiveKind::kReduce)) {
    for (const RoundTransfer& t : round.transfers) {
      const auto number = static_cast<std::uint32_t>(s.sends.size());
      s.sends.push_back({.from = t.from,
                         .to = t.to,
                         .chunk = 0,
                         .reduce = kind == CollectiveKind::kReduce,
                         .round = s.rounds,
                         .after = arrived[t.from]});
      // The receiver takes one message at a time.
      s.sends.back().after.insert(s.sends.back().after.end(), arrived[t.to].begin(), arrived[t.to].end());
      arrived[t.to].push_back(number);
      arrived[t.from].push_back(number);  // a rank sends one message at a time
    }
    ++s.rounds;
  }
  return s;
}

}  // namespace

std::vector<Round> broadcast_binomial_rounds(const GroupShape& shape) { return as_rounds(shape, false); }
std::vector<Round> reduce_binomial_rounds(const GroupShape& shape) { return as_rounds(shape, true); }
Schedule broadcast_binomial_schedule(const GroupShape& shape) {
  return as_schedule(CollectiveKind::kBroadcast, shape);
}
Schedule reduce_binomial_schedule(const GroupShape& shape) {
  return as_schedule(CollectiveKind::kReduce, shape);
}

}  // namespace busbar
