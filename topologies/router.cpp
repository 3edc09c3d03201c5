// The router: caches in front of the search. Host routes are searched once per shape of island, network
// routes once per pair of switches, the rest once per pair of devices. Static routing then picks one path per
// flow.
#include <algorithm>
#include <deque>
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

void append(Route& route, LinkId whole_flow) {
  route.usage.push_back({ResourceId(whole_flow.value()), kOneFlow});
  route.path.push_back(whole_flow);
}

/// SplitMix64's mixing. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
/// 2014.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

const FoundRoute& nowhere() {
  static const FoundRoute kNowhere;
  return kNowhere;
}

std::vector<bool> representatives(const Topology& t, const HostShapes& shapes) {
  std::vector<bool> among(t.devices().size(), true);
  for (std::size_t d = 0; d < among.size(); ++d) {
    const std::uint32_t island = shapes.island(DeviceId::from_index(d));
    among[d] = island == kNoHost || shapes.representative_of(island) == island;
  }
  return among;
}

}  // namespace

struct Router::Impl {
  explicit Impl(const Topology& topology) : t(topology), shapes(t), search(t, representatives(t, shapes)) {}

  const Found& search_once(DeviceId from, DeviceId to, RouteScope scope);
  const Found& host_route(DeviceId from, DeviceId to);  // of the island's representative
  std::optional<RouteRef> find_in_host(DeviceId from, DeviceId to);
  std::optional<RouteRef> find_in_fabric(DeviceId from, DeviceId to);
  std::optional<RouteRef> find_anywhere(DeviceId from, DeviceId to);
  struct Ends {
    LinkId out, in;  // cables to switches
  };
  struct Flow {
    DeviceId from, to;
    RouteScope scope;
  };
  std::optional<RouteRef> joined(const Ends& ends, const Flow& flow);
  std::optional<Router::Pendant> pendant(DeviceId device);
  std::optional<RouteRef> ref_to(const Found& known, DeviceId from, DeviceId to);
  Route one_of(const Route& all, DeviceId from, DeviceId to) const;
  const RouteSearch::OnlyWay* way_of(DeviceId device);
  void extend(FoundRoute& route, LinkId link, std::int64_t cost) const;
  const std::vector<DeviceId>& ranked_nics(DeviceId representative);
  void rank_nics(std::uint32_t host);

  const Topology& t;
  HostShapes shapes;
  RouteSearch search;
  std::unordered_map<std::uint64_t, Found> found;
  std::deque<std::optional<RouteSearch::OnlyWay>> ways;      // of switches
  std::vector<std::uint32_t> way_numbers;                    // by device; 0: not asked for yet
  std::unordered_map<DeviceId, std::vector<DeviceId>> nics;  // of representatives
  std::vector<std::uint32_t> links_in;                       // by device; made when first asked for
  FoundRoute picked;                                         // by static routing, last
};

const Found& Router::Impl::search_once(DeviceId from, DeviceId to, RouteScope scope) {
  const auto [entry, is_new] = found.try_emplace(key_of(from, to, scope));
  if (!is_new) return entry->second;
  Found& result = entry->second;  // stays where it is
  if (scope == RouteScope::kFabric && from != to && t.kind(from) == DeviceKind::kSwitch) {
    if (const auto* last = way_of(to)) {
      result = search_once(from, last->beside, scope);
      if (result) extend(*result, last->in, last->cost);
      return result;
    }
    if (const auto* first = t.kind(to) == DeviceKind::kSwitch ? way_of(from) : nullptr) {
      result = search_once(first->beside, to, scope);
      if (result) extend(*result, first->out, first->cost);
      return result;
    }
  }
  result = search.find(from, to, scope);
  return result;
}

const RouteSearch::OnlyWay* Router::Impl::way_of(DeviceId device) {
  if (way_numbers.empty()) way_numbers.assign(t.devices().size(), 0);
  std::uint32_t& number = way_numbers[device.index()];
  if (number == 0) {
    ways.push_back(search.only_way(device, shapes.down(device).links));
    number = static_cast<std::uint32_t>(ways.size());
  }
  const std::optional<RouteSearch::OnlyWay>& way = ways[number - 1];
  return way ? &*way : nullptr;
}

/// By a link at one of its ends.
void Router::Impl::extend(FoundRoute& route, LinkId link, std::int64_t cost) const {
  const ResourceUse use{ResourceId(link.value())};
  Route& r = route.route;
  const bool at_end = r.path.empty() || t.to(r.path.back()) == t.from(link);
  r.path.insert(at_end ? r.path.end() : r.path.begin(), link);
  r.usage.insert(at_end ? r.usage.end() : r.usage.begin(), use);
  route.cost += cost;
  add_link(route.summary, t, link);
}

