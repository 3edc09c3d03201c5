// Boxes for PCIe cards, which the topology file names. Layouts that are usual; no machine in particular.
#include "topologies/hosts/hosts.h"

namespace busbar {
namespace {

constexpr std::string_view kSource =
    "a usual layout, no machine in particular; x16 slots of the card's PCIe generation; between the CPUs 16 "
    "GB/s, "
    "NCCL's figure for AMD (src/graph/topo.h, v2.28.9)";

struct Row {
  std::string_view prefix;
  PcieCard card;
};

// PCIe generations: the cards' datasheets. GeForce drivers refuse peer access between these cards.
constexpr Row kCards[] = {
    {"V100", {kGen3x16, true}},      {"H100-PCIE", {kGen5x16, true}}, {"RTX-PRO-6000", {kGen5x16, true}},
    {"RTX-3090", {kGen4x16, false}}, {"RTX-4090", {kGen4x16, false}}, {"RTX-5090", {kGen5x16, false}},
};

}  // namespace

PcieCard pcie_card(std::string_view gpu_model) {
  for (const Row& row : kCards) {
    if (gpu_model.starts_with(row.prefix)) return row.card;
  }
  return {kGen4x16, true};
}

HostType pcie_8() {
  return {.name = "pcie-8",
          .help = "8 PCIe cards (\"gpu\") at one CPU, 4 and a 200 Gb/s NIC under each of two PCIe switches",
          .source = kSource,
          .gpu_model = "",
          .gpus = 8,
          .nics = 2,
          .nic = Bandwidth::gigabits_per_second(200),
          .wiring = {.cpus = 1, .cpu = CpuVendor::kAmd, .switches = 2, .pcie = kGen4x16, .uplink = kGen4x16}};
}

HostType pcie_8_dual() {
  return {.name = "pcie-8-dual",
          .help = "8 PCIe cards (\"gpu\"), 4 and a 200 Gb/s NIC directly at each of two CPUs",
          .source = kSource,
          .gpu_model = "",
          .gpus = 8,
          .nics = 2,
          .nic = Bandwidth::gigabits_per_second(200),
          .wiring = {.cpu = CpuVendor::kAmd, .socket = kAmdSocket, .pcie = kGen4x16}};
}

HostType pcie_4() {
  return {.name = "pcie-4",
          .help = "4 PCIe cards (\"gpu\") and a 100 Gb/s NIC directly at one CPU",
          .source = kSource,
          .gpu_model = "",
          .gpus = 4,
          .nics = 1,
          .nic = Bandwidth::gigabits_per_second(100),
          .wiring = {.cpus = 1, .cpu = CpuVendor::kAmd, .pcie = kGen4x16}};
}

}  // namespace busbar
