// What routes prefer.
#pragma once

#include <cstdint>

#include "sim/base/group_routes.h"

namespace busbar {

// Costs are whole numbers, so that equally good paths compare equal. Their ratios are the preferences: NVLink
// before PCIe before anything through a CPU, as in NCCL's path types (src/graph/topo.h: NVL < PIX < PXB < PXN
// < PHB < SYS). A detour through two more switches of the network costs less than one through a CPU.
inline constexpr std::int64_t kNvlinkCost = 10;
inline constexpr std::int64_t kC2cCost = 20;
inline constexpr std::int64_t kPcieCost = 100;
inline constexpr std::int64_t kNetworkCost = 100;
inline constexpr std::int64_t kSocketCost = 1'000;
inline constexpr std::int64_t kEnterCpuCost = 10'000;
// A GPU on the way: an NVLink relay (10 + 50 + 10) stands between NVLink and a PCIe switch, and PXN never
// beats a NIC's own switch.
inline constexpr std::int64_t kRelayCost = 50;

[[nodiscard]] constexpr std::int64_t cost_of(LinkType type) {
  switch (type) {
    case LinkType::kNvlink:
    case LinkType::kXgmi:
      return kNvlinkCost;
    case LinkType::kC2c:
      return kC2cCost;
    case LinkType::kPcie:
      return kPcieCost;
    case LinkType::kUpi:
      return kSocketCost;
    case LinkType::kRdma:
    case LinkType::kSlingshot:
    case LinkType::kTcp:
    case LinkType::kEfa:
      return kNetworkCost;
  }
  return kNetworkCost;
}

}  // namespace busbar