const Found& Router::Impl::host_route(DeviceId from, DeviceId to) {
  return search_once(shapes.representative(from), shapes.representative(to), RouteScope::kHost);
}

std::optional<RouteRef> Router::Impl::find_in_host(DeviceId from, DeviceId to) {
  const std::uint32_t island = shapes.island(from);
  if (island == kNoHost || shapes.island(to) != island) return std::nullopt;
  const Found& known = host_route(from, to);
  if (!known) return std::nullopt;
  return RouteRef{.middle = &known->route, .summary = &known->summary, .shapes = &shapes, .island = island};
}

/// With static routing, the path that it picks for the flow.
std::optional<RouteRef> Router::Impl::ref_to(const Found& known, DeviceId from, DeviceId to) {
  if (!known) return std::nullopt;
  if (t.routing().mode == RoutingMode::kAdaptive || known->route.usage.size() == known->route.path.size())
    return RouteRef{&known->route, &known->summary};
  picked = {one_of(known->route, from, to), 0, {}};
  for (const LinkId link : picked.route.path) add_link(picked.summary, t, link);
  return RouteRef{.middle = &picked.route, .summary = &picked.summary, .is_kept = false};
}

/// Out by one cable, the cached route between the two switches, in by the other. Switches that are cabled to
/// one other alone are left and reached by that cable: the route between those others serves them all.
std::optional<RouteRef> Router::Impl::joined(const Ends& ends, const Flow& flow) {
  DeviceId a = t.to(ends.out), b = t.from(ends.in);
  const RouteSearch::OnlyWay* up = flow.scope == RouteScope::kFabric && a != b ? way_of(a) : nullptr;
  const RouteSearch::OnlyWay* down = up != nullptr ? way_of(b) : nullptr;
  const bool by_ways = down != nullptr && up->beside != b && down->beside != a;
  if (by_ways) {
    a = up->beside;
    b = down->beside;
  }
  std::optional<RouteRef> way = a == b ? RouteRef{&nowhere().route, &nowhere().summary}
                                       : ref_to(search_once(a, b, flow.scope), flow.from, flow.to);
  if (!way) return std::nullopt;
  way->first = ends.out;
  way->last = ends.in;
  if (by_ways) {
    way->rise = up->out;
    way->fall = down->in;
  }
  return way;
}

/// Between devices with one cable each, of whatever else they are part.
std::optional<RouteRef> Router::Impl::find_in_fabric(DeviceId from, DeviceId to) {
  const Flow flow{from, to, RouteScope::kFabric};
  const Cable& out = shapes.up(from);
  const Cable& in = shapes.down(to);
  const auto is_switch = [this](DeviceId d) { return t.kind(d) == DeviceKind::kSwitch; };
  const bool by_cables = !is_switch(from) && !is_switch(to) && out.links == 1 && in.links == 1 &&
                         is_switch(t.to(out.link)) && is_switch(t.from(in.link));
  return by_cables ? joined({out.link, in.link}, flow) : ref_to(search_once(from, to, flow.scope), from, to);
}

std::optional<RouteRef> Router::Impl::find_anywhere(DeviceId from, DeviceId to) {
  const Flow flow{from, to, RouteScope::kAnywhere};
  const std::optional<Router::Pendant> a = pendant(from);
  const std::optional<Router::Pendant> b = a ? pendant(to) : std::nullopt;
  return b ? joined({a->out, b->in}, flow) : ref_to(search_once(from, to, flow.scope), from, to);
}

/// Alone on its island, or on none: what else is there might be a way round.
std::optional<Router::Pendant> Router::Impl::pendant(DeviceId device) {
  const auto links = t.out_links(device);
  if (links.size() != 1 || (shapes.island(device) != kNoHost && shapes.size(shapes.island(device)) > 1))
    return std::nullopt;
  if (links_in.empty()) {
    links_in.assign(t.devices().size(), 0);
    for (std::size_t l = 0; l < t.links().size(); ++l) ++links_in[t.to(LinkId::from_index(l)).index()];
  }
  const Cable& in = shapes.down(device);
  if (links_in[device.index()] != 1 || in.links != 1 || shapes.up(device).links != 1) return std::nullopt;
  const Router::Pendant result{links.front(), in.link, t.to(links.front()), t.from(in.link)};
  const auto is_switch = [&](DeviceId d) {
    return t.kind(d) == DeviceKind::kSwitch && shapes.island(d) == kNoHost;
  };
  return is_switch(result.at_out) && is_switch(result.at_in) ? std::optional(result) : std::nullopt;
}

