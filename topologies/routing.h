// Shortest routes through a topology (Boost.Graph), with equal-cost paths split evenly.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/base/group_routes.h"
#include "topologies/topology.h"

namespace busbar {

/// Where a route may go: inside the endpoints' NVLink domain (a host, or hosts on one NVLink switch); through
/// switches of the fabric only (NIC to NIC); anywhere.
enum class RouteScope { kHost, kFabric, kAnywhere };

struct Route {
  std::vector<ResourceUse> usage;  // resource = link direction; flows: a share under multipath
  std::vector<LinkId> path;        // one representative path
};

/// What latency and efficiency depend on, over the links of a representative path.
struct PathSummary {
  LinkType link = LinkType::kNvlink;         // the slowest class
  Transport transport = Transport::kNvlink;  // the slowest way
  std::optional<Time> latency;               // the sum of those that links state
  bool passes_cpu = false;
  bool operator==(const PathSummary&) const = default;
};
/// `summary` with one more link.
void add_link(PathSummary& summary, const Topology& topology, LinkId link);

class HostShapes;

/// A route as the router keeps it: cable, the only way on from a switch at the edge, part in the middle, the
/// only way to such a switch, cable. The middle may be that of the island which represents the one meant.
/// Valid until the router is asked for the next route.
struct RouteRef {
  const Route* middle = nullptr;
  const PathSummary* summary = nullptr;  // of the middle
  std::optional<LinkId> first, last;
  std::optional<LinkId> rise, fall;    // between cable and middle
  const HostShapes* shapes = nullptr;  // set: the middle's links are those of `island`'s representative
  std::uint32_t island = 0;
  bool is_kept = true;  // the middle stays where it is as long as the router, and serves others too

  [[nodiscard]] LinkId own(LinkId link) const;
  template <class Function>
  void for_each_use(const Function& function) const {
    if (first) function(ResourceUse{ResourceId(first->value())});
    for_each_use_between_cables(function);
    if (last) function(ResourceUse{ResourceId(last->value())});
  }
  template <class Function>
  void for_each_use_between_cables(const Function& function) const {
    if (rise) function(ResourceUse{ResourceId(rise->value())});
    for (const ResourceUse& use : middle->usage)
      function(ResourceUse{ResourceId(own(LinkId(use.resource.value())).value()), use.flows});
    if (fall) function(ResourceUse{ResourceId(fall->value())});
  }
};

/// Routes on one topology. Costs prefer NVLink over a GPU that relays NVLink over PCIe over the CPU's links.
/// A GPU or NIC is never passed through, except that in a host a GPU relays from NVLink to NVLink (to a GPU
/// that it has a link to), from NVLink to PCIe or C2C (PXN: to a NIC only, as NCCL sends but does not receive
/// that way) and anyhow where nothing else connects, and that kAnywhere passes NICs between PCIe and network;
/// no route crosses a third NVLink domain. Network paths of one cost share a flow, or with
/// Topology::routing() static one of them has it. Results are cached; not thread-safe. Borrowed: the topology
/// must outlive the router.
class Router {
 public:
  explicit Router(const Topology& topology);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// nullptr-like: an empty optional when there is no path in that scope. from == to gives an empty route.
  [[nodiscard]] std::optional<Route> route(DeviceId from, DeviceId to, RouteScope scope);
  /// The same without a copy.
  [[nodiscard]] std::optional<RouteRef> find(DeviceId from, DeviceId to, RouteScope scope);

  /// NICs of the GPU's host that have a network link, nearest first: by route cost, then by how many GPUs
  /// have it as their nearest, then by file order. Empty on a host without NICs.
  [[nodiscard]] std::vector<DeviceId> nics_by_distance(DeviceId gpu);
  /// The first of them, and the last.
  [[nodiscard]] std::optional<DeviceId> nearest_nic(DeviceId gpu);
  [[nodiscard]] std::optional<DeviceId> farthest_nic(DeviceId gpu);
  /// A device that nothing joins to the rest but one cable to a switch of the network.
  struct Pendant {
    LinkId out, in;
    DeviceId at_out, at_in;  // switches
  };
  [[nodiscard]] std::optional<Pendant> pendant(DeviceId device);
  /// What a NIC's (first) cable leads to; the NIC itself if it has none.
  [[nodiscard]] DeviceId switch_of(DeviceId nic) const;

  /// The device in the same place of the first host (or NVLink domain) that is alike inside: routes and rates
  /// there serve here. The device itself outside hosts.
  [[nodiscard]] DeviceId alike(DeviceId device) const;
  [[nodiscard]] const HostShapes& shapes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace busbar
