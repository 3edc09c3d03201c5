// The router: caches in front of the search. Host routes are searched once per shape of island, network
// routes once per pair of switches, the rest once per pair of devices. Static routing then picks one path per
// flow.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "sim/base/error.h"
#include "topologies/host_shapes.h"
#include "topologies/route_search.h"

namespace busbar {
namespace {

using Found = std::optional<FoundRoute>;

/// 24 bits of each device (kMaxDevices) and the scope.
std::uint64_t key_of(DeviceId from, DeviceId to, RouteScope scope) {
  static_assert(kMaxDevices <= std::int64_t{1} << 24);
  return (std::uint64_t{from.value()} << 26) | (std::uint64_t{to.value()} << 2) |
         static_cast<std::uint64_t>(scope);
}

/// A NIC's only network link in one direction, if it has just one.
struct Cable {
  LinkId link;
  std::uint32_t links = 0;
};

void append(Route& route, LinkId whole_flow) {
  route.usage.push_back({ResourceId(whole_flow.value()), kOneFlow});
  route.path.push_back(whole_flow);
}

Route joined(LinkId first, const Route& middle, LinkId last) {
  Route route;
  route.usage.reserve(middle.usage.size() + 2);
  route.path.reserve(middle.path.size() + 2);
  append(route, first);
  route.usage.insert(route.usage.end(), middle.usage.begin(), middle.usage.end());
  route.path.insert(route.path.end(), middle.path.begin(), middle.path.end());
  append(route, last);
  return route;
}

/// SplitMix64's mixing. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
/// 2014.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

struct Router::Impl {
  explicit Impl(const Topology& topology);

  const Found& search_once(DeviceId from, DeviceId to, RouteScope scope);
  const Found& host_route(DeviceId from, DeviceId to);  // of the island's representative
  std::optional<Route> route_in_host(DeviceId from, DeviceId to);
  std::optional<Route> route_in_fabric(DeviceId from, DeviceId to);
  Route routed(const Route& all, DeviceId from, DeviceId to) const;
  void rank_nics(std::uint32_t host);