/// One path of those that `all` splits a flow over: each device on the way picks one of its links by a hash
/// of (seed, from, to, device). Every walk along the links ends at `to`, because each lies on a cheapest
/// path.
Route Router::Impl::one_of(const Route& all, DeviceId from, DeviceId to) const {
  const std::uint64_t flow =
      mix(t.routing().seed ^ mix((std::uint64_t{from.value()} << 32) | std::uint64_t{to.value()}));
  Route one;
  const DeviceId first = t.from(all.path.front());
  const DeviceId last = t.to(all.path.back());
  std::vector<LinkId> onward;
  for (DeviceId here = first; here != last; here = t.to(one.path.back())) {
    BUSBAR_CHECK(one.path.size() <= all.usage.size());
    onward.clear();
    for (const ResourceUse& use : all.usage) {
      if (const LinkId link(use.resource.value()); t.from(link) == here) onward.push_back(link);
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

const std::vector<DeviceId>& Router::Impl::ranked_nics(DeviceId representative) {
  const auto known = nics.find(representative);
  if (known != nics.end()) return known->second;
  rank_nics(t.host_of(representative));
  return nics[representative];
}

LinkId RouteRef::own(LinkId link) const { return shapes == nullptr ? link : shapes->link_in(island, link); }

void add_link(PathSummary& summary, const Topology& topology, LinkId link) {
  const LinkSpec& spec = topology.spec(link);
  summary.link = std::max(summary.link, spec.type);
  summary.transport = std::max(summary.transport, transport_over(spec.type));
  if (spec.latency) summary.latency = summary.latency.value_or(Time::zero()) + *spec.latency;
  summary.passes_cpu = summary.passes_cpu || topology.kind(topology.to(link)) == DeviceKind::kCpu;
}

Router::Router(const Topology& topology) : impl_(std::make_unique<Impl>(topology)) {}
Router::~Router() = default;

std::optional<RouteRef> Router::find(DeviceId from, DeviceId to, RouteScope scope) {
  BUSBAR_CHECK(std::max(from, to).index() < impl_->t.devices().size());
  if (from == to) return RouteRef{&nowhere().route, &nowhere().summary};
  switch (scope) {
    case RouteScope::kHost:
      return impl_->find_in_host(from, to);
    case RouteScope::kFabric:
      return impl_->find_in_fabric(from, to);
    case RouteScope::kAnywhere:
      return impl_->find_anywhere(from, to);
  }
  return std::nullopt;
}

std::optional<Route> Router::route(DeviceId from, DeviceId to, RouteScope scope) {
  const std::optional<RouteRef> found = find(from, to, scope);
  if (!found) return std::nullopt;
  Route route;
  found->for_each_use([&](const ResourceUse& use) { route.usage.push_back(use); });
  const auto add = [&](std::optional<LinkId> link) {
    if (link) route.path.push_back(*link);
  };
  add(found->first);
  add(found->rise);
  for (const LinkId link : found->middle->path) add(found->own(link));
  add(found->fall);
  add(found->last);
  return route;
}

DeviceId Router::alike(DeviceId device) const {
  return impl_->shapes.island(device) == kNoHost ? device : impl_->shapes.representative(device);
}

std::vector<DeviceId> Router::nics_by_distance(DeviceId gpu) {
  if (impl_->t.host_of(gpu) == kNoHost) return {};
  std::vector<DeviceId> nics = impl_->ranked_nics(impl_->shapes.representative(gpu));
  for (DeviceId& nic : nics) nic = impl_->shapes.device_in(impl_->shapes.island(gpu), nic);
  return nics;
}

std::optional<DeviceId> Router::nearest_nic(DeviceId gpu) {
  if (impl_->t.host_of(gpu) == kNoHost) return std::nullopt;
  const std::vector<DeviceId>& nics = impl_->ranked_nics(impl_->shapes.representative(gpu));
  if (nics.empty()) return std::nullopt;
  return impl_->shapes.device_in(impl_->shapes.island(gpu), nics.front());
}

std::optional<DeviceId> Router::farthest_nic(DeviceId gpu) {
  if (impl_->t.host_of(gpu) == kNoHost) return std::nullopt;
  const std::vector<DeviceId>& nics = impl_->ranked_nics(impl_->shapes.representative(gpu));
  if (nics.empty()) return std::nullopt;
  return impl_->shapes.device_in(impl_->shapes.island(gpu), nics.back());
}

std::optional<Router::Pendant> Router::pendant(DeviceId device) { return impl_->pendant(device); }

DeviceId Router::switch_of(DeviceId nic) const {
  const Cable& up = impl_->shapes.up(nic);
  return up.links == 0 ? nic : impl_->t.to(up.link);
}

const HostShapes& Router::shapes() const { return impl_->shapes; }

}  // namespace busbar
