// Broadcast and reduce as pipelined chains, as NCCL runs them on its rings.
#include "sim/collectives/rows.h"

namespace busbar {

namespace {

// Position p of the chain is rank (first + p) mod n. In round t, position p passes chunk t - p on, for all p
// at once.
Schedule chain(CollectiveKind kind, const GroupShape& shape, std::uint32_t first) {
  const std::uint32_t n = shape.ranks;
  Schedule s{.kind = kind, .ranks = n, .chunks = n, .root = shape.root};
  if (n < 2) return s;
  s.rounds = 2 * n - 2;
  std::vector<std::uint32_t> last(n, 0);  // the send that brought its latest chunk to a position
  for (std::uint32_t round = 0; round < s.rounds; ++round)
    // From the end of the chain, so that `last` still names the round before.
    for (std::uint32_t p = n - 1; p-- > 0;) {
      if (round < p || round - p >= n) continue;
      Send send{.from = (first + p) % n,
                .to = (first + p + 1) % n,
                .chunk = round - p,
                .reduce = kind == CollectiveKind::kReduce,
                .round = round};
      if (p > 0) send.after.push_back(last[p]);
      last[p + 1] = static_cast<std::uint32_t>(s.sends.size());
      s.sends.push_back(send);
    }
  return s;
}

}  // namespace

Schedule broadcast_ring_schedule(const GroupShape& shape) {
  return chain(CollectiveKind::kBroadcast, shape, shape.root);
}

Schedule reduce_ring_schedule(const GroupShape& shape) {
  return chain(CollectiveKind::kReduce, shape, (shape.root + 1) % shape.ranks);
}

}  // namespace busbar
