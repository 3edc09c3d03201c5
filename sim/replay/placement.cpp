#include "sim/replay/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/error.h"
#include "sim/cost/cost_model.h"

namespace busbar {

void UsageSum::add(std::span<const ResourceUse> uses) {
  for (const ResourceUse& use : uses) {
    std::uint32_t& at = index_[use.resource.index()];
    if (at == kUnseen) {
      at = static_cast<std::uint32_t>(sum_.size());
      sum_.push_back({use.resource, 0});
    }
    sum_[at].flows += use.flows;
  }
}

std::vector<ResourceUse> UsageSum::take() {
  for (const ResourceUse& use : sum_) index_[use.resource.index()] = kUnseen;
  std::vector<ResourceUse> result(sum_.begin(), sum_.end());
  sum_.clear();
  return result;
}

Placement::Placement(const Topology& topology, const Profile& profile)
    : topology_(&topology), profile_(&profile), router_(topology), sum_(topology.links().size()) {}

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

// NCCL leaves a host by NIC k and enters the next by its NIC k. Where the hosts' sets of rails differ, the
// i-th of one meets the i-th of the next, over the spine.
void Placement::align_rails(std::vector<HostMembers>& hosts) const {
  std::size_t rails = hosts.front().rails.size();
  for (HostMembers& h : hosts) {
    rails = std::min(rails, h.rails.size());
    std::sort(h.rails.begin(), h.rails.end());  // NICs of a host are numbered in file order
  }
  for (HostMembers& h : hosts) h.rails.resize(rails);
}

// The member of the host where rail `rail` enters: the first one to which its NIC is the nearest.
std::size_t Placement::entry_of(const HostMembers& host, std::span<const std::uint32_t> members,
                                std::size_t rail) {
  for (std::size_t i = 0; i < host.members.size(); ++i)
    if (router_.nics_by_distance(device(members[host.members[i]])).front() == host.rails[rail]) return i;
  return 0;
}

void Placement::extend(Hop& hop, const Route& route) {
  for (const LinkId id : route.path) {
    const Link& link = topology_->link(id);
    hop.link = std::max(hop.link, link.type);
    if (link.latency) hop.latency = hop.latency.value_or(Time::zero()) + *link.latency;
  }
  sum_.add(route.usage);
}

// A hop over given stops: GPU, [NIC, NIC,] GPU. Its uses go into `sum_`.
Hop Placement::cross(std::span<const DeviceId> stops) {
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
    extend(hop, *route);
  }
  return hop;
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

RingChannel Placement::ring(std::span<const std::uint32_t> members, const std::vector<HostMembers>& hosts,
                            std::size_t rail) {
  RingChannel channel;
  const bool has_rails = hosts.size() > 1 && !hosts.front().rails.empty();
  if (has_rails) channel.name = fmt::format("rail {}", rail);
  std::vector<std::size_t> entries;
  for (const HostMembers& h : hosts) {
    entries.push_back(has_rails ? entry_of(h, members, rail) : 0);
    for (std::size_t i = 0; i < h.members.size(); ++i)
      channel.order.push_back(h.members[(entries.back() + i) % h.members.size()]);
  }
  std::size_t at = 0;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    for (std::size_t i = 0; i < hosts[h].members.size(); ++i, ++at) {
      const std::uint32_t from = channel.order[at];
      const std::uint32_t to = channel.order[(at + 1) % channel.order.size()];
      const bool leaves = i + 1 == hosts[h].members.size() && hosts.size() > 1;
      const std::size_t next = (h + 1) % hosts.size();
      const DeviceId a = device(members[from]);
      const DeviceId b = device(members[to]);
      const auto over_rail = [&](DeviceId in) {
        return cross(std::array{a, leaving_nic(hosts[h].rails[rail], in), in, b});
      };
      Hop hop = leaves && has_rails ? over_rail(hosts[next].rails[rail]) : cross(std::array{a, b});
      hop.from = from;
      hop.to = to;
      channel.hops.push_back(hop);
    }
  }
  channel.usage = sum_.take();
  return channel;
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

GroupRoutes Placement::group(std::span<const std::uint32_t> members) {
  GroupRoutes routes;
  const std::vector<HostMembers> hosts = by_host(members);
  describe(routes, members, hosts);
  if (members.size() < 2) return routes;
  const std::size_t rings = hosts.size() > 1 ? std::max<std::size_t>(1, hosts.front().rails.size()) : 1;
  for (std::size_t rail = 0; rail < rings; ++rail) routes.rings.push_back(ring(members, hosts, rail));
  return routes;
}

// Between hosts a message leaves by the NIC nearest to its sender and, since rails are switched apart, enters
// by the NIC of the same number; that NIC's GPU hands it on.
Hop Placement::pair_hop(DeviceId from, DeviceId to) {
  const std::uint32_t a = topology_->device(from).host;
  const std::uint32_t b = topology_->device(to).host;
  if (domain(from) == domain(to) || a == kNoHost || b == kNoHost) return cross(std::array{from, to});
  const std::vector<DeviceId>& senders = router_.nics_by_distance(from);
  const std::vector<DeviceId>& receivers = router_.nics_by_distance(to);
  if (senders.empty() || receivers.empty()) return cross(std::array{from, to});
  // PXN: through the NIC on the receiver's rail, reached over NVLink.
  const std::vector<DeviceId>& out = topology_->hosts()[a].nics;
  const std::vector<DeviceId>& in = topology_->hosts()[b].nics;
  const auto rail = static_cast<std::size_t>(std::find(in.begin(), in.end(), receivers.front()) - in.begin());
  const DeviceId leaves = rail < out.size() ? out[rail] : senders.front();
  return cross(std::array{from, leaves, receivers.front(), to});
}

GroupRoutes Placement::neighbours(std::span<const std::uint32_t> members) {
  GroupRoutes routes;
  describe(routes, members, by_host(members));
  const auto n = static_cast<std::uint32_t>(members.size());
  for (std::uint32_t i = 0; i < n && n > 1; ++i) {
    PairRoute route{.hop = pair_hop(device(members[i]), device(members[(i + 1) % n]))};
    route.hop.from = i;
    route.hop.to = (i + 1) % n;
    route.usage = sum_.take();
    routes.neighbours.push_back(std::move(route));
  }
  return routes;
}

GroupRoutes Placement::pair(std::uint32_t from, std::uint32_t to) {
  const std::array members{from, to};
  GroupRoutes routes = neighbours(members);
  routes.neighbours.resize(1);
  return routes;
}

std::vector<double> Placement::capacities() const {
  std::map<std::uint32_t, const Generation*> by_host;
  for (std::uint32_t r = 0; r < ranks(); ++r)
    by_host.try_emplace(topology_->device(device(r)).host, &generation(r));
  const Generation* fallback = &generation(0);
  std::vector<double> capacity;
  capacity.reserve(topology_->links().size());
  for (const Link& link : topology_->links()) {
    const Generation* g = fallback;
    if (link.type == LinkType::kNvlink)
      if (const auto it = by_host.find(topology_->device(link.from).host); it != by_host.end())
        g = it->second;
    capacity.push_back(link.bandwidth.Bps() * link_efficiency(link.type, *profile_, *g));
  }
  return capacity;
}

const Generation& Placement::generation(std::uint32_t rank) const {
  const std::int32_t model = topology_->device(device(rank)).gpu_model;
  const std::string_view name =
      model < 0 ? "" : std::string_view(topology_->gpu_models()[static_cast<std::size_t>(model)].name);
  return *generation_of(*profile_, name).generation;
}

std::vector<std::string> Placement::unmatched_models() const {
  std::set<std::string> names;
  for (const GpuModel& model : topology_->gpu_models())
    if (!generation_of(*profile_, model.name).matched) names.insert(model.name);
  return {names.begin(), names.end()};
}

}  // namespace busbar
