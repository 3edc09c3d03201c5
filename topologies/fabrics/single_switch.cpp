// Single switch: every NIC on one non-blocking switch.
#include "topologies/fabrics/tiers.h"

namespace busbar {
namespace {

void build(TopologyBuilder& builder, const FabricRequest& request) {
  std::vector<NicPlace> nics;
  for (std::size_t host = 0; host < request.nics.size(); ++host) {
    for (std::size_t nic = 0; nic < request.nics[host].size(); ++nic) nics.push_back({host, nic});
  }
  static_cast<void>(add_leaf(builder, request, "switch0", nics));
}

constexpr std::string_view kKeys[] = {"family", "nic", "routing", "sharp", "wire"};

}  // namespace

FabricFamily single_switch() {
  return {
      .name = "single-switch", .help = "every NIC on one non-blocking switch", .keys = kKeys, .build = build};
}

}  // namespace busbar
