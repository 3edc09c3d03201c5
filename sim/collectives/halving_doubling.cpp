// All-reduce by recursive halving and doubling: 2 log2(n) alpha + 2(n-1)/n S/B.
// Source: Thakur, Rabenseifner & Gropp, "Optimization of Collective Communication Operations in MPICH",
// IJHPCA 2005, section 4.5.
#include <bit>

#include "sim/collectives/rows.h"

namespace busbar {

std::string needs_power_of_two(const GroupShape& shape) {
  return std::has_single_bit(shape.ranks) ? "" : "it needs a power of two of ranks";
}

// Halving: with distance d = n/2, n/4, ... 1, rank r and its partner r xor d split the chunks that both still
// hold: r keeps those whose number has r's bit d. Doubling runs the same backwards.
Schedule all_reduce_halving_doubling_schedule(const GroupShape& shape) {
  const std::uint32_t n = shape.ranks;
  Schedule s{.kind = CollectiveKind::kAllReduce, .ranks = n, .chunks = n};
  std::vector<std::vector<std::uint32_t>> arrived(n);  // sends of the round before, by receiver
  const auto round = [&](std::uint32_t d, bool halving) {
    std::vector<std::vector<std::uint32_t>> now(n);
    for (std::uint32_t r = 0; r < n; ++r)
      for (std::uint32_t c = 0; c < n; ++c) {
        // Agreed on: bits above d. Sent: chunks with the partner's bit d (halving), or with r's own
        // (doubling).
        const bool agrees = (c & ~(2 * d - 1)) == (r & ~(2 * d - 1));
        const bool own = ((c ^ r) & d) == 0;
        if (!agrees || own == halving) continue;
        now[r ^ d].push_back(static_cast<std::uint32_t>(s.sends.size()));
        s.sends.push_back(
            {.from = r, .to = r ^ d, .chunk = c, .reduce = halving, .round = s.rounds, .after = arrived[r]});
      }
    arrived = std::move(now);
    ++s.rounds;
  };
  for (std::uint32_t d = n / 2; d >= 1; d /= 2) round(d, true);
  for (std::uint32_t d = 1; d < n; d *= 2) round(d, false);
  return s;
}

std::vector<Round> all_reduce_halving_doubling_rounds(const GroupShape& shape) {
  const std::uint32_t n = shape.ranks;
  std::vector<Round> rounds;
  for (std::uint32_t d = n / 2; d >= 1; d /= 2) {
    Round round{.share = static_cast<double>(d) / n};
    for (std::uint32_t r = 0; r < n; ++r) round.transfers.push_back({r, r ^ d});
    rounds.push_back(std::move(round));
  }
  for (std::size_t k = rounds.size(); k-- > 0;) rounds.push_back(rounds[k]);
  return rounds;
}

}  // namespace busbar
