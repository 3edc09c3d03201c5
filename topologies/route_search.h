// One search for the cheapest routes between two devices. `Router` is the interface for others; it adds the
// caches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "topologies/routing.h"

namespace busbar {

struct FoundRoute {
  Route route;
  std::int64_t cost = 0;  // comparable between routes of one scope
};

/// All cheapest paths from one device to another, a flow split evenly at every branching of them (ECMP).
/// Who may be passed through:
///   kHost      devices of the host of `from` other than NICs; a GPU only from NVLink to PCIe on the way to a
///   NIC (PXN) kFabric    switches kAnywhere  devices without a host or of the two ends' hosts, other than
///   GPUs; a NIC only between its PCIe side
///              and its network side
/// Cost: of one search, the devices nearer than `to`; nothing per device of the topology.
/// Not modelled: GPUs that relay NVLink to NVLink (NCCL's NVB).
class RouteSearch {
 public:
  explicit RouteSearch(const Topology& topology);
  ~RouteSearch();
  RouteSearch(const RouteSearch&) = delete;
  RouteSearch& operator=(const RouteSearch&) = delete;

  /// Nothing if no path is in the scope. from == to: an empty route.
  [[nodiscard]] std::optional<FoundRoute> find(DeviceId from, DeviceId to, RouteScope scope);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace busbar
