// Parallel aggregated trees: every part travels down its own binomial tree of distances, all trees at once,
// and a rank's parts of one round go to one peer as one message. ceil(log2 n) rounds, (n-1)/n S sent per rank
// for every n. Distances fall in an all-gather, so that the largest messages go the shortest way; a
// reduce-scatter is the same backwards. Not modelled: the further rounds that a limited buffer asks for.
// Source: Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025
// (arXiv 2506.20252); NVIDIA/nccl src/include/collectives.h (PatAGAlgorithm, PatRSAlgorithm) v2.28.9.
#include <algorithm>

#include "sim/collectives/moves.h"
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

// Part c has reached the ranks c + o, o a multiple of 2d, when distance d begins; each of them with
// o + d < n passes it on to c + o + d. So rank r passes on the parts r, r - 2d, r - 4d, ...: offset o > 0 is
// reached once, at the distance of its lowest set bit.
std::vector<Move> at_distance(std::uint32_t n, std::uint32_t d, CollectiveKind kind) {
  std::vector<Move> round;
  for (std::uint32_t r = 0; r < n; ++r) {
    Move move{.from = r, .to = (r + d) % n, .first = r, .count = (n - d - 1) / (2 * d) + 1};
    move.stride = (n - 2 * d % n) % n;
    move.reduce = kind == CollectiveKind::kReduceScatter;
    if (move.reduce) std::swap(move.from, move.to);
    round.push_back(move);
  }
  return round;
}

MoveRounds moves(CollectiveKind kind, const GroupShape& shape) {
  MoveRounds rounds;
  for (std::uint32_t d = 1; d < shape.ranks; d *= 2) rounds.push_back(at_distance(shape.ranks, d, kind));
  if (kind == CollectiveKind::kAllGather) std::reverse(rounds.begin(), rounds.end());
  return rounds;
}

Schedule pat_schedule(CollectiveKind kind, const GroupShape& shape) {
  return schedule_of({.kind = kind, .ranks = shape.ranks, .chunks = shape.ranks}, moves(kind, shape));
}

}  // namespace

Schedule all_gather_pat_schedule(const GroupShape& shape) {
  return pat_schedule(CollectiveKind::kAllGather, shape);
}
Schedule reduce_scatter_pat_schedule(const GroupShape& shape) {
  return pat_schedule(CollectiveKind::kReduceScatter, shape);
}
std::vector<Round> all_gather_pat_rounds(const GroupShape& shape) {
  return rounds_of(moves(CollectiveKind::kAllGather, shape), shape.ranks);
}
std::vector<Round> reduce_scatter_pat_rounds(const GroupShape& shape) {
  return rounds_of(moves(CollectiveKind::kReduceScatter, shape), shape.ranks);
}

}  // namespace busbar
