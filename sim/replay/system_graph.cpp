#include "sim/replay/system_graph.h"

#include <algorithm>
#include <bit>

#include "sim/base/error.h"
#include "topologies/host_shapes.h"

namespace busbar {

namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

std::uint64_t strand_label(std::uint32_t call, std::size_t phase, const Strand& s) {
  std::uint64_t h = mix(call, phase);
  h = mix(h, bits(s.volume));
  h = mix(h, bits(s.cap.Bps()));
  return mix(h, bits(s.multiplicity));
}

}  // namespace

SystemGraph::SystemGraph(const SystemParts& parts, const SystemOutline& outline, const SystemColours& colours)
    : parts_(parts), outline_(outline), ranks_(outline.trace().ranks), place_kinds_(*parts.placement) {
  links_ = static_cast<std::uint32_t>(colours.links.size());
  const std::size_t groups = outline.trace().groups.size();
  graph_.edges.reserve(16 * std::size_t{ranks_});  // more than common layouts need
  uses_.reserve(24 * std::size_t{ranks_});
  graph_.colours.reserve(ranks_ + 2 * groups + outline.boxes().size() + 2 * std::size_t{ranks_});
  last_trunk_from_.assign(parts.placement->topology().devices().size(), PeerBoxes::kNone);
  last_segment_from_.assign(parts.placement->topology().devices().size(), PeerBoxes::kNone);
  for (std::uint32_t r = 0; r < ranks_; ++r)
    graph_.add_vertex(mix(mix(kRankSort, parts.index->by_rank[r]), colours.ranks[r]));
  for (std::uint32_t g = 0; g < groups; ++g) add_group(GroupId(g));
  for (const SystemOutline::Box& box : outline.boxes()) add_pair(box);
  join_ranks_and_groups();
  join_ranks_and_pairs();
  add_links(colours);
}

std::uint32_t SystemGraph::add_vertex(std::uint64_t colour, Kind kind) {
  kinds_.push_back(kind);
  return graph_.add_vertex(colour);
}

SystemGraph::Sketch SystemGraph::sketch_of(std::uint64_t sort, std::span<const PlannedCall> calls) {
  Sketch sketch{.colour = sort};
  std::unordered_map<const ResourceUse*, std::size_t> known;
  const auto channel = [&](std::span<const ResourceUse> usage) -> Channel& {
    const auto [it, is_new] = known.try_emplace(usage.data(), sketch.channels.size());
    if (is_new) sketch.channels.push_back({0, {usage.begin(), usage.end()}, usage.data()});
    return sketch.channels[it->second];
  };
  for (const PlannedCall& c : calls) {
    const Plan& plan = c.planned->plan;
    sketch.colour = mix(mix(sketch.colour, c.call), c.planned->record);
    sketch.colour = mix(mix(sketch.colour, bits(plan.sms)), bits(plan.tail.ps()));
    sketch.colour = mix(sketch.colour, bits(plan.memory_bytes_per_byte));
    for (std::size_t p = 0; p < plan.phases.size(); ++p) {
      std::uint64_t nowhere = 0;  // strands that cross no link
      for (const Strand& s : plan.phases[p].strands)
        (s.usage.empty() ? nowhere : channel(s.usage).strands) += strand_label(c.call, p, s);
      sketch.colour = mix(mix(sketch.colour, bits(plan.phases[p].latency.ps())), nowhere);
    }
  }
  return sketch;
}

SystemGraph::Owner SystemGraph::add_owner(const Sketch& sketch, std::uint32_t island) {
  const HostShapes& shapes = parts_.placement->shapes();
  Owner owner{.vertex = add_vertex(sketch.colour, kOther)};
  owner.first_channel = owner.vertex + 1;
  for (const Channel& channel : sketch.channels) {
    const std::uint32_t vertex = add_vertex(kChannelSort, kCarrier);
    graph_.add_edge(owner.vertex, vertex, channel.strands);
    for (const ResourceUse& use : channel.uses) {
      const LinkId link(use.resource.value());
      add_use(vertex, island == kNoHost ? link : shapes.link_in(island, link), use.flows);
    }
  }
  return owner;
}

