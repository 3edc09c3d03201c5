// Trees, and reductions inside switches, on the graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.h"
#include "sim/collectives/double_tree.h"
#include "sim/replay/placement.h"

namespace busbar {

namespace {

// Ends of tree edges over which the deepest position is reached, from it up to the root.
std::vector<std::uint32_t> way_up(const Tree& tree, std::uint32_t from) {
  std::vector<std::uint32_t> way{from};
  while (tree[way.back()].parent) way.push_back(*tree[way.back()].parent);
  return way;
}

std::vector<std::uint32_t> longest_way(const Tree& tree) {
  std::vector<std::uint32_t> longest;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    std::vector<std::uint32_t> way = way_up(tree, i);
    if (way.size() > longest.size()) longest = std::move(way);
  }
  return longest;
}

std::string tree_name(std::size_t tree, const std::string& ring) {
  return fmt::format("tree {}{}{}", tree, ring.empty() ? "" : ", ", ring);
}

}  // namespace

// Between hosts a rail's tree edge goes from NIC to NIC of that rail; without rails, from GPU to GPU.
Hop Placement::rail_hop(const Rings& rings, std::size_t rail, std::uint32_t from, std::uint32_t to,
                        double flows) {
  const HostMembers& a = rings.hosts[from];
  const HostMembers& b = rings.hosts[to];
  const DeviceId out =
      device(rings.members[a.members[rings.has_rails() ? entry_of(a, rings.members, rail) : 0]]);
  const DeviceId in =
      device(rings.members[b.members[rings.has_rails() ? entry_of(b, rings.members, rail) : 0]]);
  if (!rings.has_rails()) return cross(std::array{out, in}, flows);
  return cross(std::array{out, leaving_nic(a.rails[rail], b.rails[rail]), b.rails[rail], in}, flows);
}

// Up the longest way and down again; every edge carries `flows` each way.
void Placement::add_tree(const Rings& rings, std::size_t rail, const Tree& tree, double flows,
                         PipelineChannel& channel) {
  for (std::uint32_t h = 0; h < tree.size(); ++h)
    if (tree[h].parent) {
      static_cast<void>(rail_hop(rings, rail, h, *tree[h].parent, flows));
      static_cast<void>(rail_hop(rings, rail, *tree[h].parent, h, flows));
    }
  const std::vector<std::uint32_t> way = longest_way(tree);
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    channel.path.push_back(rail_hop(rings, rail, way[i], way[i + 1], 0));
    channel.path.push_back(rail_hop(rings, rail, way[i + 1], way[i], 0));
  }
}

// Inside each host a chain along the ring of this index, both ways. The path takes the longest chain.
void Placement::add_chains(const Rings& rings, std::size_t index, PipelineChannel& channel) {
  std::vector<Hop> longest;
  for (const HostMembers& h : rings.hosts) {
    const std::vector<std::uint32_t> order = host_order(rings, h, index);
    std::vector<Hop> chain;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      const DeviceId a = device(rings.members[order[i]]);
      const DeviceId b = device(rings.members[order[i + 1]]);
      chain.push_back(cross(std::array{a, b}));
      chain.push_back(cross(std::array{b, a}));
    }
    if (chain.size() > longest.size()) longest = std::move(chain);
  }
  channel.path.insert(channel.path.end(), longest.begin(), longest.end());
}

std::vector<PipelineChannel> Placement::trees(std::span<const std::uint32_t> members) {
  const Rings rings = rings_of(members);
  const std::array<Tree, 2> trees = double_tree(static_cast<std::uint32_t>(rings.hosts.size()));
  std::vector<PipelineChannel> channels;
  for (std::size_t t = 0; t < trees.size(); ++t)
    for (std::size_t index = 0; index < rings.count(); ++index) {
      PipelineChannel channel{.name = tree_name(t, name_of(rings, index)),
                              .share = 0.5 / static_cast<double>(rings.count())};
      add_chains(rings, index, channel);
      add_tree(rings, rings.rail_of(index), trees[t], 1, channel);
      channel.usage = sum_.take();
      channels.push_back(std::move(channel));
    }
  return channels;
}

