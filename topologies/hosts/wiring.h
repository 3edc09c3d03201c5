// What a host is made of, as data: GPUs, what joins them, and the PCIe tree to NICs and CPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "topologies/topology.h"

namespace busbar {

/// Usable rate of a PCIe link in one direction: transfers x lanes, less the line encoding: 128b/130b of Gen3
/// to Gen5, or Gen6's flits of 256 bytes of which 236 are packets. x16: Gen3 15.8 GB/s, Gen4 31.5, Gen5 63.0,
/// Gen6 118. Packet headers are the profile's business. Source: PCI Express Base Specification 5.0, section
/// 4.2.2, and 6.0, section 4.2.3.
[[nodiscard]] constexpr Bandwidth pcie_bandwidth(double gigatransfers, double lanes) {
  const double payload = gigatransfers > 32 ? 236.0 / 256.0 : 128.0 / 130.0;
  return Bandwidth::gigabytes_per_second(gigatransfers * lanes * payload / 8);
}

inline constexpr Bandwidth kGen3x16 = pcie_bandwidth(8, 16);
inline constexpr Bandwidth kGen4x16 = pcie_bandwidth(16, 16);
inline constexpr Bandwidth kGen5x16 = pcie_bandwidth(32, 16);
inline constexpr Bandwidth kGen6x16 = pcie_bandwidth(64, 16);

/// Between two CPUs, each way: what NCCL takes. Source: NVIDIA/nccl src/graph/topo.h v2.28.9.
inline constexpr Bandwidth kBroadwellSocket = Bandwidth::gigabytes_per_second(6);
inline constexpr Bandwidth kSkylakeSocket = Bandwidth::gigabytes_per_second(10);
inline constexpr Bandwidth kSapphireRapidsSocket = Bandwidth::gigabytes_per_second(22);
inline constexpr Bandwidth kEmeraldRapidsSocket = Bandwidth::gigabytes_per_second(40);
inline constexpr Bandwidth kAmdSocket = Bandwidth::gigabytes_per_second(16);
inline constexpr Bandwidth kArmSocket = Bandwidth::gigabytes_per_second(6);

/// Direct links between two GPUs of a host: a bundle of `links`.
struct GpuPair {
  std::int64_t a = 0, b = 0;
  std::int64_t links = 1;
};

/// Where NICs hang.
enum class NicParent : std::uint8_t { kPcieSwitch, kCpu };

/// Children are spread evenly over their parents in the order of their numbers: child i of n under parent
/// floor(i x parents / n).
struct HostWiring {
  std::optional<Bandwidth> nvswitch = {};  // one GPU to its NVSwitches, each way, all links together
  std::int64_t domain_hosts = 1;           // more: those NVSwitches join the GPUs of that many hosts (a rack)
  std::span<const GpuPair> mesh = {};      // direct links between GPUs
  Bandwidth mesh_link = {};                // one of them, each way
  LinkType mesh_type = LinkType::kNvlink;
  std::optional<Bandwidth> c2c = {};  // a GPU to its CPU, beside or instead of PCIe
  std::int64_t cpus = 2;
  CpuVendor cpu = CpuVendor::kIntel;
  Bandwidth socket = {};                 // between any two CPUs, each way
  std::int64_t switches = 0;             // PCIe switches over the GPUs; none: GPUs and NICs hang at the CPUs
  Bandwidth pcie = {};                   // a GPU or a NIC to its parent
  std::optional<Bandwidth> uplink = {};  // a PCIe switch to its CPU; none: it has no link to one
  NicParent nics_at = NicParent::kPcieSwitch;
  bool peer_access = true;  // false: what one GPU or NIC sends to another goes through the CPU's memory
};

}  // namespace busbar
