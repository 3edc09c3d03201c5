#include <array>

#include "topologies/fabric.h"

namespace busbar {

// One function per file of fabrics/.
FabricFamily no_fabric();
FabricFamily single_switch();
FabricFamily rail_optimized();
FabricFamily rail_only();
FabricFamily fat_tree();
FabricFamily leaf_spine();
FabricFamily torus();
FabricFamily dragonfly();

std::span<const FabricFamily> fabric_families() {
  static const std::array table = {
      no_fabric(), single_switch(), rail_optimized(), rail_only(),
      fat_tree(),  leaf_spine(),    torus(),          dragonfly(),
  };
  return table;
}

}  // namespace busbar