std::optional<SystemGraph::Owner> SystemGraph::add_inside(Key key, std::uint32_t island,
                                                          const std::function<Sketch()>& planned) {
  const auto [it, is_new] = inside_.try_emplace(std::move(key));
  if (is_new) {
    Sketch sketch = planned();
    if (localise(sketch, island)) it->second = std::move(sketch);
  }
  if (!it->second || !fits(*it->second, island)) return std::nullopt;
  return add_owner(*it->second, island);
}

bool SystemGraph::localise(Sketch& sketch, std::uint32_t island) const {
  const HostShapes& shapes = parts_.placement->shapes();
  for (Channel& channel : sketch.channels)
    for (ResourceUse& use : channel.uses) {
      const LinkId link(use.resource.value());
      if (!shapes.is_inside(island, link)) return false;
      use.resource = ResourceId(shapes.representative(link, island).value());
    }
  return true;
}

bool SystemGraph::fits(const Sketch& sketch, std::uint32_t island) const {
  const HostShapes& shapes = parts_.placement->shapes();
  const std::vector<double>& capacity = parts_.placement->capacities();
  for (const Channel& channel : sketch.channels)
    for (const ResourceUse& use : channel.uses)
      if (capacity[shapes.link_in(island, LinkId(use.resource.value())).index()] !=
          capacity[use.resource.index()])
        return false;
  return true;
}

std::uint32_t SystemGraph::island_of(std::span<const std::uint32_t> members, Key& key) const {
  const HostShapes& shapes = parts_.placement->shapes();
  const std::uint32_t island = shapes.island(device(members.front()));
  if (island == kNoHost) return kNoHost;
  for (const std::uint32_t rank : members) {
    if (shapes.island(device(rank)) != island) return kNoHost;
    key.push_back(shapes.representative(device(rank)).value());
  }
  return island;
}

void SystemGraph::add_group(GroupId group) {
  const std::uint32_t list = outline_.list_of(group);
  const std::span<const std::uint32_t> calls = outline_.calls(list);
  const auto planned = [&] { return sketch_of(kGroupSort, planned_calls(parts_, calls, group, 0)); };
  const Group& named = outline_.trace().groups[group.index()];
  Key key{list};
  const std::vector<std::uint32_t> members = expand(named.members);
  const std::uint32_t island = island_of(members, key);
  planned_as_.push_back(group);
  std::optional<Owner> owner;
  if (!calls.empty() && island == kNoHost) owner = add_across_hosts(group, members);
  if (!calls.empty() && island != kNoHost) owner = add_inside(std::move(key), island, planned);
  groups_.push_back(owner ? *owner : add_owner(planned()));
}

// Of what lies between the cables. Mostly that of the last that was asked for.
std::uint32_t SystemGraph::number_of(const RouteRef& way) {
  const Topology& t = parts_.placement->topology();
  const auto spec = [&](std::optional<LinkId> link) { return link ? t.spec_number(*link) : ~0U; };
  const NumberedWay asked{way.summary, spec(way.rise), spec(way.fall), 0};
  if (last_way_.summary == asked.summary && last_way_.rise == asked.rise && last_way_.fall == asked.fall)
    return last_way_.number;
  PathSummary path = *way.summary;
  for (const std::optional<LinkId> link : {way.rise, way.fall})
    if (link) add_link(path, t, *link);
  const auto it = std::find(paths_.begin(), paths_.end(), path);
  const auto number = static_cast<std::uint32_t>(it - paths_.begin());
  if (it == paths_.end()) paths_.push_back(path);
  last_way_ = asked;
  return last_way_.number = number;
}

void SystemGraph::add_pair(const SystemOutline::Box& box) {
  const std::span<const std::uint32_t> calls = outline_.calls(box.list);
  const auto planned = [&] { return sketch_of(kPairSort, planned_calls(parts_, calls, box, 0)); };
  const std::uint32_t members[] = {box.from, box.to};
  Key key{box.list};
  const HostShapes& shapes = parts_.placement->shapes();
  const bool apart = shapes.island(device(box.from)) != shapes.island(device(box.to));
  const std::uint32_t island = apart ? kNoHost : island_of(members, key);
  std::optional<Owner> owner;
  if (!calls.empty() && island == kNoHost) owner = add_between_hosts(box);
  if (!calls.empty() && island != kNoHost) {
    key.push_back(kNoHost);  // no group has such a key
    owner = add_inside(std::move(key), island, planned);
  }
  pairs_.push_back(owner ? *owner : add_owner(planned()));
}

