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
  for (const ResourceUse& use : uses) {
    std::uint32_t& at = index_[use.resource.index()];
    if (at == kUnseen) {
      at = static_cast<std::uint32_t>(sum_.size());
      sum_.push_back({use.resource, 0});
    }
    sum_[at].flows += times == 1 ? use.flows : std::llround(static_cast<double>(use.flows) * times);
  }
}

std::vector<ResourceUse> UsageSum::take() {
  for (const ResourceUse& use : sum_) index_[use.resource.index()] = kUnseen;
  std::vector<ResourceUse> result(sum_.begin(), sum_.end());
  sum_.clear();
  return result;
}

Placement::Placement(const Topology& topology, const Profile& profile)
    : topology_(&topology),
      profile_(&profile),
      router_(topology),
      sum_(topology.links().size()),
      capacity_(sustained()) {}

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
      const std::vector<DeviceId>& nics = router_.nics_by_distance(device(members[m]));
      if (!nics.empty() && std::find(h.rails.begin(), h.rails.end(), nics.front()) == h.rails.end())
        h.rails.push_back(nics.front());
    }
  align_rails(hosts);
  return hosts;
}

DeviceId Placement::switch_of(DeviceId nic) const {
  for (const LinkId id : topology_->out_links(nic))
    if (is_network(topology_->link(id).type)) return topology_->link(id).to;
  return nic;
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

// The member of the host where rail `rail` enters: the first one to which its NIC is the nearest.
std::size_t Placement::entry_of(const HostMembers& host, std::span<const std::uint32_t> members,
                                std::size_t rail) {
  for (std::size_t i = 0; i < host.members.size(); ++i) {
    const std::vector<DeviceId>& nics = router_.nics_by_distance(device(members[host.members[i]]));
    if (!nics.empty() && nics.front() == host.rails[rail]) return i;
  }
  return 0;
}

void Placement::extend(Hop& hop, const Route& route, double times) {
  for (const LinkId id : route.path) {
    const Link& link = topology_->link(id);
    hop.link = std::max(hop.link, link.type);
    if (link.latency) hop.latency = hop.latency.value_or(Time::zero()) + *link.latency;
  }
  sum_.add(route.usage, times);
}

Hop Placement::cross(std::span<const DeviceId> stops, double times) {
  Hop hop;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const bool same_host = domain(stops[i]) == domain(stops[i + 1]);
    std::optional<Route> route =
        router_.route(stops[i], stops[i + 1], same_host ? RouteScope::kHost : RouteScope::kFabric);
    if (!route) route = router_.route(stops[i], stops[i + 1], RouteScope::kAnywhere);
    if (!route)
      throw Error(
          {.where = topology_->name(),
           .message = fmt::format("no path leads from {} to {}", quoted(topology_->device(stops[i]).id),
                                  quoted(topology_->device(stops[i + 1]).id))});
    extend(hop, *route, times);
  }
  return hop;
}

Placement::Rings Placement::rings_of(std::span<const std::uint32_t> members) {
  Rings rings{
      .members = members, .hosts = by_host(members), .host_of = std::vector<std::uint32_t>(members.size())};
  for (std::uint32_t h = 0; h < rings.hosts.size(); ++h)
    for (const std::uint32_t m : rings.hosts[h].members) rings.host_of[m] = h;
  return rings;
}

// Each host's members one after the other, from the one where the rail enters.
std::vector<std::uint32_t> Placement::ring_order(const Rings& rings, std::size_t rail) {
  std::vector<std::uint32_t> order;
  order.reserve(rings.members.size());
  for (const HostMembers& h : rings.hosts) {
    const std::size_t entry = rings.has_rails() ? entry_of(h, rings.members, rail) : 0;
    for (std::size_t i = 0; i < h.members.size(); ++i)
      order.push_back(h.members[(entry + i) % h.members.size()]);
  }
  return order;
}

bool Placement::joined_by_gpu_links(DeviceId a, DeviceId b) {
  const std::optional<Route> route = router_.route(a, b, RouteScope::kHost);
  return route && std::all_of(route->path.begin(), route->path.end(),
                              [&](LinkId id) { return topology_->link(id).type <= LinkType::kC2c; });
}

