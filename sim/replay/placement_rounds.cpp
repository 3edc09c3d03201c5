// Algorithms that work in rounds, on the graph.
#include <algorithm>
#include <array>
#include <map>

#include "sim/replay/placement.h"

namespace busbar {

namespace {

// Keeps one hop per distinct latency.
void note(std::vector<Hop>& hops, const Hop& hop) {
  const bool known = std::any_of(
      hops.begin(), hops.end(), [&](const Hop& h) { return h.link == hop.link && h.latency == hop.latency; });
  if (!known) hops.push_back(hop);
}

}  // namespace

std::vector<RoundRoutes> Placement::rounds(std::span<const std::uint32_t> members,
                                           std::span<const Round> rounds) {
  std::vector<RoundRoutes> result;
  for (const Round& round : rounds) {
    RoundRoutes routes{.share = round.share, .times = round.times};
    if (round.all_pairs) {
      routes.hops = exchange(members);
    } else {
      for (const RoundTransfer& t : round.transfers)
        note(routes.hops, pair_hop(device(members[t.from]), device(members[t.to]), t.weight));
    }
    routes.usage = sum_.take();
    result.push_back(std::move(routes));
  }
  return result;
}

// Everybody to everybody else. Inside a host pair by pair. Between hosts a message takes the rail of its
// receiver, so that flows add up: a GPU sends over rail k once per remote GPU on that rail; NIC k of host a
// sends to NIC k of host b once per pair of a GPU of a and a GPU of b on rail k.
std::vector<Hop> Placement::exchange(std::span<const std::uint32_t> members) {
  std::vector<Hop> hops;
  const std::vector<HostMembers> hosts = by_host(members);
  const bool rails = hosts.size() > 1 &&
                     std::all_of(hosts.begin(), hosts.end(), [](const auto& h) { return !h.rails.empty(); });
  for (const HostMembers& a : hosts)
    for (const HostMembers& b : hosts) {
      if (&a != &b && rails) continue;
      for (const std::uint32_t from : a.members)
        for (const std::uint32_t to : b.members)
          if (from != to) note(hops, pair_hop(device(members[from]), device(members[to])));
    }
  if (!rails) return hops;

  // Parts of paths only load links here; a hop's latency is that of a whole path, below.
  const auto load = [&](DeviceId from, DeviceId to, double flows) {
    static_cast<void>(cross(std::array{from, to}, flows));
  };
  const auto nics_beside = [&](std::uint32_t member) -> const std::vector<DeviceId>& {
    return topology_->hosts()[topology_->device(device(members[member])).host].nics;
  };
  const auto rail_of = [&](std::uint32_t member) {
    const std::vector<DeviceId>& nics = nics_beside(member);
    const DeviceId nearest = router_.nics_by_distance(device(members[member])).front();
    return static_cast<std::size_t>(std::find(nics.begin(), nics.end(), nearest) - nics.begin());
  };
  const auto nic_of = [&](std::uint32_t member, std::size_t rail) {
    const std::vector<DeviceId>& nics = nics_beside(member);
    return rail < nics.size() ? nics[rail] : router_.nics_by_distance(device(members[member])).front();
  };
  // By host and rail: how many senders leave by a NIC, how many receivers it serves.
  using Counts = std::map<DeviceId, double>;
  std::map<std::size_t, double> receivers;
  std::vector<std::map<std::size_t, Counts>> in(hosts.size());
  for (std::size_t h = 0; h < hosts.size(); ++h)
    for (const std::uint32_t m : hosts[h].members) {
      const std::size_t rail = rail_of(m);
      receivers[rail] += 1;
      in[h][rail][nic_of(m, rail)] += 1;
    }
  const auto served = [&](std::size_t h, std::size_t rail) {
    double sum = 0;
    if (const auto it = in[h].find(rail); it != in[h].end())
      for (const auto& [nic, count] : it->second) sum += count;
    return sum;
  };
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    const auto remote = static_cast<double>(members.size() - hosts[a].members.size());
    for (const std::uint32_t to : hosts[a].members)
      load(nic_of(to, rail_of(to)), device(members[to]), remote);
    for (const auto& [rail, everywhere] : receivers) {
      Counts out;
      for (const std::uint32_t from : hosts[a].members) {
        load(device(members[from]), nic_of(from, rail), everywhere - served(a, rail));
        out[nic_of(from, rail)] += 1;
      }
      for (std::size_t b = 0; b < hosts.size(); ++b) {
        if (a == b || !in[b].contains(rail)) continue;
        for (const auto& [leaves, senders] : out)
          for (const auto& [enters, takers] : in[b].at(rail)) load(leaves, enters, senders * takers);
      }
    }
  }
  hops.clear();
  for (const HostMembers& b : hosts)
    note(hops,
         pair_hop(device(members[hosts.front().members.front()]), device(members[b.members.back()]), 0));
  return hops;
}

}  // namespace busbar
