// The rings of a group: in what order, over which hops.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/replay/placement.h"

namespace busbar {
namespace {

constexpr std::size_t kMaxChannels = 32;  // NCCL's limit for a ring graph

bool is_gpu_link(LinkType type) { return type == LinkType::kNvlink || type == LinkType::kXgmi; }

}  // namespace

Placement::Rings Placement::rings_of(std::span<const std::uint32_t> members) {
  Rings rings{
      .members = members, .hosts = by_host(members), .host_of = std::vector<std::uint32_t>(members.size())};
  for (std::uint32_t h = 0; h < rings.hosts.size(); ++h)
    for (const std::uint32_t m : rings.hosts[h].members) rings.host_of[m] = h;
  for (HostMembers& host : rings.hosts) find_orders(host, members);
  rings.per_rail = channels_per_rail(rings);
  return rings;
}

// Rates without faults: the library takes a link that is up for a whole one.
DirectLinks Placement::direct_links(const HostMembers& host, std::span<const std::uint32_t> members) const {
  const auto n = static_cast<std::uint32_t>(host.members.size());
  DirectLinks links;
  if (n < 2 || n > kMaxRingGpus) return links;
  for (std::uint32_t from = 0; from < n; ++from)
    for (const LinkId id : topology_->out_links(device(members[host.members[from]]))) {
      const Link link = topology_->link(id);
      if (!is_gpu_link(link.type) || topology_->device(link.to).kind != DeviceKind::kGpu) continue;
      if (links.size == 0) links = {n, std::vector<double>(std::size_t{n} * n, 0)};
      for (std::uint32_t to = 0; to < n; ++to)
        if (device(members[host.members[to]]) == link.to)
          links.Bps[std::size_t{from} * n + to] += link.nominal.Bps();
    }
  return links;
}

void Placement::find_orders(HostMembers& host, std::span<const std::uint32_t> members) {
  std::vector<DeviceId> key;
  key.reserve(host.members.size());
  for (const std::uint32_t m : host.members) key.push_back(router_.alike(device(members[m])));
  const auto [entry, is_new] = paths_.try_emplace(std::move(key));
  HostPaths& paths = entry->second;
  host.paths = &paths;
  if (is_new || paths.direct) {
    const DirectLinks links = direct_links(host, members);
    paths.direct = links.size > 0;
    if (paths.direct) host.mesh = mesh_of(links);
  }
  if (is_new) find_paths(paths, host, members);
  if (host.mesh != nullptr)
    host.orders = &host.mesh->rings;
  else if (!paths.tree.empty())
    host.orders = &paths.tree;
}

const RingSet* Placement::mesh_of(const DirectLinks& links) {
  const auto [entry, is_new] = ring_sets_.try_emplace(links.Bps);
  if (is_new) entry->second = find_rings(links);
  return entry->second.rings.empty() ? nullptr : &entry->second;
}

// Switches, then the CPU.
std::vector<DeviceId> Placement::way_to_cpu(DeviceId gpu) const {
  constexpr std::size_t kDeepest = 8;
  std::vector<DeviceId> way;
  for (DeviceId here = gpu; way.size() < kDeepest;) {
    const auto links = topology_->out_links(here);
    const auto up = std::find_if(links.begin(), links.end(), [&](LinkId id) {
      const DeviceId to = topology_->link(id).to;
      const DeviceKind kind = topology_->device(to).kind;
      const bool seen = std::find(way.begin(), way.end(), to) != way.end();
      return !seen && (kind == DeviceKind::kPcieSwitch || kind == DeviceKind::kCpu);
    });
    if (up == links.end()) break;
    here = topology_->link(*up).to;
    way.push_back(here);
    if (topology_->device(here).kind == DeviceKind::kCpu) break;
  }
  return way;
}

// Members at one CPU follow each other, and among them those at one switch; else they come as they are.
Placement::Orders Placement::tree_order(const HostMembers& host,
                                        std::span<const std::uint32_t> members) const {
  struct Place {
    std::uint32_t cpu, tree, own;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<std::vector<DeviceId>> ways;
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < host.members.size(); ++i) {
    ways.push_back(way_to_cpu(device(members[host.members[i]])));
    Place place{i, i, i};
    for (std::uint32_t j = i; j-- > 0;) {
      if (ways[i].empty() || ways[j].empty()) continue;
      if (ways[j].back() == ways[i].back()) place.cpu = places[j].cpu;
      if (ways[j].front() == ways[i].front()) place.tree = places[j].tree;
    }
    places.push_back(place);
  }
  if (std::is_sorted(places.begin(), places.end())) return {};
  std::sort(places.begin(), places.end());
  Orders orders(1);
  for (const Place& place : places) orders[0].push_back(place.own);
  return orders;
}

// With k channels on each of R rails of rate b, over K rings of speed s, the fullest link in the host carries
// ceil(R k / K) of them: a rail gets k min(b / k, s / ceil(R k / K)). The least k that makes the most of it.
std::size_t Placement::channels_per_rail(const Rings& rings) const {
  if (rings.hosts.size() == 1) {
    const HostMembers& host = rings.hosts.front();
    return host.mesh == nullptr ? 1 : host.mesh->rings.size();
  }
  if (!rings.has_rails()) return 1;
  std::size_t most = 1;
  for (const HostMembers& host : rings.hosts) {
    if (host.mesh == nullptr) continue;
    const std::size_t count = host.mesh->rings.size();
    const double nic = network_rate(host.rails.front()).nominal;
    double best = 0;
    for (std::size_t k = 1; k <= count && k * rings.rails() <= std::max(rings.rails(), kMaxChannels); ++k) {
      const std::size_t fullest = (rings.rails() * k + count - 1) / count;
      const auto channels = static_cast<double>(k);
      const double rate =
          channels * std::min(nic / channels, host.mesh->speed.Bps() / static_cast<double>(fullest));
      if (rate <= best * (1 + 1e-9)) continue;
      best = rate;
      most = std::max(most, k);
    }
  }
  return most;
}

// The member of the host where rail `rail` enters: the first one to which its NIC is the nearest.
std::size_t Placement::entry_of(const HostMembers& host, std::span<const std::uint32_t> members,
                                std::size_t rail) {
  for (std::size_t i = 0; i < host.members.size(); ++i) {
    if (router_.nearest_nic(device(members[host.members[i]])) == host.rails[rail]) return i;
  }
  return 0;
}

// One host's members from the one where the channel's rail enters: along its cycle, or as they come.
std::vector<std::uint32_t> Placement::host_order(const Rings& rings, const HostMembers& h,
                                                 std::size_t channel) {
  const std::size_t n = h.members.size();
  const std::size_t entry = rings.has_rails() ? entry_of(h, rings.members, rings.rail_of(channel)) : 0;
  std::vector<std::uint32_t> order;
  if (h.orders == nullptr) {
    for (std::size_t i = 0; i < n; ++i) order.push_back(h.members[(entry + i) % n]);
    return order;
  }
  const std::vector<std::uint32_t>& cycle = (*h.orders)[channel % h.orders->size()];
  const auto first = static_cast<std::size_t>(std::find(cycle.begin(), cycle.end(), entry) - cycle.begin());
  for (std::size_t i = 0; i < n; ++i) order.push_back(h.members[cycle[(first + i) % n]]);
  return order;
}

// Each host's members one after the other.
std::vector<std::uint32_t> Placement::ring_order(const Rings& rings, std::size_t channel) {
  std::vector<std::uint32_t> order;
  order.reserve(rings.members.size());
  for (const HostMembers& h : rings.hosts) {
    const std::vector<std::uint32_t> part = host_order(rings, h, channel);
    order.insert(order.end(), part.begin(), part.end());
  }
  return order;
}

bool Placement::joined_by_gpu_links(DeviceId a, DeviceId b) {
  const std::optional<RouteRef> route = router_.find(a, b, RouteScope::kHost);
  return route && route->summary->link <= LinkType::kC2c;
}

// Where no switch joins two rails (rail-only), a host changes rail inside: it leaves by its NIC of the rail
// on which the next host is entered (PXN).
DeviceId Placement::leaving_nic(DeviceId out, DeviceId in) {
  const std::vector<DeviceId>& own = topology_->hosts()[topology_->device(out).host].nics;
  const std::vector<DeviceId>& others = topology_->hosts()[topology_->device(in).host].nics;
  const auto rail = static_cast<std::size_t>(std::find(others.begin(), others.end(), in) - others.begin());
  if (rail >= own.size() || own[rail] == out || router_.find(out, in, RouteScope::kFabric)) return out;
  return own[rail];
}

// Between hosts a rail is left through the GPU beside its NIC, reached over NVLink: NICs that share a PCIe
// switch then load its ports evenly.
Hop Placement::ring_hop(const Rings& rings, std::size_t channel, std::uint32_t from, std::uint32_t to) {
  const std::size_t rail = rings.rail_of(channel);
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

std::string Placement::name_of(const Rings& rings, std::size_t channel) {
  std::string ring = rings.per_rail > 1 ? fmt::format("ring {}", channel / rings.rails()) : "";
  if (!rings.has_rails()) return ring;
  return fmt::format("rail {}{}{}", rings.rail_of(channel), ring.empty() ? "" : " ", ring);
}

RingChannel Placement::wire(const Rings& rings, std::size_t index, std::vector<std::uint32_t> order,
                            bool closed) {
  RingChannel channel{.name = name_of(rings, index), .order = std::move(order)};
  const std::size_t n = channel.order.size();
  channel.hops.reserve(n);
  for (std::size_t i = 0; i < n - (closed ? 0 : 1); ++i) {
    const std::uint32_t from = channel.order[i];
    const std::uint32_t to = channel.order[(i + 1) % n];
    Hop hop = ring_hop(rings, index, from, to);
    hop.from = from;
    hop.to = to;
    channel.hops.push_back(hop);
  }
  channel.usage = sum_.take();
  find_lone_rate(channel);
  return channel;
}

void Placement::find_lone_rate(RingChannel& channel) const {
  double rate = Bandwidth::unlimited().Bps();
  for (const ResourceUse& use : channel.usage)
    rate = std::min(rate, capacity_[use.resource.index()] * static_cast<double>(kOneFlow) /
                              static_cast<double>(use.flows));
  channel.lone_rate = Bandwidth::bytes_per_second(rate);
}

std::vector<PairRoute> Placement::hops_of(std::span<const std::uint32_t> members, std::size_t index,
                                          const RingChannel& channel) {
  const Rings rings = rings_of(members);
  std::vector<PairRoute> routes;
  for (const Hop& h : channel.hops) {
    PairRoute route{.hop = ring_hop(rings, index, h.from, h.to)};
    route.usage = sum_.take();
    routes.push_back(std::move(route));
  }
  return routes;
}

std::vector<RingChannel> Placement::chains(std::span<const std::uint32_t> members, std::uint32_t root,
                                           bool into_root) {
  const Rings rings = rings_of(members);
  std::vector<RingChannel> chains;
  for (std::size_t index = 0; index < rings.count() && members.size() > 1; ++index) {
    std::vector<std::uint32_t> order = ring_order(rings, index);
    auto first = std::find(order.begin(), order.end(), root);
    if (into_root) ++first;
    std::rotate(order.begin(), first, order.end());
    chains.push_back(wire(rings, index, std::move(order), false));
  }
  return chains;
}

GroupRoutes Placement::outline(const Rings& rings) {
  GroupRoutes routes;
  routes.ranks = static_cast<std::uint32_t>(rings.members.size());
  routes.hosts = static_cast<std::uint32_t>(rings.hosts.size());
  describe_inside(routes, rings);
  describe_network(routes, rings);
  note_facts(routes, rings);
  for (const HostMembers& h : rings.hosts) routes.by_host.push_back(h.members);
  return routes;
}

GroupRoutes Placement::outline(std::span<const std::uint32_t> members) { return outline(rings_of(members)); }

GroupRoutes Placement::group(std::span<const std::uint32_t> members) {
  const Rings rings = rings_of(members);
  GroupRoutes routes = outline(rings);
  if (members.size() < 2) return routes;
  for (std::size_t channel = 0; channel < rings.count(); ++channel)
    routes.rings.push_back(wire(rings, channel, ring_order(rings, channel), true));
  return routes;
}

}  // namespace busbar