// Where no switch joins two rails (rail-only), a host changes rail inside: it leaves by its NIC of the rail
// on which the next host is entered (PXN).
DeviceId Placement::leaving_nic(DeviceId out, DeviceId in) {
  const std::vector<DeviceId>& own = topology_->hosts()[topology_->device(out).host].nics;
  const std::vector<DeviceId>& others = topology_->hosts()[topology_->device(in).host].nics;
  const auto rail = static_cast<std::size_t>(std::find(others.begin(), others.end(), in) - others.begin());
  if (rail >= own.size() || own[rail] == out || router_.route(out, in, RouteScope::kFabric)) return out;
  return own[rail];
}

// Between hosts a rail is left through the GPU beside its NIC, reached over NVLink: NICs that share a PCIe
// switch then load its ports evenly.
Hop Placement::ring_hop(const Rings& rings, std::size_t rail, std::uint32_t from, std::uint32_t to) {
  const DeviceId a = device(rings.members[from]);
  const DeviceId b = device(rings.members[to]);
  if (rings.host_of[from] == rings.host_of[to] || !rings.has_rails()) return cross(std::array{a, b});
  const HostMembers& out = rings.hosts[rings.host_of[from]];
  const HostMembers& in = rings.hosts[rings.host_of[to]];
  const DeviceId leaving = leaving_nic(out.rails[rail], in.rails[rail]);
  if (leaving != out.rails[rail]) return cross(std::array{a, leaving, in.rails[rail], b});
  const DeviceId beside = device(rings.members[out.members[entry_of(out, rings.members, rail)]]);
  if (beside != a && joined_by_gpu_links(a, beside))
    return cross(std::array{a, beside, out.rails[rail], in.rails[rail], b});
  return cross(std::array{a, out.rails[rail], in.rails[rail], b});
}

RingChannel Placement::wire(const Rings& rings, std::size_t rail, std::vector<std::uint32_t> order,
                            bool closed) {
  RingChannel channel{.name = rings.has_rails() ? fmt::format("rail {}", rail) : "",
                      .order = std::move(order)};
  const std::size_t n = channel.order.size();
  channel.hops.reserve(n);
  for (std::size_t i = 0; i < n - (closed ? 0 : 1); ++i) {
    const std::uint32_t from = channel.order[i];
    const std::uint32_t to = channel.order[(i + 1) % n];
    Hop hop = ring_hop(rings, rail, from, to);
    hop.from = from;
    hop.to = to;
    channel.hops.push_back(hop);
  }
  channel.usage = sum_.take();
  double rate = Bandwidth::unlimited().Bps();
  for (const ResourceUse& use : channel.usage)
    rate = std::min(rate, capacity_[use.resource.index()] * static_cast<double>(kOneFlow) /
                              static_cast<double>(use.flows));
  channel.lone_rate = Bandwidth::bytes_per_second(rate);
  return channel;
}

std::vector<PairRoute> Placement::hops_of(std::span<const std::uint32_t> members, std::size_t rail,
                                          const RingChannel& channel) {
  const Rings rings = rings_of(members);
  std::vector<PairRoute> routes;
  for (const Hop& h : channel.hops) {
    PairRoute route{.hop = ring_hop(rings, rail, h.from, h.to)};
    route.usage = sum_.take();
    routes.push_back(std::move(route));
  }
  return routes;
}

std::vector<RingChannel> Placement::chains(std::span<const std::uint32_t> members, std::uint32_t root,
                                           bool into_root) {
  const Rings rings = rings_of(members);
  std::vector<RingChannel> chains;
  for (std::size_t rail = 0; rail < rings.count() && members.size() > 1; ++rail) {
    std::vector<std::uint32_t> order = ring_order(rings, rail);
    auto first = std::find(order.begin(), order.end(), root);
    if (into_root) ++first;
    std::rotate(order.begin(), first, order.end());
    chains.push_back(wire(rings, rail, std::move(order), false));
  }
  return chains;
}

Bandwidth Placement::network_rate(DeviceId nic) const {
  double rate = 0;
  for (const LinkId id : topology_->out_links(nic))
    if (is_network(topology_->link(id).type)) rate += topology_->link(id).bandwidth.Bps();
  return Bandwidth::bytes_per_second(rate);
}

LinkType Placement::network_type(DeviceId nic) const {
  for (const LinkId id : topology_->out_links(nic))
    if (is_network(topology_->link(id).type)) return topology_->link(id).type;
  return LinkType::kRdma;
}

