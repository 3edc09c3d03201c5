// Links that cannot be what holds anybody back, because others would hold everybody back first.
#pragma once

#include <span>
#include <vector>

#include "topologies/host_shapes.h"
#include "topologies/topology.h"

namespace busbar {

/// By link: whether others imply it. What leaves a switch or NIC by a link came in by its other links: where
/// those carry no more together than the link does, it never binds (a leaf's up-link without
/// oversubscription, below as many NICs; a PCIe link to a slower NIC). Seen from the other end, what comes in
/// by a link goes out by the other links. Links between a NIC and its switch stand for themselves; all others
/// follow from them, or from links that follow from them, so that no two links imply each other. Shapes:
/// capacity[link], bytes/s. Requires: no strand begins or ends at a switch or NIC, and none is split unevenly
/// on the way. Not seen: links that imply each other without a NIC's cable (inside NVLink meshes, or torus
/// rings). Cost:     O(links x tiers); with `shapes`, hosts that are alike inside, with cables of one rate,
/// are looked at once.
[[nodiscard]] std::vector<bool> implied_links(const Topology& topology, std::span<const double> capacity);
[[nodiscard]] std::vector<bool> implied_links(const Topology& topology, std::span<const double> capacity,
                                              const HostShapes& shapes);

}  // namespace busbar
