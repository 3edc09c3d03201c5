// No network: one host, whose NICs lead nowhere.
#include "topologies/fabric.h"

namespace busbar {
namespace {

// More hosts than one are then disconnected, which TopologyBuilder::build() reports with the GPUs' names.
void build(TopologyBuilder&, const FabricRequest&) {}

constexpr std::string_view kKeys[] = {"family"};

}  // namespace

FabricFamily no_fabric() {
  return {.name = "none", .help = "no network: a single host", .keys = kKeys, .build = build};
}

}  // namespace busbar