DeviceId Placement::nvswitch_of(DeviceId gpu) const {
  for (const LinkId id : topology_->out_links(gpu))
    if (topology_->device(topology_->link(id).to).kind == DeviceKind::kNvswitch)
      return topology_->link(id).to;
  throw Error(
      {.where = topology_->name(),
       .message = fmt::format("{} has no NVSwitch, which NVLS needs", quoted(topology_->name_of(gpu)))});
}

// Flows of a GPU to and from the switch per byte of S, n members: all_reduce 1 + 1/n both ways (its own data
// for the reduction and the result of its share; everybody's results and the sum of its share); all_gather
// 1/n out and 1 in; reduce_scatter the other way round.
void Placement::add_switch(const Rings& rings, CollectiveKind kind, PipelineChannel& channel) {
  for (const HostMembers& h : rings.hosts) {
    const auto n = static_cast<double>(h.members.size());
    if (n < 2) continue;
    const bool gather = kind == CollectiveKind::kAllGather;
    const bool scatter = kind == CollectiveKind::kReduceScatter;
    const double out = gather ? 1 / n : scatter ? 1 : 1 + 1 / n;
    const double in = gather ? 1 : scatter ? 1 / n : 1 + 1 / n;
    for (const std::uint32_t m : h.members) {
      const DeviceId gpu = device(rings.members[m]);
      const DeviceId hub = nvswitch_of(gpu);
      const Hop up = cross(std::array{gpu, hub}, out);
      const Hop down = cross(std::array{hub, gpu}, in);
      if (channel.path.empty()) channel.path = {up, down};
    }
  }
}

std::vector<PipelineChannel> Placement::switches(std::span<const std::uint32_t> members,
                                                 CollectiveKind kind) {
  PipelineChannel channel{.name = "NVSwitch"};
  add_switch(rings_of(members), kind, channel);
  channel.usage = sum_.take();
  return {channel};
}

// Per tree and rail: its part of what the switches reduce, and the tree between the GPUs beside that rail.
std::vector<PipelineChannel> Placement::switch_trees(std::span<const std::uint32_t> members) {
  const Rings rings = rings_of(members);
  const std::array<Tree, 2> trees = double_tree(static_cast<std::uint32_t>(rings.hosts.size()));
  std::vector<PipelineChannel> channels;
  for (std::size_t t = 0; t < trees.size(); ++t)
    for (std::size_t index = 0; index < rings.count(); ++index) {
      PipelineChannel channel{.name = tree_name(t, name_of(rings, index)),
                              .share = 0.5 / static_cast<double>(rings.count())};
      add_switch(rings, CollectiveKind::kAllReduce, channel);
      add_tree(rings, rings.rail_of(index), trees[t], 1, channel);
      channel.usage = sum_.take();
      channels.push_back(std::move(channel));
    }
  return channels;
}

// The network's switch next to a rail's NICs reduces: S over the rails out of and into each host.
std::vector<PipelineChannel> Placement::network_switches(std::span<const std::uint32_t> members) {
  const Rings rings = rings_of(members);
  std::vector<PipelineChannel> channels;
  for (std::size_t index = 0; index < rings.count(); ++index) {
    const std::size_t rail = rings.rail_of(index);
    PipelineChannel channel{.name = name_of(rings, index), .share = 1.0 / static_cast<double>(rings.count())};
    add_chains(rings, index, channel);
    for (const HostMembers& h : rings.hosts) {
      if (h.rails.empty()) continue;
      const DeviceId gpu = device(rings.members[h.members[entry_of(h, rings.members, rail)]]);
      const std::array up{gpu, h.rails[rail], switch_of(h.rails[rail])};
      const std::array down{up[2], up[1], up[0]};
      const Hop hop = cross(up);
      static_cast<void>(cross(down));
      if (&h == &rings.hosts.front()) channel.path.push_back(hop);
    }
    channel.usage = sum_.take();
    channels.push_back(std::move(channel));
  }
  return channels;
}

}  // namespace busbar
