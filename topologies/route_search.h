// One search for the cheapest routes between two devices. `Router` is the interface for others; it adds the
// caches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topologies/routing.h"

namespace busbar {

struct FoundRoute {
  Route route;
  std::int64_t cost = 0;  // comparable between routes of one scope
  PathSummary summary;
};

/// All cheapest paths from one device to another, a flow split evenly at every branching of them (ECMP).
/// Who may be passed through:
///   kHost      devices of the island of `from` (see islands_of) other than NICs; a GPU only
///              - on the way to a NIC, from NVLink to PCIe (NCCL's PXN),
///              - on the way to a GPU, if it has an NVLink to both (NCCL's NVB),
///              - anyhow, where nothing else connects.
///   kFabric    switches
///   kAnywhere  devices without an island or of the two ends' islands; GPUs of these only where nothing else
///              connects; a NIC only between its PCIe side and its network side
/// xGMI counts as NVLink. Cost: of one search, the devices nearer than `to`; nothing per device of the
/// topology.
class RouteSearch {
 public:
  /// `among`, by device: those that most searches stay among (a graph of them alone is kept beside the whole
  /// one, which is made when it is needed). It holds all of an island or nothing, and all switches; a NIC
  /// whose host is left out is only missed where it is the end of a route. Empty: all devices.
  explicit RouteSearch(const Topology& topology, std::vector<bool> among = {});
  ~RouteSearch();
  RouteSearch(const RouteSearch&) = delete;
  RouteSearch& operator=(const RouteSearch&) = delete;

  /// Nothing if no path is in the scope. from == to: an empty route.
  [[nodiscard]] std::optional<FoundRoute> find(DeviceId from, DeviceId to, RouteScope scope);

  /// Of a switch (which `links_in` network links enter) that is cabled to one other switch alone, by one
  /// cable: all routes from switch to switch that begin or end there take it.
  struct OnlyWay {
    DeviceId beside;
    LinkId out, in;
    std::int64_t cost = 0;  // of either
  };
  [[nodiscard]] std::optional<OnlyWay> only_way(DeviceId device, std::uint32_t links_in) const;

 private:
  struct Impl;
  [[nodiscard]] Impl& graph_with(DeviceId from, DeviceId to, RouteScope scope);
  const Topology* topology_;
  std::vector<std::uint32_t> islands_;
  std::vector<bool> among_;
  std::unique_ptr<Impl> near_, whole_;
};

}  // namespace busbar
