// Fabrics: one row of the table per way of cabling NICs and switches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/json_reader.h"
#include "topologies/topology.h"

namespace busbar {

/// What a topology file says about its fabric, and the NICs that it joins.
struct FabricRequest {
  std::vector<std::vector<DeviceId>> nics;    // per host, in rail order
  std::vector<std::vector<Bandwidth>> rates;  // line rate of each
  LinkType wire = LinkType::kRdma;
  RoutingMode routing = RoutingMode::kAdaptive;
  bool in_network_reduction = false;
  // Down-link sum / up-link sum of a switch, per tier from the leaves up; at least 1. One number: every tier.
  std::vector<double> oversubscription = {1.0};
  std::int64_t tiers = 2;
  std::optional<std::int64_t> hosts_per_leaf, hosts_per_pod;
  std::optional<std::int64_t> spines;  // per pod, cabled one by one
  std::optional<Bandwidth> link;       // torus, dragonfly: one cable between two routers
  std::vector<std::int64_t> dimensions;
  std::int64_t groups = 0, routers_per_group = 0, hosts_per_router = 0;
};

struct FabricFamily {
  std::string_view name;
  std::string_view help;
  std::span<const std::string_view> keys;  // what its object in a topology file may hold
  /// Adds switches and links. Errors (Error without a place): what does not fit the hosts.
  void (*build)(TopologyBuilder&, const FabricRequest&);
};

[[nodiscard]] std::span<const FabricFamily> fabric_families();  // THE table

/// Reads what "fabric" says besides its family, "nic" and the hosts' NICs into `request`.
void read_fabric(const JsonValue& fabric, FabricRequest& request);
/// "adaptive" or "static".
[[nodiscard]] RoutingMode read_routing(const JsonValue& value);

}  // namespace busbar