// Where the slowest class of link is not at the GPU (between sockets, say): the narrowest link of the route.
double Placement::narrowest(DeviceId a, DeviceId b) {
  double rate = Bandwidth::unlimited().Bps();
  std::optional<Route> route = router_.route(a, b, RouteScope::kHost);
  if (!route) route = router_.route(a, b, RouteScope::kAnywhere);
  for (const LinkId id : route->path) rate = std::min(rate, topology_->link(id).bandwidth.Bps());
  return rate;
}

void Placement::describe(GroupRoutes& routes, std::span<const std::uint32_t> members,
                         const std::vector<HostMembers>& hosts) {
  routes.ranks = static_cast<std::uint32_t>(members.size());
  routes.hosts = static_cast<std::uint32_t>(hosts.size());
  for (const HostMembers& h : hosts) {
    if (h.members.size() < 2) continue;
    const Hop inside = cross(std::array{device(members[h.members[0]]), device(members[h.members[1]])});
    static_cast<void>(sum_.take());
    routes.intra_link = inside.link;
    double rate = 0;
    for (const LinkId id : topology_->out_links(device(members[h.members[0]])))
      if (topology_->link(id).type == inside.link) rate += topology_->link(id).bandwidth.Bps();
    if (rate == 0) rate = narrowest(device(members[h.members[0]]), device(members[h.members[1]]));
    routes.intra = Bandwidth::bytes_per_second(rate);
    break;
  }
  if (hosts.size() < 2) return;
  double least = 0;
  for (const HostMembers& h : hosts) {
    double total = 0;
    for (const DeviceId nic : h.rails) total += network_rate(nic).Bps();
    if (&h == &hosts.front() || total < least) {
      least = total;
      if (h.rails.empty()) continue;
      routes.inter_nic = network_rate(h.rails.front());
      routes.inter_link = network_type(h.rails.front());
    }
  }
  routes.inter = Bandwidth::bytes_per_second(least);
}

GroupRoutes Placement::outline(const Rings& rings) {
  GroupRoutes routes;
  describe(routes, rings.members, rings.hosts);
  for (const HostMembers& h : rings.hosts) routes.by_host.push_back(h.members);
  return routes;
}

GroupRoutes Placement::outline(std::span<const std::uint32_t> members) { return outline(rings_of(members)); }

GroupRoutes Placement::group(std::span<const std::uint32_t> members) {
  const Rings rings = rings_of(members);
  GroupRoutes routes = outline(rings);
  if (members.size() < 2) return routes;
  for (std::size_t rail = 0; rail < rings.count(); ++rail)
    routes.rings.push_back(wire(rings, rail, ring_order(rings, rail), true));
  return routes;
}

// Between hosts a message leaves by the NIC nearest to its sender and, since rails are switched apart, enters
// by the NIC of the same number; that NIC's GPU hands it on.
Hop Placement::pair_hop(DeviceId from, DeviceId to, double times) {
  const std::uint32_t a = topology_->device(from).host;
  const std::uint32_t b = topology_->device(to).host;
  if (domain(from) == domain(to) || a == kNoHost || b == kNoHost) return cross(std::array{from, to}, times);
  const std::vector<DeviceId>& senders = router_.nics_by_distance(from);
  const std::vector<DeviceId>& receivers = router_.nics_by_distance(to);
  if (senders.empty() || receivers.empty()) return cross(std::array{from, to}, times);
  // PXN: through the NIC on the receiver's switch, or of its number, reached over NVLink.
  const std::vector<DeviceId>& out = topology_->hosts()[a].nics;
  const std::vector<DeviceId>& in = topology_->hosts()[b].nics;
  const auto same_switch = std::find_if(senders.begin(), senders.end(), [&](DeviceId nic) {
    return switch_of(nic) == switch_of(receivers.front());
  });
  const auto rail = static_cast<std::size_t>(std::find(in.begin(), in.end(), receivers.front()) - in.begin());
  const DeviceId numbered = rail < out.size() ? out[rail] : senders.front();
  const bool one_switch = switch_of(senders.front()) == switch_of(senders.back());
  const DeviceId leaves = same_switch != senders.end() && !one_switch ? *same_switch : numbered;
  return cross(std::array{from, leaves, receivers.front(), to}, times);
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
