// The search behind the router: Dijkstra over a Boost graph, then flows over the graph of all cheapest paths.
#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "topologies/host_shapes.h"
#include "topologies/route_costs.h"
#include "topologies/route_search.h"

namespace busbar {
namespace {

struct Arc {
  LinkId link;
  LinkType type = LinkType::kNvlink;
  std::int64_t cost = 0;
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Arc,
                                                 boost::no_property, std::uint32_t, std::uint32_t>;

/// The devices that a search may meet, numbered anew, and the links between them.
struct SearchGraph {
  static constexpr std::uint32_t kAbsent = 0xffffffffU;
  SearchGraph(const Topology& t, const std::vector<bool>& among);

  std::vector<std::uint32_t> vertex_of;  // by device
  std::vector<DeviceId> devices;         // by vertex
  Graph graph;
};

/// `among` empty: all.
SearchGraph::SearchGraph(const Topology& t, const std::vector<bool>& among)
    : vertex_of(t.devices().size(), kAbsent) {
  for (std::size_t d = 0; d < vertex_of.size(); ++d) {
    if (!among.empty() && !among[d]) continue;
    vertex_of[d] = static_cast<std::uint32_t>(devices.size());
    devices.push_back(DeviceId::from_index(d));
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<Arc> arcs;
  for (const DeviceId from : devices)
    for (const LinkId id : t.out_links(from)) {
      const DeviceId to = t.to(id);
      if (vertex_of[to.index()] == kAbsent) continue;
      ends.emplace_back(vertex_of[from.index()], vertex_of[to.index()]);
      const LinkSpec& spec = t.spec(id);
      const std::int64_t cost = cost_of(spec.type) * (is_network(spec.type) ? spec.weight : 1);
      arcs.push_back({id, spec.type, cost + (t.kind(to) == DeviceKind::kCpu ? kEnterCpuCost : 0)});
    }
  const auto vertices = static_cast<std::uint32_t>(devices.size());
  graph = Graph(boost::edges_are_sorted, ends.begin(), ends.end(), arcs.begin(), vertices);
}

struct Query {
  DeviceId from, to;
  RouteScope scope = RouteScope::kHost;
  std::uint32_t from_island = kNoHost, to_island = kNoHost;
  bool any_relay = false;  // GPUs may be passed anyhow
};

bool is_gpu_link(LinkType type) { return type == LinkType::kNvlink || type == LinkType::kXgmi; }

/// Where a path stands: a device, and for a NIC on the way also whether it was entered from the network,
/// because that decides by which side it may be left. State = 2 x vertex + that bit.
using State = std::uint32_t;

struct Label {
  std::uint32_t search = 0;  // the search that wrote it; others' labels count as unset
  std::int64_t cost = 0;
  std::int32_t entry = -1;     // list of the last arcs of all cheapest paths to here
  std::uint32_t branches = 0;  // cheapest paths to `to` go on by that many arcs
  double share = 0;            // of the flow
};

struct Entry {
  State from = 0;
  LinkId link;
  std::int32_t next = -1;
};

}  // namespace

struct RouteSearch::Impl {
  Impl(const Topology& topology, std::span<const std::uint32_t> island_of, const std::vector<bool>& among)
      : t(topology), g(topology, among), islands(island_of), labels(2 * g.devices.size()) {}

  [[nodiscard]] bool has(DeviceId device) const {
    return g.vertex_of[device.index()] != SearchGraph::kAbsent;
  }
  [[nodiscard]] State start_of(const Query& q) const { return 2 * g.vertex_of[q.from.index()]; }
  [[nodiscard]] State goal_of(const Query& q) const { return 2 * g.vertex_of[q.to.index()]; }
  [[nodiscard]] DeviceKind kind(State state) const { return t.kind(g.devices[state / 2]); }
  Label* label_of(State state) { return labels[state].search == search ? &labels[state] : nullptr; }

  bool may_enter(const Query& q, State state, const Arc& arc, DeviceId next) const;
  bool may_enter_gpu(const Query& q, State state, const Arc& arc) const;
  bool may_leave(const Query& q, State state, const Arc& arc, DeviceId next) const;
  bool may_leave_gpu(const Query& q, const Arc& arc, DeviceId next) const;
  void relax(State next, std::int64_t cost, const Entry& entry);
  void expand(const Query& q, State state);
  bool reach(const Query& q);
  std::vector<State> states_on_route(State goal);
  Route flows(const Query& q);

