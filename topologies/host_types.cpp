#include <array>

#include "topologies/host_type.h"

namespace busbar {

// One function per file of hosts/.
HostType dgx_a100();
HostType dgx_h100();

std::span<const HostType> host_types() {
  static const std::array table = {
      dgx_a100(),
      dgx_h100(),
  };
  return table;
}

}  // namespace busbar