// The pair is a channel of its own: its strands are part of its colour.
std::optional<SystemGraph::Owner> SystemGraph::add_between_hosts(const SystemOutline::Box& box) {
  Placement& placement = *parts_.placement;
  const HostShapes& shapes = placement.shapes();
  const DeviceId from = device(box.from), to = device(box.to);
  const auto rail = placement.rail_of_pair(from, to);
  if (!rail) return std::nullopt;
  const std::optional<std::uint32_t> on = trunk_between(rail->out, rail->in);
  if (!on) return std::nullopt;
  const PairKey key{box.list,
                    shapes.representative(from).value(),
                    shapes.representative(to).value(),
                    shapes.representative(rail->out).value(),
                    shapes.representative(rail->in).value(),
                    trunks_[*on].number};
  const auto [it, is_new] = between_.try_emplace(key);
  if (is_new) {
    const Sketch sketch = sketch_of(kPairSort, planned_calls(parts_, outline_.calls(box.list), box, 0));
    if (sketch.channels.size() == 1) it->second = mix(sketch.colour, sketch.channels[0].strands);
  }
  if (!it->second) return std::nullopt;
  const std::uint32_t out = end_segment(from, rail->out, shapes.up(rail->out).link);
  const std::uint32_t in = end_segment(rail->in, to, shapes.down(rail->in).link);
  const std::uint32_t vertex = add_vertex(*it->second, kCarrier);
  for (const std::uint32_t segment : {out, in}) graph_.add_edge(vertex, segment, kOnce);
  if (trunks_[*on].is_implied) {
    riders_.push_back({vertex, *on});
  } else {
    for (const Crossing& c : crossings(*on)) uses_.push_back({vertex, c.link, c.label});
  }
  return Owner{vertex, vertex};
}

void SystemGraph::add_use(std::uint32_t vertex, LinkId link, std::int64_t flows) {
  uses_.push_back({vertex, link.value(), graph_.number_of(bits(flows))});
}

void SystemGraph::add_links(const SystemColours& colours) {
  const std::vector<bool>& implied = *parts_.implied;
  std::vector<std::uint8_t> users(links_, 0);  // two stand for many
  for (const Use& use : uses_)
    if (users[use.link] < 2 && !implied[use.link]) ++users[use.link];
  const auto colour = [&](std::uint32_t link) { return mix(kLinkSort, colours.of_link(link)); };
  first_link_vertex_ = static_cast<std::uint32_t>(graph_.colours.size());
  vertex_of_link_.assign(links_, PeerBoxes::kNone);
  for (std::uint32_t link = 0; link < links_; ++link)
    if (users[link] > 1) vertex_of_link_[link] = graph_.add_vertex(colour(link));
  for (const Use& use : uses_) {
    if (users[use.link] > 1) graph_.edges.push_back({use.user, vertex_of_link_[use.link], use.label});
    if (users[use.link] == 1) graph_.colours[use.user] += mix(colour(use.link), graph_.labels[use.label]);
  }
}

// Between the switches of two NICs with one cable each.
std::optional<std::uint32_t> SystemGraph::trunk_between(DeviceId out, DeviceId in) {
  const HostShapes& shapes = parts_.placement->shapes();
  const Topology& t = parts_.placement->topology();
  if (shapes.up(out).links != 1 || shapes.down(in).links != 1) return std::nullopt;
  const DeviceId from = t.to(shapes.up(out).link), to = t.from(shapes.down(in).link);
  std::uint32_t& last = last_trunk_from_[from.index()];
  std::uint32_t trunk = last;
  while (trunk != PeerBoxes::kNone && trunks_[trunk].to != to.value()) trunk = trunks_[trunk].earlier;
  if (trunk == PeerBoxes::kNone) {
    trunks_.push_back(made_trunk(out, in));
    trunks_.back().to = to.value();
    trunks_.back().earlier = last;
    trunk = last = static_cast<std::uint32_t>(trunks_.size() - 1);
  }
  return trunks_[trunk].is_usable ? std::optional(trunk) : std::nullopt;
}

