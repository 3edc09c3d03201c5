// Rail-optimized: NIC r of every host of a pod is on leaf r of that pod, so equal NICs meet on one switch.
// Source: NVIDIA DGX SuperPOD H100 reference architecture, compute fabric (32 hosts per scalable unit, 8
// leaves).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "topologies/host_type.h"

namespace busbar {
namespace {

struct Leaf {
  DeviceId device;
  Bandwidth down;  // all its NICs together, each way
};

std::size_t rails_of(const FabricRequest& request) {
  std::size_t rails = 0;
  for (const auto& nics : request.nics) rails = std::max(rails, nics.size());
  return rails;
}

/// The leaf called `id` with NIC `rail` of the hosts [first, end), each at its own line rate.
Leaf add_leaf(TopologyBuilder& builder, const FabricRequest& request, std::string id, std::size_t rail,
              std::size_t first, std::size_t end) {
  const DeviceId leaf = builder.add_device(std::move(id), DeviceKind::kSwitch);
  double down = 0;
  for (std::size_t host = first; host < end; ++host) {
    if (rail >= request.nics[host].size()) continue;
    const Bandwidth rate = request.rates[host][rail];
    builder.add_link(request.nics[host][rail], leaf, rate, request.wire);
    down += rate.Bps();
  }
  return {leaf, Bandwidth::bytes_per_second(down)};
}

/// The spine layer is one switch and a leaf's up-links are one bundle: spines are parallel and alike, and
/// adaptive routing spreads every flow evenly over them, so only a bundle's sum can bind. A bundle holds what
/// the leaf's connected NICs can send, divided by the oversubscription. On a partly filled leaf that is the
/// careful reading: a full set of cables would be less oversubscribed than the file says.
void add_spine(TopologyBuilder& builder, const FabricRequest& request, const std::vector<Leaf>& leaves) {
  const DeviceId spine = builder.add_device("spine", DeviceKind::kSwitch);
  for (const Leaf& leaf : leaves) {
    builder.add_link(leaf.device, spine, leaf.down / request.oversubscription, request.wire);
  }
}

void build(TopologyBuilder& builder, const FabricRequest& request) {
  const std::size_t rails = rails_of(request);
  const std::size_t hosts = request.nics.size();
  const auto per_pod = static_cast<std::size_t>(request.hosts_per_leaf);
  std::vector<Leaf> leaves;
  for (std::size_t pod = 0; pod * per_pod < hosts; ++pod) {
    const std::size_t first = pod * per_pod;
    const std::size_t end = std::min(hosts, first + per_pod);
    for (std::size_t rail = 0; rail < rails; ++rail) {
      const auto has_rail = [&](const auto& nics) { return rail < nics.size(); };
      const auto pod_nics = std::span(request.nics).subspan(first, end - first);
      if (!std::any_of(pod_nics.begin(), pod_nics.end(), has_rail)) continue;
      leaves.push_back(
          add_leaf(builder, request, fmt::format("leaf{}", pod * rails + rail), rail, first, end));
    }
  }
  if (leaves.size() > 1) add_spine(builder, request, leaves);
}

constexpr std::string_view kKeys[] = {
    "family", "oversubscription", "hosts_per_leaf", "tiers", "nic", "routing", "wire"};

}  // namespace

FabricFamily rail_optimized() {
  return {.name = "rail-optimized",
          .help = "NIC r of each host on leaf r of its pod, leaves joined by a spine",
          .keys = kKeys,
          .build = build};
}

}  // namespace busbar