  const Topology& t;
  SearchGraph g;
  std::span<const std::uint32_t> islands;
  std::vector<Label> labels;
  std::vector<Entry> entries;
  std::vector<std::pair<std::int64_t, State>> heap;  // may hold outdated costs; ties fall to the lower state
  std::uint32_t search = 0;
};

bool RouteSearch::Impl::may_enter(const Query& q, State state, const Arc& arc, DeviceId next) const {
  const DeviceKind kind = t.kind(next);
  const std::uint32_t island = islands[next.index()];
  const bool arrives = next == q.to;
  switch (q.scope) {
    case RouteScope::kHost:
      if (island != q.from_island) return false;
      if (!arrives && kind == DeviceKind::kGpu) return may_enter_gpu(q, state, arc);
      return arrives || kind != DeviceKind::kNic;
    case RouteScope::kFabric:
      return is_network(arc.type) && (arrives || kind == DeviceKind::kSwitch);
    case RouteScope::kAnywhere:
      if (arrives) return true;
      if (kind == DeviceKind::kGpu && !q.any_relay) return false;
      return island == kNoHost || island == q.from_island || island == q.to_island;
  }
  return false;
}

/// As a relay. To another GPU there is only one, so it is entered from the sender itself.
bool RouteSearch::Impl::may_enter_gpu(const Query& q, State state, const Arc& arc) const {
  if (q.any_relay) return true;
  if (!is_gpu_link(arc.type)) return false;
  const DeviceKind goal = t.kind(q.to);
  return goal == DeviceKind::kNic || (goal == DeviceKind::kGpu && state == start_of(q));
}

bool RouteSearch::Impl::may_leave(const Query& q, State state, const Arc& arc, DeviceId next) const {
  if (state == start_of(q)) return true;
  switch (kind(state)) {
    case DeviceKind::kGpu:
      return may_leave_gpu(q, arc, next);
    case DeviceKind::kNic:
      return is_network(arc.type) != (state % 2 == 1);
    case DeviceKind::kCpu:
    case DeviceKind::kNvswitch:
    case DeviceKind::kPcieSwitch:
    case DeviceKind::kSwitch:
      return true;
  }
  return false;
}

bool RouteSearch::Impl::may_leave_gpu(const Query& q, const Arc& arc, DeviceId next) const {
  if (q.any_relay) return true;
  if (t.kind(q.to) == DeviceKind::kNic) return arc.type == LinkType::kPcie || arc.type == LinkType::kC2c;
  return is_gpu_link(arc.type) && next == q.to;
}

void RouteSearch::Impl::relax(State next, std::int64_t cost, const Entry& entry) {
  Label& label = labels[next];
  const bool is_new = label.search != search;
  if (!is_new && cost > label.cost) return;
  if (is_new || cost < label.cost) {
    label = {.search = search, .cost = cost};
    heap.emplace_back(cost, next);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
  entries.push_back(entry);
  entries.back().next = std::exchange(label.entry, static_cast<std::int32_t>(entries.size() - 1));
}

void RouteSearch::Impl::expand(const Query& q, State state) {
  const bool relays = state != start_of(q) && kind(state) == DeviceKind::kGpu;
  const std::int64_t here = labels[state].cost + (relays ? kRelayCost : 0);
  const auto [first, last] = boost::out_edges(state / 2, g.graph);
  for (auto edge = first; edge != last; ++edge) {
    const Arc& arc = g.graph[*edge];
    const std::uint32_t vertex = boost::target(*edge, g.graph);
    const DeviceId next = g.devices[vertex];
    if (next == q.from || !may_leave(q, state, arc, next) || !may_enter(q, state, arc, next)) continue;
    const bool splits = next != q.to && t.kind(next) == DeviceKind::kNic;
    const State next_state = 2 * vertex + (splits && is_network(arc.type) ? 1 : 0);
    relax(next_state, here + arc.cost, {.from = state, .link = arc.link});
  }
}

/// Dijkstra until nothing nearer than `to` is left; then all last arcs of cheapest paths to it are known,
/// because every arc costs something.
bool RouteSearch::Impl::reach(const Query& q) {
  const State start = start_of(q);
  const State goal = goal_of(q);
  ++search;
  entries.clear();
  heap.assign(1, {0, start});
  labels[start] = {.search = search};
  while (!heap.empty()) {
    const auto [cost, state] = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    if (const Label* arrived = label_of(goal); arrived != nullptr && cost >= arrived->cost) return true;
    if (cost == labels[state].cost) expand(q, state);
  }
  return label_of(goal) != nullptr;
}

/// All states that cheapest paths to `goal` cross, cheapest first, with their number of branches.
std::vector<State> RouteSearch::Impl::states_on_route(State goal) {
  std::vector<State> states = {goal};
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::int32_t e = labels[states[i]].entry; e >= 0; e = entries[static_cast<std::size_t>(e)].next) {
      const State from = entries[static_cast<std::size_t>(e)].from;
      if (labels[from].branches++ == 0) states.push_back(from);
    }
  }
  std::sort(states.begin(), states.end(),
            [this](State a, State b) { return std::pair(labels[a].cost, a) < std::pair(labels[b].cost, b); });
  return states;
}

/// share(to) = 1; share(state) = sum over the arcs that enter it of share(origin) / branches(origin).
Route RouteSearch::Impl::flows(const Query& q) {
  const State goal = goal_of(q);
  Route route;
  for (const State state : states_on_route(goal)) {
    Label& label = labels[state];
    if (label.entry < 0) label.share = 1;
    for (std::int32_t e = label.entry; e >= 0; e = entries[static_cast<std::size_t>(e)].next) {
      const Entry& entry = entries[static_cast<std::size_t>(e)];
      const double share = labels[entry.from].share / labels[entry.from].branches;
      label.share += share;
      const std::int64_t flows = std::llround(share * static_cast<double>(kOneFlow));
      // A share below half a fixed-point unit still makes the route depend on the link.
      route.usage.push_back({ResourceId(entry.link.value()), std::max<std::int64_t>(flows, 1)});
    }
  }
  for (State state = goal; labels[state].entry >= 0;) {
    const Entry& last = entries[static_cast<std::size_t>(labels[state].entry)];
    route.path.push_back(last.link);
    state = last.from;
  }
  std::reverse(route.path.begin(), route.path.end());
  return route;
}

RouteSearch::RouteSearch(const Topology& topology, std::vector<bool> among)
    : topology_(&topology), islands_(islands_of(topology)), among_(std::move(among)) {}
RouteSearch::~RouteSearch() = default;

RouteSearch::Impl& RouteSearch::graph_with(DeviceId from, DeviceId to, RouteScope scope) {
  if (!among_.empty() && scope != RouteScope::kAnywhere) {
    if (!near_) near_ = std::make_unique<Impl>(*topology_, islands_, among_);
    if (near_->has(from) && near_->has(to)) return *near_;
  }
  if (!whole_) whole_ = std::make_unique<Impl>(*topology_, islands_, std::vector<bool>());
  return *whole_;
}

std::optional<FoundRoute> RouteSearch::find(DeviceId from, DeviceId to, RouteScope scope) {
  BUSBAR_CHECK(std::max(from, to).index() < topology_->devices().size());
  if (from == to) return FoundRoute{};
  Query query{.from = from,
              .to = to,
              .scope = scope,
              .from_island = islands_[from.index()],
              .to_island = islands_[to.index()]};
  if (scope == RouteScope::kHost && query.from_island == kNoHost) return std::nullopt;
  Impl& graph = graph_with(from, to, scope);
  bool found = graph.reach(query);
  if (!found && scope != RouteScope::kFabric) {
    query.any_relay = true;
    found = graph.reach(query);
  }
  if (!found) return std::nullopt;
  FoundRoute route{graph.flows(query), graph.labels[graph.goal_of(query)].cost, {}};
  for (const LinkId link : route.route.path) add_link(route.summary, *topology_, link);
  return route;
}

}  // namespace busbar
