// Where ranks sit and how their groups are wired: from a topology to the routes that a collective may know.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/base/group_routes.h"
#include "sim/collectives/double_tree.h"
#include "sim/collectives/plan.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/profile.h"
#include "sim/replay/ring_search.h"
#include "sim/replay/scales.h"
#include "topologies/routing.h"
#include "topologies/topology.h"

namespace busbar {

/// Sums the uses of many routes by resource. Reused between calls so that its cost follows what is added.
class UsageSum {
 public:
  explicit UsageSum(std::size_t resources) : index_(resources, kUnseen) {}
  /// `times` of each use, rounded to whole fixed-point units.
  void add(std::span<const ResourceUse> uses, double times);
  void add(const ResourceUse& use, double times) {
    std::uint32_t& at = index_[use.resource.index()];
    if (at == kUnseen) {
      at = static_cast<std::uint32_t>(sum_.size());
      sum_.push_back({use.resource, 0});
    }
    sum_[at].flows += times == 1 ? use.flows : std::llround(static_cast<double>(use.flows) * times);
  }
  /// The sum; empties itself.
  [[nodiscard]] std::vector<ResourceUse> take();

 private:
  static constexpr std::uint32_t kUnseen = 0xffffffffU;
  std::vector<std::uint32_t> index_;
  std::vector<ResourceUse> sum_;
};

/// Adds a hop unless one of the same class and latency is there.
void note_hop(std::vector<Hop>& hops, const Hop& hop);

/// Routes of groups of ranks on one topology. Borrows the topology.
///   One host (or NVLink domain): one ring in member order, behind NVSwitches or PCIe. On PCIe the members at
///   one CPU, and at one PCIe switch, follow each other, so that a ring crosses the link between two sockets
///   once each way. Where direct links join the GPUs: the rings of find_rings.
///   Several hosts: one ring per rail, as NCCL builds them: in each host, in at the GPU nearest to the rail's
///   NIC, through the other members in order (with direct links: along one of the host's rings, channel after
///   channel a different one, so that they load the links evenly), out through the same NIC (by NVLink to the
///   GPU beside it). A rail has several channels where one alone would overload a link in the host.
///   Rails are the NICs nearest to the members; hosts follow each other in order of their first member.
/// Errors (Error, kInput): no route between two GPUs.
class Placement {
 public:
  Placement(const Topology& topology, const Profile& profile, Scales scales = {});

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(topology_->ranks().size()); }
  [[nodiscard]] GroupRoutes group(std::span<const std::uint32_t> members);
  /// The same without rings: for point-to-point, which needs the rates alone.
  [[nodiscard]] GroupRoutes outline(std::span<const std::uint32_t> members);
  /// The group's rings cut open at member `root`: chains that start there, or that end there.
  [[nodiscard]] std::vector<RingChannel> chains(std::span<const std::uint32_t> members, std::uint32_t root,
                                                bool into_root);
  /// The hops of the group's ring or chain of this index one by one: order[i] to order[i + 1].
  [[nodiscard]] std::vector<PairRoute> hops_of(std::span<const std::uint32_t> members, std::size_t index,
                                               const RingChannel& channel);
  /// Double binary trees between hosts, chains inside: one channel per tree and ring of `group`.
  [[nodiscard]] std::vector<PipelineChannel> trees(std::span<const std::uint32_t> members);
  /// The NVSwitch of the members' host reduces and multicasts. Errors: a member without NVSwitch.
  [[nodiscard]] std::vector<PipelineChannel> switches(std::span<const std::uint32_t> members,
                                                      CollectiveKind kind);
  /// The same inside each host, double binary trees between the hosts.
  [[nodiscard]] std::vector<PipelineChannel> switch_trees(std::span<const std::uint32_t> members);
  /// The network's switches reduce what a chain in each host brings to each rail.
  [[nodiscard]] std::vector<PipelineChannel> network_switches(std::span<const std::uint32_t> members);
  /// nccl-tests' sendrecv: every member sends to the next.
  [[nodiscard]] std::vector<PairRoute> neighbours(std::span<const std::uint32_t> members);
  /// One transfer from rank to rank.
  [[nodiscard]] PairRoute pair(std::uint32_t from, std::uint32_t to);
  /// The rounds of an algorithm, each with all its transfers on the graph.
  [[nodiscard]] std::vector<RoundRoutes> rounds(std::span<const std::uint32_t> members,
                                                std::span<const Round> rounds);

