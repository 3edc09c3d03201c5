// Rail-optimized: NIC r of every host of a block is on leaf r of that block, so equal NICs meet on one
// switch; spines join the leaves. Source: NVIDIA DGX SuperPOD H100 reference architecture, compute fabric (32
// hosts per scalable unit, 8 leaves).
#include "topologies/fabrics/tiers.h"

namespace busbar {
namespace {

void build(TopologyBuilder& builder, const FabricRequest& request) {
  const std::size_t per_pod = request.tiers == 2 ? 0 : hosts_per_pod(request, rail_hosts_per_leaf(request));
  std::vector<SwitchBelow> leaves;
  std::vector<std::size_t> pod_of;
  for (const RailLeaf& leaf : add_rail_leaves(builder, request)) {
    leaves.push_back(leaf.leaf);
    pod_of.push_back(request.tiers == 2 ? 0 : leaf.first_host / per_pod);
  }
  join_leaves(builder, request, leaves, pod_of);
}

constexpr std::string_view kKeys[] = {
    "family", "oversubscription", "hosts_per_leaf", "hosts_per_pod", "tiers", "spines",
    "nic",    "routing",          "sharp",          "wire"};

}  // namespace

FabricFamily rail_optimized() {
  return {.name = "rail-optimized",
          .help = "NIC r of each host on leaf r of its block of hosts, leaves joined by spines",
          .keys = kKeys,
          .build = build};
}

}  // namespace busbar
