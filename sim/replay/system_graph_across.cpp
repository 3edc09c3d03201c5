// Groups with one member on each host (or NVLink domain). Rings and rounds go from each member through its
// NIC to another one's, as messages do, so that their plans are the same for all groups whose members, and
// ways between them, are alike: such plans are made once. A round in which everybody sends once and receives
// once (as all of PAT's) loads the members' ends as every other one does: one vertex, the hull, stands for
// all ends of a group.
#include <algorithm>

#include "sim/replay/system_graph.h"
#include "topologies/host_shapes.h"

namespace busbar {

bool SystemGraph::is_one_per_island(std::span<const std::uint32_t> members) {
  const HostShapes& shapes = parts_.placement->shapes();
  const auto stamp = static_cast<std::uint32_t>(groups_.size() + 1);
  for (const std::uint32_t rank : members) {
    const std::uint32_t island = shapes.island(device(rank));
    if (island == kNoHost || parts_.placement->host_of(device(rank)) == kNoHost) return false;
    if (island >= island_seen_.size()) island_seen_.resize(island + 1, 0);
    if (island_seen_[island] == stamp) return false;
    island_seen_[island] = stamp;
  }
  return members.size() > 1;
}

/// None: a member without a NIC, or whose NIC has not one cable.
std::optional<SystemGraph::Ends> SystemGraph::ends_of(std::span<const std::uint32_t> members) {
  Placement& placement = *parts_.placement;
  const Topology& t = placement.topology();
  Ends ends;
  ends.reserve(members.size());
  for (const std::uint32_t rank : members) {
    const std::optional<DeviceId> nic = placement.router().nearest_nic(device(rank));
    if (!nic) return std::nullopt;
    const Cable& up = placement.shapes().up(*nic);
    const Cable& down = placement.shapes().down(*nic);
    if (up.links != 1 || down.links != 1) return std::nullopt;
    ends.push_back({device(rank), *nic, up.link, down.link, t.to(up.link), t.from(down.link)});
  }
  return ends;
}

// So that Placement::rail_between picks them: no other NIC of a member's host is on the switch of another
// member's, and all have one number on their hosts.
bool SystemGraph::messages_take_these(const Ends& ends) const {
  const Topology& t = parts_.placement->topology();
  std::vector<DeviceId> switches;
  for (const End& end : ends)
    if (switches.empty() || switches.back() != end.out_switch) switches.push_back(end.out_switch);
  std::sort(switches.begin(), switches.end());
  std::size_t number = 0;
  std::vector<DeviceId> beside, last;  // what the NICs of a host are on
  for (const End& end : ends) {
    const std::vector<DeviceId>& nics = t.hosts()[t.host_of(end.gpu)].nics;
    const auto own = static_cast<std::size_t>(std::find(nics.begin(), nics.end(), end.nic) - nics.begin());
    if (&end == &ends.front()) number = own;
    if (own != number || own == nics.size() || end.out_switch != end.in_switch) return false;
    beside.clear();
    for (const DeviceId nic : nics) beside.push_back(parts_.placement->router().switch_of(nic));
    if (beside == last) continue;
    for (const DeviceId other : beside)
      if (other != end.out_switch && std::binary_search(switches.begin(), switches.end(), other))
        return false;
    std::swap(beside, last);
  }
  return true;
}

std::optional<SystemGraph::Spread> SystemGraph::spread_of(std::uint64_t strands, std::uint32_t n,
                                                          std::span<const RoundTransfer> transfers) {
  Spread spread{.strands = strands};
  std::vector<std::uint8_t> sends(n, 0), receives(n, 0);  // two stand for many
  for (const RoundTransfer& t : transfers) {
    if (t.weight != 1 || t.from >= n || t.to >= n || t.from == t.to) return std::nullopt;
    spread.transfers.emplace_back(t.from, t.to);
    if (sends[t.from] < 2) ++sends[t.from];
    if (receives[t.to] < 2) ++receives[t.to];
  }
  if (spread.transfers.empty()) return std::nullopt;
  const auto once = [](std::uint8_t times) { return times == 1; };
  spread.is_everyone =
      std::all_of(sends.begin(), sends.end(), once) && std::all_of(receives.begin(), receives.end(), once);
  return spread;
}

// Of the first group that has the key.
void SystemGraph::plan_across(Across& across, const Ends& ends) {
  const std::uint32_t list = outline_.list_of(across.first);
  const auto planned = planned_calls(parts_, outline_.calls(list), across.first, 0);
  const Sketch sketch = sketch_of(kGroupSort, planned);
  across.colour = sketch.colour;
  const std::vector<RingChannel>& rings = planned.front().planned->routes->rings;
  const auto n = static_cast<std::uint32_t>(ends.size());
  std::vector<RoundTransfer> ring;
  for (std::uint32_t i = 0; i < n; ++i) ring.push_back({i, (i + 1) % n});
  PlanCache::RoundsByUsage rounds = parts_.plans->rounds_by_usage(across.first);
  for (const Channel& channel : sketch.channels) {
    const bool is_ring = rings.size() == 1 && channel.data == rings[0].usage.data();
    std::optional<Spread> spread =
        spread_of(channel.strands, n, is_ring ? std::span(ring) : std::span(rounds[channel.data].transfers));
    if (!spread) return;
    across.has_rounds = across.has_rounds || !is_ring;
    across.channels.push_back(std::move(*spread));
  }
  across.is_usable = !across.has_rounds || messages_take_these(ends);
}

// Between the cables, by channel; none: a way differs from that of the first group.
std::optional<SystemGraph::Middles> SystemGraph::middles_of(Across& across, const Ends& ends, bool is_first) {
  Middles middles;
  std::vector<std::uint32_t> ways;  // summaries, with the transfer from which each holds
  UsageSum& sum = parts_.placement->sum();
  for (const Spread& spread : across.channels) {
    for (std::size_t k = 0; k < spread.transfers.size();) {
      const auto [from, to] = spread.transfers[k];
      const DeviceId out = ends[from].out_switch, in = ends[to].in_switch;
      const std::size_t begin = k;
      while (k < spread.transfers.size() && ends[spread.transfers[k].first].out_switch == out &&
             ends[spread.transfers[k].second].in_switch == in)
        ++k;
      const auto way = parts_.placement->router().find(ends[from].nic, ends[to].nic, RouteScope::kFabric);
      if (!way || !way->first || !way->last || !way->is_kept) {
        static_cast<void>(sum.take());
        return std::nullopt;
      }
      way->for_each_use_between_cables(
          [&](const ResourceUse& use) { sum.add(use, static_cast<double>(k - begin)); });
      const std::uint32_t number = number_of(*way);
      if (begin > 0 && ways.back() == number) continue;
      ways.push_back(static_cast<std::uint32_t>(begin));
      ways.push_back(number);
    }
    middles.push_back(sum.take());
  }
  if (is_first) across.ways = ways;
  return ways == across.ways ? std::optional(std::move(middles)) : std::nullopt;
}

void SystemGraph::join_to_ends(std::uint32_t channel, const Spread& spread, const SegmentsOfEnds& segments) {
  if (segments.hull != PeerBoxes::kNone && spread.is_everyone) {
    graph_.add_edge(channel, segments.hull, kOnce);
    return;
  }
  for (const auto& [from, to] : spread.transfers) {
    graph_.add_edge(channel, segments.out[from], kOnce);
    graph_.add_edge(channel, segments.in[to], kOnce);
  }
}

SystemGraph::Owner SystemGraph::add_owner_across(const Across& across, const Ends& ends,
                                                 const Middles& middles) {
  const std::uint32_t vertex = add_vertex(across.colour, kOther);
  for (const Spread& spread : across.channels)
    graph_.add_edge(vertex, add_vertex(kChannelSort, kCarrier), spread.strands);
  SegmentsOfEnds segments;
  for (const End& end : ends) {
    segments.out.push_back(end_segment(end.gpu, end.nic, end.out_cable));
    segments.in.push_back(end_segment(end.nic, end.gpu, end.in_cable));
  }
  if (std::count_if(across.channels.begin(), across.channels.end(),
                    [](const Spread& s) { return s.is_everyone; }) > 1) {
    segments.hull = add_vertex(kHullSort, kHull);
    for (std::size_t i = 0; i < ends.size(); ++i)
      for (const std::uint32_t segment : {segments.out[i], segments.in[i]})
        graph_.add_edge(segments.hull, segment, kOnce);
  }
  for (std::size_t c = 0; c < across.channels.size(); ++c) {
    const auto channel = static_cast<std::uint32_t>(vertex + 1 + c);
    join_to_ends(channel, across.channels[c], segments);
    for (const ResourceUse& use : middles[c]) add_use(channel, LinkId(use.resource.value()), use.flows);
  }
  return {.vertex = vertex, .first_channel = vertex + 1};
}

std::optional<SystemGraph::Owner> SystemGraph::add_across_hosts(GroupId group,
                                                                std::span<const std::uint32_t> members) {
  if (!is_one_per_island(members)) return std::nullopt;
  const std::optional<Ends> ends = ends_of(members);
  if (!ends) return std::nullopt;
  Key key{outline_.list_of(group)};
  for (const End& end : *ends) key.push_back(place_kinds_.number(end.gpu, end.nic));
  const auto [it, is_new] = across_.try_emplace(std::move(key), Across{.first = group});
  Across& across = it->second;
  if (is_new) plan_across(across, *ends);
  if (!across.is_usable || (!is_new && across.has_rounds && !messages_take_these(*ends))) return std::nullopt;
  const std::optional<Middles> middles = middles_of(across, *ends, is_new);
  if (!middles && is_new) across.is_usable = false;
  if (!middles) return std::nullopt;
  planned_as_[group.index()] = across.first;
  parts_.plans->share_routes(group, across.first);
  return add_owner_across(across, *ends, *middles);
}

}  // namespace busbar
