// Algorithms that work in rounds, on the graph.
#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/replay/placement.h"

namespace busbar {

// Members first, then the NVSwitch of each host, then the network's switch at the first rail.
DeviceId Placement::participant(std::span<const std::uint32_t> members, std::uint32_t number) {
  if (number < members.size()) return device(members[number]);
  const std::vector<HostMembers> hosts = by_host(members);
  const std::size_t host = number - members.size();
  if (host < hosts.size()) return nvswitch_of(device(members[hosts[host].members.front()]));
  const std::vector<DeviceId>& rails = hosts.front().rails;
  if (rails.empty())
    throw Error({.where = topology_->name(), .message = "no NIC leads to a switch that could reduce"});
  return switch_of(rails.front());
}

std::vector<RoundRoutes> Placement::rounds(std::span<const std::uint32_t> members,
                                           std::span<const Round> rounds) {
  std::vector<RoundRoutes> result;
  for (const Round& round : rounds) {
    RoundRoutes routes{.share = round.share, .times = round.times};
    if (round.all_pairs) {
      routes.hops = exchange(members);
    } else {
      for (const RoundTransfer& t : round.transfers)
        note_hop(routes.hops, pair_hop(participant(members, t.from), participant(members, t.to), t.weight));
    }
    routes.usage = sum_.take();
    result.push_back(std::move(routes));
  }
  return result;
}

}  // namespace busbar
