#include "sim/replay/host_ranks.h"

#include <algorithm>
#include <vector>

namespace busbar {

std::optional<std::int64_t> host_ranks_of(const Topology& topology) {
  std::vector<bool> seen(topology.hosts().size(), false);  // by domain
  std::uint32_t last = kNoHost;
  std::vector<std::int64_t> counts;  // of ranks that follow each other in one domain
  for (const DeviceId rank : topology.ranks()) {
    const std::uint32_t host = topology.host_of(rank);
    if (host == kNoHost) return std::nullopt;
    const std::uint32_t domain = topology.hosts()[host].domain;
    if (last != domain) {
      if (seen[domain]) return std::nullopt;
      seen[domain] = true;
      last = domain;
      counts.push_back(0);
    }
    ++counts.back();
  }
  if (counts.empty() || counts.back() > counts.front()) return std::nullopt;
  const bool alike =
      std::all_of(counts.begin(), counts.end() - 1, [&](std::int64_t c) { return c == counts.front(); });
  return alike ? std::optional(counts.front()) : std::nullopt;
}

}  // namespace busbar