  /// After numbers in the profile have changed.
  void profile_changed();
  /// Other factors from here on: capacities follow at once, routes that were given out are theirs who hold
  /// them.
  void rescale(Scales scales);
  [[nodiscard]] const Scales& scales() const { return scales_; }
  /// What they are for operations of a group.
  [[nodiscard]] CostScales cost_scales(const GroupRoutes& routes) const;
  /// `channel.lone_rate` at the present capacities.
  void find_lone_rate(RingChannel& channel) const;
  /// capacity[link] that communication sustains, bytes/s.
  [[nodiscard]] const std::vector<double>& capacities() const { return capacity_; }
  /// The same by sorts of links, few of which there are.
  [[nodiscard]] const std::vector<double>& sort_capacities() const { return sorts_.capacity; }
  [[nodiscard]] const std::vector<std::uint32_t>& link_sorts() const { return sorts_.of; }
  [[nodiscard]] const Generation& generation(std::uint32_t rank) const;
  /// "H100-SXM5-80GB"; empty for a GPU without a model.
  [[nodiscard]] std::string_view gpu_model(std::uint32_t rank) const;
  /// The oldest generation among the members: it sets the pace of all.
  [[nodiscard]] const Generation& oldest(std::span<const std::uint32_t> members) const;
  /// The GPU models that no generation of the profile matches (its newest stands in).
  [[nodiscard]] std::vector<std::string> unmatched_models() const;

  [[nodiscard]] const Topology& topology() const { return *topology_; }
  /// Empty between calls; to be left empty.
  [[nodiscard]] UsageSum& sum() { return sum_; }
  [[nodiscard]] DeviceId device(std::uint32_t rank) const { return topology_->ranks()[rank]; }
  [[nodiscard]] std::uint32_t host_of(DeviceId id) const { return topology_->host_of(id); }
  [[nodiscard]] Router& router() { return router_; }
  [[nodiscard]] const HostShapes& shapes() const { return router_.shapes(); }
  /// The NICs by which a message goes from one host to another; none where it goes otherwise.
  struct Rail {
    DeviceId out, in;
  };
  [[nodiscard]] std::optional<Rail> rail_of_pair(DeviceId from, DeviceId to);

