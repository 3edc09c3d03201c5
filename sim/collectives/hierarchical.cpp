// Two-level all-reduce: reduce-scatter inside each host, all-reduce of each part between the hosts,
// all-gather inside. With L ranks on each of H hosts: 2(L-1) steps of S/L inside and 2(H-1) of S/(L H)
// between.
#include <algorithm>

#include "sim/collectives/rows.h"

namespace busbar {

namespace {

// One step of the rings inside the hosts (or, across, between the ranks of one place on each host).
std::vector<RoundTransfer> ring_step(const Hosts& hosts, bool across) {
  std::vector<RoundTransfer> transfers;
  for (std::size_t h = 0; h < hosts.size(); ++h)
    for (std::size_t l = 0; l < hosts[h].size(); ++l)
      transfers.push_back(
          {hosts[h][l], across ? hosts[(h + 1) % hosts.size()][l] : hosts[h][(l + 1) % hosts[h].size()]});
  return transfers;
}

// Appends one round. `chunks(h, l)`: the chunks that rank l of host h passes on.
template <class Chunks>
void append(Schedule& s, const Hosts& hosts, bool across, bool reduce,
            std::vector<std::vector<std::uint32_t>>& arrived, Chunks chunks) {
  std::vector<std::vector<std::uint32_t>> now(s.ranks);
  for (std::uint32_t h = 0; h < hosts.size(); ++h)
    for (std::uint32_t l = 0; l < hosts[h].size(); ++l) {
      const std::uint32_t from = hosts[h][l];
      const std::uint32_t to =
          across ? hosts[(h + 1) % hosts.size()][l] : hosts[h][(l + 1) % hosts[h].size()];
      for (const std::uint32_t chunk : chunks(h, l)) {
        now[to].push_back(static_cast<std::uint32_t>(s.sends.size()));
        s.sends.push_back({.from = from,
                           .to = to,
                           .chunk = chunk,
                           .reduce = reduce,
                           .round = s.rounds,
                           .after = arrived[from]});
      }
    }
  arrived = std::move(now);
  ++s.rounds;
}

}  // namespace

std::string needs_equal_hosts(const GroupShape& shape) {
  for (const auto& host : shape.hosts)
    if (host.size() != shape.hosts.front().size()) return "it needs as many ranks on each host";
  return "";
}

std::vector<Round> all_reduce_hierarchical_rounds(const GroupShape& shape) {
  const Hosts hosts = hosts_of(shape);
  const auto h = static_cast<std::uint32_t>(hosts.size());
  const auto l = static_cast<std::uint32_t>(hosts.front().size());
  std::vector<Round> rounds;
  const Round inside{.transfers = ring_step(hosts, false), .share = 1.0 / l, .times = l - 1};
  if (l > 1) rounds.push_back(inside);
  if (h > 1)
    rounds.push_back(
        {.transfers = ring_step(hosts, true), .share = 1.0 / (double{1} * l * h), .times = 2 * (h - 1)});
  if (l > 1) rounds.push_back(inside);
  return rounds;
}

// Chunk part p of L, piece q of H: number p H + q.
Schedule all_reduce_hierarchical_schedule(const GroupShape& shape) {
  const Hosts hosts = hosts_of(shape);
  const auto h_count = static_cast<std::uint32_t>(hosts.size());
  const auto l_count = static_cast<std::uint32_t>(hosts.front().size());
  Schedule s{.kind = CollectiveKind::kAllReduce, .ranks = shape.ranks, .chunks = l_count * h_count};
  std::vector<std::vector<std::uint32_t>> arrived(shape.ranks);
  const auto part = [&](std::uint32_t p) {
    std::vector<std::uint32_t> chunks(h_count);
    for (std::uint32_t q = 0; q < h_count; ++q) chunks[q] = p % l_count * h_count + q;
    return chunks;
  };
  for (std::uint32_t k = 0; k + 1 < l_count; ++k)  // leaves rank l with the host's sum of part l
    append(s, hosts, false, true, arrived,
           [&](std::uint32_t, std::uint32_t l) { return part(2 * l_count + l - 1 - k); });
  for (const bool reduce : {true, false})
    for (std::uint32_t k = 0; k + 1 < h_count; ++k)
      append(s, hosts, true, reduce, arrived, [&](std::uint32_t h, std::uint32_t l) {
        const std::uint32_t piece = (h + 2 * h_count - k + (reduce ? 0 : 1)) % h_count;
        return std::vector<std::uint32_t>{l * h_count + piece};
      });
  for (std::uint32_t k = 0; k + 1 < l_count; ++k)
    append(s, hosts, false, false, arrived,
           [&](std::uint32_t, std::uint32_t l) { return part(2 * l_count + l - k); });
  return s;
}

}  // namespace busbar
