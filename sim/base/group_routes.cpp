#include "sim/base/group_routes.h"

#include <array>
#include <cstddef>

#include "sim/base/error.h"

namespace busbar {
namespace {

constexpr std::array<std::string_view, kLinkTypes> kNames = {"nvlink", "xgmi",      "c2c", "pcie", "upi",
                                                             "rdma",   "slingshot", "tcp", "efa"};
constexpr std::array<std::string_view, kTransports> kTransportNames = {
    "nvlink", "xgmi", "c2c", "pcie peer", "host memory", "rdma", "slingshot", "tcp", "efa"};
constexpr std::array<std::string_view, 11> kPathNames = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                         "P2C", "PXN", "PHB", "SYS", "NET"};

constexpr std::array<std::string_view, kCpuVendors> kVendorNames = {"intel", "amd", "arm", "other"};

}  // namespace

std::string_view name_of(CpuVendor vendor) { return kVendorNames[static_cast<std::size_t>(vendor)]; }

std::string_view name_of(LinkType type) { return kNames[static_cast<std::size_t>(type)]; }

std::string_view name_of(Transport transport) { return kTransportNames[static_cast<std::size_t>(transport)]; }

std::string_view name_of(PathType type) { return kPathNames[static_cast<std::size_t>(type)]; }

Transport transport_over(LinkType type) {
  switch (type) {
    case LinkType::kNvlink:
      return Transport::kNvlink;
    case LinkType::kXgmi:
      return Transport::kXgmi;
    case LinkType::kC2c:
      return Transport::kC2c;
    case LinkType::kPcie:
      return Transport::kPciePeer;
    case LinkType::kUpi:
      return Transport::kHostMemory;
    case LinkType::kRdma:
      return Transport::kRdma;
    case LinkType::kSlingshot:
      return Transport::kSlingshot;
    case LinkType::kTcp:
      return Transport::kTcp;
    case LinkType::kEfa:
      return Transport::kEfa;
  }
  BUSBAR_CHECK(false);
}

}  // namespace busbar
