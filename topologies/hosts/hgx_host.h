// What the 8-GPU servers of one make have in common: GPUs on an NVSwitch, and beside it a PCIe tree with the
// NICs.
#pragma once

#include <cstdint>
#include <string_view>

#include "topologies/host_type.h"

namespace busbar {

/// Usable rate of a PCIe link in one direction: transfers x lanes, less the 128b/130b encoding of Gen3 to
/// Gen5. Gen4 x16 31.5 GB/s, Gen5 x16 63.0 GB/s. Packet headers are the profile's business. Source: PCI
/// Express Base Specification 5.0, section 4.2.2.
[[nodiscard]] constexpr Bandwidth pcie_bandwidth(double gigatransfers, double lanes) {
  return Bandwidth::gigabytes_per_second(gigatransfers * lanes * (128.0 / 130.0) / 8);
}

/// GPUs and NICs spread evenly over the PCIe switches, the switches over two CPUs, in the order of their
/// numbers.
struct HgxShape {
  std::string_view type;
  std::string_view gpu_model;
  std::int64_t gpus;
  std::int64_t nics;
  std::int64_t pcie_switches;
  Bandwidth nvlink;  // one GPU to the NVSwitches, each way, all links together
  Bandwidth pcie;    // each link of the tree
  Bandwidth socket;  // between the CPUs
};

/// Adds "h0.gpu0".., "h0.nic0".., "h0.nvs", "h0.pcie0".., "h0.cpu0" and "h0.cpu1". The NVSwitch chips of a
/// host are one device: each GPU has links to all of them, and together they form one crossbar (DGX user
/// guides). Where the request asks for fewer GPUs or NICs, the first ones stay and the tree keeps its form.
void add_hgx_host(TopologyBuilder& builder, const HostRequest& request, const HgxShape& shape);

}  // namespace busbar
