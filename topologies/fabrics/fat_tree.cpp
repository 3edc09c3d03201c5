// Fat-tree and leaf-spine: all NICs of a host on one leaf, spines above, in three tiers pods of leaves and
// cores above them. Sources: Leiserson, "Fat-Trees", IEEE Trans. Computers 1985; Al-Fares et al., SIGCOMM
// 2008.
#include <fmt/format.h>

#include <algorithm>

#include "topologies/fabrics/tiers.h"

namespace busbar {
namespace {

/// Unless the file says: the hosts whose NICs fill 32 ports, half of a 64-port switch.
std::size_t hosts_per_leaf(const FabricRequest& request) {
  if (request.hosts_per_leaf) return static_cast<std::size_t>(*request.hosts_per_leaf);
  std::size_t most = 1;
  for (const auto& nics : request.nics) most = std::max(most, nics.size());
  return std::max<std::size_t>(1, 32 / most);
}

void build(TopologyBuilder& builder, const FabricRequest& request) {
  const std::size_t per_leaf = hosts_per_leaf(request);
  const std::size_t per_pod = request.tiers == 2 ? 0 : hosts_per_pod(request, per_leaf);
  std::vector<SwitchBelow> leaves;
  std::vector<std::size_t> pod_of;
  for (std::size_t first = 0; first < request.nics.size(); first += per_leaf) {
    std::vector<NicPlace> nics;
    for (std::size_t host = first; host < std::min(request.nics.size(), first + per_leaf); ++host) {
      for (std::size_t nic = 0; nic < request.nics[host].size(); ++nic) nics.push_back({host, nic});
    }
    if (nics.empty()) continue;
    leaves.push_back(add_leaf(builder, request, fmt::format("leaf{}", first / per_leaf), nics));
    pod_of.push_back(request.tiers == 2 ? 0 : first / per_pod);
  }
  join_leaves(builder, request, leaves, pod_of);
}

constexpr std::string_view kFatTreeKeys[] = {
    "family", "oversubscription", "hosts_per_leaf", "hosts_per_pod", "tiers", "spines",
    "nic",    "routing",          "sharp",          "wire"};
constexpr std::string_view kLeafSpineKeys[] = {
    "family", "oversubscription", "hosts_per_leaf", "spines", "nic", "routing", "wire"};

}  // namespace

FabricFamily fat_tree() {
  return {
      .name = "fat-tree",
      .help = "all NICs of a host on one leaf, 2 or 3 tiers of switches, oversubscribed at each as wanted",
      .keys = kFatTreeKeys,
      .build = build};
}

FabricFamily leaf_spine() {
  return {.name = "leaf-spine",
          .help = "ethernet: all NICs of a host on one leaf, spines above",
          .keys = kLeafSpineKeys,
          .build = build};
}

}  // namespace busbar