  const Topology& t;
  RouteSearch search;
  HostShapes shapes;
  std::vector<Cable> up, down;  // per device; only NICs are asked for
  std::unordered_map<std::uint64_t, Found> found;
  std::unordered_map<DeviceId, std::vector<DeviceId>> nics;
};

Router::Impl::Impl(const Topology& topology)
    : t(topology), search(t), shapes(t), up(t.devices().size()), down(t.devices().size()) {
  for (std::size_t l = 0; l < t.links().size(); ++l) {
    const Link& link = t.links()[l];
    if (!is_network(link.type)) continue;
    up[link.from.index()] = {LinkId::from_index(l), up[link.from.index()].links + 1};
    down[link.to.index()] = {LinkId::from_index(l), down[link.to.index()].links + 1};
  }
}

const Found& Router::Impl::search_once(DeviceId from, DeviceId to, RouteScope scope) {
  const auto [entry, is_new] = found.try_emplace(key_of(from, to, scope));
  if (is_new) entry->second = search.find(from, to, scope);
  return entry->second;
}

const Found& Router::Impl::host_route(DeviceId from, DeviceId to) {
  return search_once(shapes.representative(from), shapes.representative(to), RouteScope::kHost);
}

std::optional<Route> Router::Impl::route_in_host(DeviceId from, DeviceId to) {
  const std::uint32_t island = shapes.island(from);
  if (island == kNoHost || shapes.island(to) != island) return std::nullopt;
  const Found& known = host_route(from, to);
  if (!known) return std::nullopt;
  Route route = known->route;
  if (shapes.representative_of(island) == island) return route;
  for (LinkId& link : route.path) link = shapes.link_in(island, link);
  for (ResourceUse& use : route.usage) {
    use.resource = ResourceId(shapes.link_in(island, LinkId(use.resource.value())).value());
  }
  return route;
}

/// Between NICs with one cable each: up, then the cached route between the two switches, then down.
std::optional<Route> Router::Impl::route_in_fabric(DeviceId from, DeviceId to) {
  const auto between = [this](DeviceId a, DeviceId b) -> std::optional<Route> {
    const Found& known = search_once(a, b, RouteScope::kFabric);
    return known ? std::optional(routed(known->route, a, b)) : std::nullopt;
  };
  const Cable& out = up[from.index()];
  const Cable& in = down[to.index()];
  const auto is_kind = [this](DeviceId d, DeviceKind kind) { return t.device(d).kind == kind; };
  if (!is_kind(from, DeviceKind::kNic) || !is_kind(to, DeviceKind::kNic)) return between(from, to);
  if (out.links != 1 || in.links != 1) return between(from, to);
  const DeviceId first = t.link(out.link).to;
  const DeviceId last = t.link(in.link).from;
  if (!is_kind(first, DeviceKind::kSwitch) || !is_kind(last, DeviceKind::kSwitch)) return between(from, to);

  const Found& middle = search_once(first, last, RouteScope::kFabric);
  if (!middle) return std::nullopt;
  if (t.routing().mode == RoutingMode::kAdaptive) return joined(out.link, middle->route, in.link);
  return joined(out.link, routed(middle->route, from, to), in.link);
}

/// With static routing one path of those that `all` splits a flow over: each device on the way picks one of
/// its links by a hash of (seed, from, to, device). Every walk along the links ends at `to`, because each
/// lies on a cheapest path.
Route Router::Impl::routed(const Route& all, DeviceId from, DeviceId to) const {
  if (t.routing().mode == RoutingMode::kAdaptive || all.usage.size() == all.path.size()) return all;
  const std::uint64_t flow =
      mix(t.routing().seed ^ mix((std::uint64_t{from.value()} << 32) | std::uint64_t{to.value()}));
  Route one;
  const auto first = t.link(all.path.front()).from;
  const auto last = t.link(all.path.back()).to;
  std::vector<LinkId> onward;
  for (DeviceId here = first; here != last; here = t.link(one.path.back()).to) {
    BUSBAR_CHECK(one.path.size() <= all.usage.size());
    onward.clear();
    for (const ResourceUse& use : all.usage) {
      if (const LinkId link(use.resource.value()); t.link(link).from == here) onward.push_back(link);
    }
    append(one, onward[mix(flow + here.value()) % onward.size()]);
  }
  return one;
}

/// GPUs choose in file order. Among NICs that cost the same, a GPU takes one that fewer GPUs before it took,
/// so that two GPUs with two NICs at one PCIe switch get one each.
void Router::Impl::rank_nics(std::uint32_t host) {
  const Host& h = t.hosts()[host];
  std::vector<std::int64_t> taken(h.nics.size(), 0);
  for (const DeviceId gpu : h.gpus) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> order;
    for (std::size_t n = 0; n < h.nics.size(); ++n) {
      const Found& known = host_route(gpu, h.nics[n]);
      if (known) order.emplace_back(known->cost, taken[n], n);
    }
    std::sort(order.begin(), order.end());
    auto& ranked = nics.insert_or_assign(gpu, std::vector<DeviceId>()).first->second;
    for (const auto& [cost, takers, n] : order) ranked.push_back(h.nics[n]);
    if (!order.empty()) ++taken[std::get<2>(order[0])];
  }
}

Router::Router(const Topology& topology) : impl_(std::make_unique<Impl>(topology)) {}
Router::~Router() = default;

std::optional<Route> Router::route(DeviceId from, DeviceId to, RouteScope scope) {
  BUSBAR_CHECK(std::max(from, to).index() < impl_->t.devices().size());
  if (from == to) return Route{};
  switch (scope) {
    case RouteScope::kHost:
      return impl_->route_in_host(from, to);
    case RouteScope::kFabric:
      return impl_->route_in_fabric(from, to);
    case RouteScope::kAnywhere: {
      const Found& known = impl_->search_once(from, to, scope);
      return known ? std::optional(impl_->routed(known->route, from, to)) : std::nullopt;
    }
  }
  return std::nullopt;
}

DeviceId Router::alike(DeviceId device) const {
  return impl_->shapes.island(device) == kNoHost ? device : impl_->shapes.representative(device);
}

const std::vector<DeviceId>& Router::nics_by_distance(DeviceId gpu) {
  const std::uint32_t host = impl_->t.device(gpu).host;
  if (host != kNoHost && !impl_->nics.contains(gpu)) impl_->rank_nics(host);
  return impl_->nics[gpu];
}

}  // namespace busbar