 private:
  using Orders = std::vector<std::vector<std::uint32_t>>;  // cyclic; by place among a host's members
  /// What hosts that are alike share, for members in the same places.
  struct HostPaths {
    Orders tree;  // on PCIe, if it differs from the members' own order
    PathType intra = PathType::kLoc, inter = PathType::kLoc;
    Transport transport = Transport::kNvlink;
    bool nic_at_cpu = false;
    bool direct = false;  // links join some of the GPUs
  };
  struct HostMembers {
    std::uint32_t host;                  // NVLink domain: a host, or a rack of trays
    std::vector<std::uint32_t> members;  // member numbers, in order
    std::vector<DeviceId> rails;         // NICs nearest to them, in order
    const HostPaths* paths = nullptr;    // found by find_orders, as what follows
    const RingSet* mesh = nullptr;       // rings of direct links; none without such
    const Orders* orders = nullptr;      // of `mesh`, or the order on PCIe; none: as the members come
  };
  struct Rings {  // what all rings of a group share
    std::span<const std::uint32_t> members;
    std::vector<HostMembers> hosts;
    std::vector<std::uint32_t> host_of;  // by member
    std::size_t per_rail = 1;            // channels
    [[nodiscard]] bool has_rails() const { return hosts.size() > 1 && !hosts.front().rails.empty(); }
    [[nodiscard]] std::size_t rails() const { return has_rails() ? hosts.front().rails.size() : 1; }
    [[nodiscard]] std::size_t count() const { return rails() * per_rail; }
    [[nodiscard]] std::size_t rail_of(std::size_t channel) const { return channel % rails(); }
  };
  [[nodiscard]] std::uint32_t domain(DeviceId id) const {
    const std::uint32_t host = topology_->host_of(id);
    return host == kNoHost ? kNoHost : topology_->hosts()[host].domain;
  }
  [[nodiscard]] std::vector<HostMembers> by_host(std::span<const std::uint32_t> members);
  void align_rails(std::vector<HostMembers>& hosts) const;
  [[nodiscard]] DeviceId switch_of(DeviceId nic) const { return router_.switch_of(nic); }
  [[nodiscard]] GroupRoutes outline(const Rings& rings);
  [[nodiscard]] Rings rings_of(std::span<const std::uint32_t> members);
  void find_orders(HostMembers& host, std::span<const std::uint32_t> members);
  [[nodiscard]] DirectLinks direct_links(const HostMembers& host,
                                         std::span<const std::uint32_t> members) const;
  [[nodiscard]] std::vector<DeviceId> way_to_cpu(DeviceId gpu) const;
  [[nodiscard]] Orders tree_order(const HostMembers& host, std::span<const std::uint32_t> members) const;
  [[nodiscard]] std::size_t channels_per_rail(const Rings& rings) const;
  [[nodiscard]] const RingSet* mesh_of(const DirectLinks& links);
  void find_paths(HostPaths& paths, const HostMembers& host, std::span<const std::uint32_t> members);
  [[nodiscard]] PathType path_type(DeviceId from, DeviceId to);
  [[nodiscard]] std::vector<std::uint32_t> host_order(const Rings& rings, const HostMembers& host,
                                                      std::size_t channel);
  [[nodiscard]] std::vector<std::uint32_t> ring_order(const Rings& rings, std::size_t channel);
  [[nodiscard]] Hop ring_hop(const Rings& rings, std::size_t channel, std::uint32_t from, std::uint32_t to);
  [[nodiscard]] static std::string name_of(const Rings& rings, std::size_t channel);
  /// `order` with its hops; closed: the last goes to the first.
  [[nodiscard]] RingChannel wire(const Rings& rings, std::size_t index, std::vector<std::uint32_t> order,
                                 bool closed);
  [[nodiscard]] std::size_t entry_of(const HostMembers& host, std::span<const std::uint32_t> members,
                                     std::size_t rail);
  [[nodiscard]] Hop rail_hop(const Rings& rings, std::size_t rail, std::uint32_t from, std::uint32_t to,
                             double flows);
  void add_tree(const Rings& rings, std::size_t rail, const Tree& tree, double flows,
                PipelineChannel& channel);
  void add_chains(const Rings& rings, std::size_t index, PipelineChannel& channel);
  void add_switch(const Rings& rings, CollectiveKind kind, PipelineChannel& channel);
  [[nodiscard]] DeviceId participant(std::span<const std::uint32_t> members, std::uint32_t number);
  [[nodiscard]] DeviceId nvswitch_of(DeviceId gpu) const;
  [[nodiscard]] bool joined_by_gpu_links(DeviceId a, DeviceId b);
  void describe_inside(GroupRoutes& routes, const Rings& rings);
  void describe_network(GroupRoutes& routes, const Rings& rings) const;
  struct LinkSorts {
    static constexpr std::uint32_t kNoRank = 0xffffffffU;
    std::vector<std::uint32_t> of;    // by link
    std::vector<LinkId> first;        // by sort, as what follows: a link of it
    std::vector<std::uint32_t> rank;  // whose generation counts
    std::vector<double> capacity;
  };
  struct NetworkRate {
    double now = 0, nominal = 0;  // with faults and without, bytes/s
  };
  void note_facts(GroupRoutes& routes, const Rings& rings);
  void note_inside(GroupFacts& facts, const Rings& rings);
  void note_network(GroupFacts& facts, const Rings& rings) const;
  void note_capabilities(GroupFacts& facts, const Rings& rings) const;
  void note_mesh(GroupFacts& facts, const Rings& rings) const;
  [[nodiscard]] double gpu_links(const HostMembers& host, std::span<const std::uint32_t> members,
                                 LinkType type, Bandwidth Link::*rate) const;
  [[nodiscard]] DeviceId leaving_nic(DeviceId out, DeviceId in);
  /// A hop over given stops; `times` of its uses go into `sum_`.
  [[nodiscard]] Hop cross(std::span<const DeviceId> stops, double times = 1);
  [[nodiscard]] Hop pair_hop(DeviceId from, DeviceId to, double times = 1);
  [[nodiscard]] std::optional<Rail> rail_between(DeviceId from, DeviceId to);
  void extend(Hop& hop, const RouteRef& route, double times);
  [[nodiscard]] std::vector<Hop> exchange(std::span<const std::uint32_t> members);
  [[nodiscard]] bool exchange_pendants(std::span<const std::uint32_t> members, std::size_t hosts,
                                       std::vector<Hop>& hops);
  void exchange_inside(std::span<const std::uint32_t> members, const HostMembers& host,
                       std::vector<Hop>& hops);
  struct RailTraffic;
  [[nodiscard]] std::map<std::size_t, RailTraffic> traffic_by_rail(std::span<const std::uint32_t> members,
                                                                   const std::vector<HostMembers>& hosts);
  void load_by_pairs(const RailTraffic& rail);
  void load_by_switches(const RailTraffic& rail);
  [[nodiscard]] bool one_cable(const RailTraffic& rail) const;
  /// Parts of a path that only load links.
  void load(DeviceId from, DeviceId to, double flows);
  void find_sorts();
  void find_capacities();
  [[nodiscard]] double narrowest(DeviceId a, DeviceId b, Bandwidth Link::*rate);
  [[nodiscard]] NetworkRate network_rate(DeviceId nic) const;
  [[nodiscard]] LinkType network_type(DeviceId nic) const;

  const Topology* topology_;
  const Profile* profile_;
  Scales scales_;
  LinkClasses link_classes_;  // where scales ask for them
  Router router_;
  UsageSum sum_;
  std::vector<const Generation*> generations_;  // by GPU model, and one for GPUs without
  LinkSorts sorts_;
  std::vector<double> capacity_;
  std::map<std::vector<double>, RingSet> ring_sets_;  // by the links between the members
  std::map<std::vector<DeviceId>, HostPaths> paths_;  // by the devices that stand for theirs
};

}  // namespace busbar
