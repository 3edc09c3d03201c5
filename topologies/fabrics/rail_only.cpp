// Rail-only: rail-optimized without what joins rails. Traffic to another rail changes GPU inside the host,
// over NVLink. Source: Wang et al., "Rail-only: A Low-Cost High-Performance Network for Training LLMs with
// Trillions of Parameters", 2023 (arXiv 2307.12169).
#include "topologies/fabrics/tiers.h"

namespace busbar {
namespace {

/// A rail of more than one leaf has spines of its own; else its hosts would be cut off from each other.
void build(TopologyBuilder& builder, const FabricRequest& request) {
  std::vector<std::vector<SwitchBelow>> rails;
  for (const RailLeaf& leaf : add_rail_leaves(builder, request)) {
    rails.resize(std::max(rails.size(), leaf.rail + 1));
    rails[leaf.rail].push_back(leaf.leaf);
  }
  std::optional<std::int64_t> spines = request.spines;
  for (std::size_t rail = 0; rail < rails.size(); ++rail) {
    if (rails[rail].size() < 2) continue;
    const auto above =
        add_layer(builder, request, rails[rail], {"spine", rail, oversubscription_at(request, 0), spines});
    if (request.routing == RoutingMode::kStatic) spines = std::ssize(above);  // numbers stay apart
  }
}

constexpr std::string_view kKeys[] = {"family", "oversubscription", "hosts_per_leaf", "spines",
                                      "nic",    "routing",          "sharp",          "wire"};

}  // namespace

FabricFamily rail_only() {
  return {.name = "rail-only",
          .help = "NIC r of each host on the switches of rail r, rails joined nowhere",
          .keys = kKeys,
          .build = build};
}

}  // namespace busbar
