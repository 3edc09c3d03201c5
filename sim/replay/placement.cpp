#include "sim/replay/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/error.h"
#include "sim/cost/cost_model.h"

namespace busbar {

void UsageSum::add(std::span<const ResourceUse> uses, double times) {
  for (const ResourceUse& use : uses) add(use, times);
}

std::vector<ResourceUse> UsageSum::take() {
  for (const ResourceUse& use : sum_) index_[use.resource.index()] = kUnseen;
  std::vector<ResourceUse> result(sum_.begin(), sum_.end());
  sum_.clear();
  return result;
}

Placement::Placement(const Topology& topology, const Profile& profile, Scales scales)
    : topology_(&topology),
      profile_(&profile),
      scales_(std::move(scales)),
      router_(topology),
      sum_(topology.links().size()) {
  profile_changed();
}

std::vector<Placement::HostMembers> Placement::by_host(std::span<const std::uint32_t> members) {
  std::vector<HostMembers> hosts;
  std::map<std::uint32_t, std::size_t> seen;
  std::size_t last = 0;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    const std::uint32_t host = domain(device(members[m]));
    if (hosts.empty() || hosts[last].host != host) {
      const auto [it, is_new] = seen.try_emplace(host, hosts.size());
      if (is_new) hosts.push_back({host, {}, {}});
      last = it->second;
    }
    hosts[last].members.push_back(m);
  }
  if (hosts.size() == 1) return hosts;
  for (HostMembers& h : hosts)
    for (const std::uint32_t m : h.members) {
      const std::optional<DeviceId> nic = router_.nearest_nic(device(members[m]));
      if (nic && std::find(h.rails.begin(), h.rails.end(), *nic) == h.rails.end()) h.rails.push_back(*nic);
    }
  align_rails(hosts);
  return hosts;
}

// NCCL leaves a host by NIC k and enters the next by its NIC k. NICs are numbered by the switch they are
// cabled to, then in file order: equal numbers meet on one leaf where the cabling has it so. Where the hosts'
// sets of rails differ, the i-th of one meets the i-th of the next, over the spine.
void Placement::align_rails(std::vector<HostMembers>& hosts) const {
  std::size_t rails = hosts.front().rails.size();
  for (HostMembers& h : hosts) {
    rails = std::min(rails, h.rails.size());
    std::sort(h.rails.begin(), h.rails.end(), [&](DeviceId a, DeviceId b) {
      return std::pair(switch_of(a), a) < std::pair(switch_of(b), b);
    });
  }
  for (HostMembers& h : hosts) h.rails.resize(rails);
}

// NCCL lets GPUs reach each other up to PXB, through switches only.
void Placement::extend(Hop& hop, const RouteRef& route, double times) {
  PathSummary path = *route.summary;
  for (const std::optional<LinkId> link : {route.first, route.rise, route.fall, route.last})
    if (link) add_link(path, *topology_, *link);
  hop.link = std::max(hop.link, path.link);
  hop.transport = std::max(hop.transport, path.transport);
  if (path.latency) hop.latency = hop.latency.value_or(Time::zero()) + *path.latency;
  route.for_each_use([&](const ResourceUse& use) { sum_.add(use, times); });
}

Hop Placement::cross(std::span<const DeviceId> stops, double times) {
  Hop hop;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const bool same_host = domain(stops[i]) == domain(stops[i + 1]);
    std::optional<RouteRef> route =
        router_.find(stops[i], stops[i + 1], same_host ? RouteScope::kHost : RouteScope::kFabric);
    if (!route) route = router_.find(stops[i], stops[i + 1], RouteScope::kAnywhere);
    if (!route)
      throw Error({.where = topology_->name(),
                   .message = fmt::format("no path leads from {} to {}", quoted(topology_->name_of(stops[i])),
                                          quoted(topology_->name_of(stops[i + 1])))});
    extend(hop, *route, times);
    const auto is_gpu = [&](DeviceId id) { return topology_->kind(id) == DeviceKind::kGpu; };
    if (hop.transport == Transport::kPciePeer && is_gpu(stops[i]) && is_gpu(stops[i + 1]) &&
        route->summary->passes_cpu)
      hop.transport = Transport::kHostMemory;
  }
  return hop;
}

// Between hosts a message leaves by the NIC nearest to its sender and, since rails are switched apart, enters
// by the NIC of the same number; that NIC's GPU hands it on.
Hop Placement::pair_hop(DeviceId from, DeviceId to, double times) {
  const std::optional<Rail> rail = rail_of_pair(from, to);
  if (!rail) return cross(std::array{from, to}, times);
  return cross(std::array{from, rail->out, rail->in, to}, times);
}

std::optional<Placement::Rail> Placement::rail_of_pair(DeviceId from, DeviceId to) {
  if (domain(from) == domain(to) || topology_->host_of(from) == kNoHost || topology_->host_of(to) == kNoHost)
    return std::nullopt;
  return rail_between(from, to);
}

// PXN: a message leaves through the NIC on the receiver's switch, or of its number, reached over NVLink.
std::optional<Placement::Rail> Placement::rail_between(DeviceId from, DeviceId to) {
  const std::optional<DeviceId> nearest = router_.nearest_nic(from);
  const std::optional<DeviceId> entry = router_.nearest_nic(to);
  if (!nearest || !entry) return std::nullopt;
  const DeviceId there = switch_of(*entry);
  const std::vector<DeviceId>& out = topology_->hosts()[topology_->host_of(from)].nics;
  const std::vector<DeviceId>& in = topology_->hosts()[topology_->host_of(to)].nics;
  if (switch_of(*nearest) == there) {
    // On one switch with all of the host's NICs, the numbered one.
    if (there != switch_of(*router_.farthest_nic(from))) return Rail{*nearest, *entry};
  } else if (std::any_of(out.begin(), out.end(), [&](DeviceId nic) { return switch_of(nic) == there; })) {
    const std::vector<DeviceId> senders = router_.nics_by_distance(from);
    const auto same_switch =
        std::find_if(senders.begin(), senders.end(), [&](DeviceId nic) { return switch_of(nic) == there; });
    const bool one_switch = switch_of(senders.front()) == switch_of(senders.back());
    if (same_switch != senders.end() && !one_switch) return Rail{*same_switch, *entry};
  }
  const auto rail = static_cast<std::size_t>(std::find(in.begin(), in.end(), *entry) - in.begin());
  return Rail{rail < out.size() ? out[rail] : *nearest, *entry};
}

std::vector<PairRoute> Placement::neighbours(std::span<const std::uint32_t> members) {
  std::vector<PairRoute> routes;
  const auto n = static_cast<std::uint32_t>(members.size());
  for (std::uint32_t i = 0; i < n && n > 1; ++i) {
    routes.push_back(pair(members[i], members[(i + 1) % n]));
    routes.back().hop.from = i;
    routes.back().hop.to = (i + 1) % n;
  }
  return routes;
}

PairRoute Placement::pair(std::uint32_t from, std::uint32_t to) {
  PairRoute route{.hop = pair_hop(device(from), device(to))};
  route.hop.to = 1;
  route.usage = sum_.take();
  return route;
}

}  // namespace busbar
