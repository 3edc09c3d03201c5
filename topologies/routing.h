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

  /// NICs of the GPU's host that have a network link, nearest first: by route cost, then by how many GPUs
  /// have it as their nearest, then by file order. Empty on a host without NICs.
  [[nodiscard]] const std::vector<DeviceId>& nics_by_distance(DeviceId gpu);

  /// The device in the same place of the first host (or NVLink domain) that looks alike inside: routes there
  /// serve here. The device itself outside hosts.
  [[nodiscard]] DeviceId alike(DeviceId device) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace busbar
