// Where ranks sit and how their groups are wired: from a topology to the routes that a collective may know.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/base/group_routes.h"
#include "sim/collectives/plan.h"
#include "sim/cost/profile.h"
#include "topologies/routing.h"
#include "topologies/topology.h"

namespace busbar {

/// Sums the uses of many routes by resource. Reused between calls so that its cost follows what is added.
class UsageSum {
 public:
  explicit UsageSum(std::size_t resources) : index_(resources, kUnseen) {}
  /// `times` of each use, rounded to whole fixed-point units.
  void add(std::span<const ResourceUse> uses, double times);
  /// The sum; empties itself.
  [[nodiscard]] std::vector<ResourceUse> take();

 private:
  static constexpr std::uint32_t kUnseen = 0xffffffffU;
  std::vector<std::uint32_t> index_;
  std::vector<ResourceUse> sum_;
};

/// Routes of groups of ranks on one topology. Borrows the topology.
///   One host (or NVLink domain): one ring in member order.
///   Several hosts: one ring per rail, as NCCL builds them: in each host, in at the GPU nearest to the rail's
///   NIC, through the other members in order, out through the same NIC (by NVLink to the GPU beside it).
///   Rails are the NICs nearest to the members; hosts follow each other in order of their first member.
/// Errors (Error, kInput): no route between two GPUs.
class Placement {
 public:
  Placement(const Topology& topology, const Profile& profile);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(topology_->ranks().size()); }
  [[nodiscard]] GroupRoutes group(std::span<const std::uint32_t> members);
  /// The same without rings: for point-to-point, which needs the rates alone.
  [[nodiscard]] GroupRoutes outline(std::span<const std::uint32_t> members);
  /// The group's rings cut open at member `root`: chains that start there, or that end there.
  [[nodiscard]] std::vector<RingChannel> chains(std::span<const std::uint32_t> members, std::uint32_t root,
                                                bool into_root);
  /// The hops of a ring or chain of the group one by one: order[i] to order[i + 1].
  [[nodiscard]] std::vector<PairRoute> hops_of(std::span<const std::uint32_t> members, std::size_t rail,
                                               const RingChannel& channel);
  /// nccl-tests' sendrecv: every member sends to the next.
  [[nodiscard]] std::vector<PairRoute> neighbours(std::span<const std::uint32_t> members);
  /// One transfer from rank to rank.
  [[nodiscard]] PairRoute pair(std::uint32_t from, std::uint32_t to);
  /// The rounds of an algorithm, each with all its transfers on the graph.
  [[nodiscard]] std::vector<RoundRoutes> rounds(std::span<const std::uint32_t> members,
                                                std::span<const Round> rounds);

  /// capacity[link] that communication sustains, bytes/s.
  [[nodiscard]] const std::vector<double>& capacities() const { return capacity_; }
  [[nodiscard]] const Generation& generation(std::uint32_t rank) const;
  /// The oldest generation among the members: it sets the pace of all.
  [[nodiscard]] const Generation& oldest(std::span<const std::uint32_t> members) const;
  /// The GPU models that no generation of the profile matches (its newest stands in).
  [[nodiscard]] std::vector<std::string> unmatched_models() const;

 private:
  struct HostMembers {
    std::uint32_t host;                  // NVLink domain: a host, or a rack of trays
    std::vector<std::uint32_t> members;  // member numbers, in order
    std::vector<DeviceId> rails;         // NICs nearest to them, in order
  };
  struct Rings {  // what all rings of a group share
    std::span<const std::uint32_t> members;
    std::vector<HostMembers> hosts;
    std::vector<std::uint32_t> host_of;  // by member
    [[nodiscard]] bool has_rails() const { return hosts.size() > 1 && !hosts.front().rails.empty(); }
    [[nodiscard]] std::size_t count() const { return has_rails() ? hosts.front().rails.size() : 1; }
  };
  [[nodiscard]] DeviceId device(std::uint32_t rank) const { return topology_->ranks()[rank]; }
  [[nodiscard]] std::uint32_t domain(DeviceId id) const {
    const std::uint32_t host = topology_->device(id).host;
    return host == kNoHost ? kNoHost : topology_->hosts()[host].domain;
  }
  [[nodiscard]] std::vector<HostMembers> by_host(std::span<const std::uint32_t> members);
  void align_rails(std::vector<HostMembers>& hosts) const;
  [[nodiscard]] DeviceId switch_of(DeviceId nic) const;
  [[nodiscard]] GroupRoutes outline(const Rings& rings);
  [[nodiscard]] Rings rings_of(std::span<const std::uint32_t> members);
  [[nodiscard]] std::vector<std::uint32_t> ring_order(const Rings& rings, std::size_t rail);
  [[nodiscard]] Hop ring_hop(const Rings& rings, std::size_t rail, std::uint32_t from, std::uint32_t to);
  /// `order` with its hops; closed: the last goes to the first.
  [[nodiscard]] RingChannel wire(const Rings& rings, std::size_t rail, std::vector<std::uint32_t> order,
                                 bool closed);
  [[nodiscard]] std::size_t entry_of(const HostMembers& host, std::span<const std::uint32_t> members,
                                     std::size_t rail);
  [[nodiscard]] bool joined_by_gpu_links(DeviceId a, DeviceId b);
  void describe(GroupRoutes& routes, std::span<const std::uint32_t> members,
                const std::vector<HostMembers>& hosts);
  [[nodiscard]] DeviceId leaving_nic(DeviceId out, DeviceId in);
  /// A hop over given stops; `times` of its uses go into `sum_`.
  [[nodiscard]] Hop cross(std::span<const DeviceId> stops, double times = 1);
  [[nodiscard]] Hop pair_hop(DeviceId from, DeviceId to, double times = 1);
  void extend(Hop& hop, const Route& route, double times);
  [[nodiscard]] std::vector<Hop> exchange(std::span<const std::uint32_t> members);
  [[nodiscard]] std::vector<double> sustained() const;
  [[nodiscard]] double narrowest(DeviceId a, DeviceId b);
  [[nodiscard]] Bandwidth network_rate(DeviceId nic) const;
  [[nodiscard]] LinkType network_type(DeviceId nic) const;

  const Topology* topology_;
  const Profile* profile_;
  Router router_;
  UsageSum sum_;
  std::vector<double> capacity_;
};

}  // namespace busbar
