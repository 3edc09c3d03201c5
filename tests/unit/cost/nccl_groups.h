// Groups of ranks on well-known machines, as facts.
#pragma once

#include "sim/base/group_routes.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// `hosts` hosts with `local` GPUs each behind NVSwitch.
inline GroupFacts switched_group(int cc, double nvlink_GBps, std::uint32_t hosts, std::uint32_t local) {
  return {.ranks = hosts * local,
          .hosts = hosts,
          .local_least = local,
          .local_most = local,
          .cc_least = cc,
          .cc_most = cc,
          .intra = local > 1 ? Bandwidth::gigabytes_per_second(nvlink_GBps) : Bandwidth(),
          .nvswitch = true};
}

inline GroupFacts with_nics(GroupFacts facts, std::uint32_t nics, double GBps) {
  facts.nics = nics;
  facts.nic = Bandwidth::gigabytes_per_second(GBps);
  return facts;
}

/// Hosts of 8 A100 with 8 NICs of 200 Gb/s and AMD CPUs.
inline GroupFacts a100_hosts(std::uint32_t hosts, std::uint32_t local) {
  GroupFacts facts = with_nics(switched_group(80, 300, hosts, local), local, 25);
  facts.cpu = CpuVendor::kAmd;
  return facts;
}

/// Hosts of H100 or H200 with one NIC of 400 Gb/s each and Intel CPUs.
inline GroupFacts h100_hosts(std::uint32_t hosts, std::uint32_t local) {
  return with_nics(switched_group(90, 450, hosts, local), local, 50);
}

/// Hosts of B200 with one NIC of 400 Gb/s each.
inline GroupFacts b200_hosts(std::uint32_t hosts, std::uint32_t local) {
  return with_nics(switched_group(100, 900, hosts, local), local, 50);
}

/// One host of GPUs in PCIe slots of the given nominal rate.
inline GroupFacts pcie_host(PathType path, CpuVendor cpu, double GBps, std::uint32_t local) {
  GroupFacts facts = switched_group(80, GBps, 1, local);
  facts.nvswitch = false;
  facts.intra_path = path;
  facts.cpu = cpu;
  return facts;
}

/// The settings of a version, else defaults.
inline NcclSettings version(int minor, int patch = 0) {
  NcclSettings settings;
  settings.version = {2, minor, patch};
  return settings;
}

}  // namespace busbar
