// The router: caches in front of the search. Host routes are searched once per shape of host, network routes
// once per pair of switches, the rest once per pair of devices.
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

}  // namespace

struct Router::Impl {
  explicit Impl(const Topology& topology);

  const Found& search_once(DeviceId from, DeviceId to, RouteScope scope);
  const Found& host_route(DeviceId from, DeviceId to);  // of the host's representative
  std::optional<Route> route_in_host(DeviceId from, DeviceId to);
  std::optional<Route> route_in_fabric(DeviceId from, DeviceId to);
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
  const std::uint32_t host = t.device(from).host;
  if (host == kNoHost || t.device(to).host != host) return std::nullopt;
  const Found& known = host_route(from, to);
  if (!known) return std::nullopt;
  Route route = known->route;
  if (shapes.representative_host(host) == host) return route;
  for (LinkId& link : route.path) link = shapes.link_in(host, link);
  for (ResourceUse& use : route.usage) {
    use.resource = ResourceId(shapes.link_in(host, LinkId(use.resource.value())).value());
  }
  return route;
}

/// Between NICs with one cable each: up, then the cached route between the two switches, then down.
std::optional<Route> Router::Impl::route_in_fabric(DeviceId from, DeviceId to) {
  const auto between = [this](DeviceId a, DeviceId b) -> std::optional<Route> {
    const Found& known = search_once(a, b, RouteScope::kFabric);
    return known ? std::optional(known->route) : std::nullopt;
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
  Route route;
  route.usage.reserve(middle->route.usage.size() + 2);
  route.path.reserve(middle->route.path.size() + 2);
  append(route, out.link);
  route.usage.insert(route.usage.end(), middle->route.usage.begin(), middle->route.usage.end());
  route.path.insert(route.path.end(), middle->route.path.begin(), middle->route.path.end());
  append(route, in.link);
  return route;
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
      return known ? std::optional(known->route) : std::nullopt;
    }
  }
  return std::nullopt;
}

const std::vector<DeviceId>& Router::nics_by_distance(DeviceId gpu) {
  const std::uint32_t host = impl_->t.device(gpu).host;
  if (host != kNoHost && !impl_->nics.contains(gpu)) impl_->rank_nics(host);
  return impl_->nics[gpu];
}

}  // namespace busbar
