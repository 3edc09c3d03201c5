#include <array>

#include "topologies/host_type.h"

namespace busbar {

// One function per file of fabrics/.
FabricFamily no_fabric();
FabricFamily rail_optimized();

std::span<const FabricFamily> fabric_families() {
  static const std::array table = {
      no_fabric(),
      rail_optimized(),
  };
  return table;
}

}  // namespace busbar
