// Gather, scatter and all-to-all as grouped sends, all at once; and all-to-all in pairwise rounds.
// A rank's block for itself is a local copy and touches no link.
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

Round to_or_from_root(const GroupShape& shape, bool to_root) {
  Round round{.share = 1.0 / shape.ranks};
  for (std::uint32_t r = 0; r < shape.ranks; ++r)
    if (r != shape.root)
      round.transfers.push_back(to_root ? RoundTransfer{r, shape.root} : RoundTransfer{shape.root, r});
  return round;
}

// One round; the chunk of a transfer is the number of the rank that is not the root.
Schedule rooted(CollectiveKind kind, const GroupShape& shape, const Round& round) {
  Schedule s{.kind = kind, .ranks = shape.ranks, .chunks = shape.ranks, .rounds = 1, .root = shape.root};
  for (const RoundTransfer& t : round.transfers)
    s.sends.push_back({.from = t.from, .to = t.to, .chunk = t.from == shape.root ? t.to : t.from});
  return s;
}

}  // namespace

std::vector<Round> gather_direct_rounds(const GroupShape& shape) { return {to_or_from_root(shape, true)}; }
std::vector<Round> scatter_direct_rounds(const GroupShape& shape) { return {to_or_from_root(shape, false)}; }

Schedule gather_direct_schedule(const GroupShape& shape) {
  return rooted(CollectiveKind::kGather, shape, to_or_from_root(shape, true));
}
Schedule scatter_direct_schedule(const GroupShape& shape) {
  return rooted(CollectiveKind::kScatter, shape, to_or_from_root(shape, false));
}

std::vector<Round> all_to_all_direct_rounds(const GroupShape& shape) {
  return {{.all_pairs = true, .share = 1.0 / shape.ranks}};
}

Schedule all_to_all_direct_schedule(const GroupShape& shape) {
  const std::uint32_t n = shape.ranks;
  Schedule s{.kind = CollectiveKind::kAllToAll, .ranks = n, .chunks = n * n, .rounds = n > 1 ? 1U : 0U};
  for (std::uint32_t k = 1; k < n; ++k)
    for (std::uint32_t r = 0; r < n; ++r)
      s.sends.push_back({.from = r, .to = (r + k) % n, .chunk = r * n + (r + k) % n});
  return s;
}

std::vector<Round> all_to_all_pairwise_rounds(const GroupShape& shape) {
  std::vector<Round> rounds;
  for (std::uint32_t k = 1; k < shape.ranks; ++k) {
    Round round{.share = 1.0 / shape.ranks};
    for (std::uint32_t r = 0; r < shape.ranks; ++r) round.transfers.push_back({r, (r + k) % shape.ranks});
    rounds.push_back(std::move(round));
  }
  return rounds;
}

// A rank starts round k+1 when it has sent and received in round k.
Schedule all_to_all_pairwise_schedule(const GroupShape& shape) {
  const std::uint32_t n = shape.ranks;
  Schedule s{.kind = CollectiveKind::kAllToAll, .ranks = n, .chunks = n * n};
  for (std::uint32_t k = 1; k < n; ++k) {
    for (std::uint32_t r = 0; r < n; ++r) {
      Send send{.from = r, .to = (r + k) % n, .chunk = r * n + (r + k) % n, .round = s.rounds};
      // What reached r in the round before came from r - (k - 1).
      if (k > 1) send.after.push_back((k - 2) * n + (r + n - (k - 1)) % n);
      s.sends.push_back(send);
    }
    ++s.rounds;
  }
  return s;
}

}  // namespace busbar