SystemGraph::Trunk SystemGraph::made_trunk(DeviceId out, DeviceId in) {
  const auto way = parts_.placement->router().find(out, in, RouteScope::kFabric);
  if (!way || !way->first || !way->last || !way->is_kept) return {};
  Trunk trunk{.number = number_of(*way), .is_usable = true, .is_implied = true};
  trunk.first_crossing = static_cast<std::uint32_t>(crossings_.size());
  way->for_each_use_between_cables([&](const ResourceUse& use) {
    crossings_.push_back({use.resource.value(), graph_.number_of(bits(use.flows))});
    trunk.is_implied = trunk.is_implied && (*parts_.implied)[use.resource.index()];
  });
  trunk.end_crossing = static_cast<std::uint32_t>(crossings_.size());
  return trunk;
}

// Of hosts that are alike the same, in the links of the first.
const std::vector<ResourceUse>& SystemGraph::way_inside(DeviceId from, DeviceId to) {
  const HostShapes& shapes = parts_.placement->shapes();
  const DeviceId first = shapes.representative(from), last = shapes.representative(to);
  const auto [it, is_new] = ways_to_nics_.try_emplace((std::uint64_t{first.value()} << 32) | last.value());
  std::vector<ResourceUse>& uses = it->second;
  if (!is_new) return uses;
  const std::optional<RouteRef> route = parts_.placement->router().find(first, last, RouteScope::kHost);
  BUSBAR_CHECK(route);
  route->for_each_use([&](const ResourceUse& use) { uses.push_back(use); });
  return uses;
}

// From a GPU to its NIC and out by its cable, or the other way in.
std::uint32_t SystemGraph::end_segment(DeviceId from, DeviceId to, std::optional<LinkId> cable) {
  std::uint32_t& last = last_segment_from_[from.index()];
  for (std::uint32_t s = last; s != PeerBoxes::kNone; s = end_segments_[s].earlier)
    if (end_segments_[s].to == to.value()) return end_segments_[s].vertex;
  const std::uint32_t vertex = add_vertex(kEndSegmentSort, kSegment);
  end_segments_.push_back({to.value(), vertex, last});
  last = static_cast<std::uint32_t>(end_segments_.size() - 1);
  const HostShapes& shapes = parts_.placement->shapes();
  const std::uint32_t island = shapes.island(from);
  for (const ResourceUse& use : way_inside(from, to))
    add_use(vertex, shapes.link_in(island, LinkId(use.resource.value())), use.flows);
  add_use(vertex, *cable, kOneFlow);
  return vertex;
}

// Slots of one rank that mean the same group make one edge; who is a member without calling has an edge too.
void SystemGraph::join_ranks_and_groups() {
  std::vector<std::uint32_t> bound(groups_.size(), 0);  // members with an edge
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    const auto slots = outline_.groups_of(r);
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (std::find(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(s), slots[s]) !=
          slots.begin() + static_cast<std::ptrdiff_t>(s))
        continue;
      std::uint64_t label = 0;
      for (std::size_t t = s; t < slots.size(); ++t)
        if (slots[t] == slots[s]) label = mix(label, 2 * t + 1);
      graph_.add_edge(groups_[slots[s].index()].vertex, r, label);
      ++bound[slots[s].index()];
    }
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const auto& ranges = outline_.trace().groups[g].members;
    if (bound[g] == count(ranges)) continue;
    for (const std::uint32_t rank : expand(ranges)) {
      const auto slots = outline_.groups_of(rank);
      if (std::find(slots.begin(), slots.end(), GroupId(g)) == slots.end())
        graph_.add_edge(groups_[g].vertex, rank, 0);
    }
  }
}

void SystemGraph::join_ranks_and_pairs() {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> labels;  // by mailbox
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    labels.clear();
    const auto add = [&](std::uint32_t box, std::uint64_t slot) {
      if (box == PeerBoxes::kNone) return;
      auto it = std::find_if(labels.begin(), labels.end(), [&](const auto& l) { return l.first == box; });
      if (it == labels.end()) it = labels.insert(it, {box, 0});
      it->second = mix(it->second, slot);
    };
    const auto boxes = outline_.boxes_of(r);
    for (std::size_t s = 0; s < boxes.size(); ++s) {
      add(boxes[s].out, 2 * s + 1);
      add(boxes[s].in, 2 * s + 2);
    }
    for (const auto& [box, label] : labels) graph_.add_edge(pairs_[box].vertex, r, label);
  }
}

}  // namespace busbar
