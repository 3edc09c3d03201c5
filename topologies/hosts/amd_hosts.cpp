// Hosts with AMD Instinct GPUs, joined by xGMI links.
#include "topologies/hosts/hosts.h"

namespace busbar {
namespace {

// Frontier's node: the two dies of a package by 4 links, dies of different packages by 1 or 2.
// Source: OLCF, Frontier User Guide, node diagram; Pearson, Interconnect Bandwidth Heterogeneity on AMD
// MI250x and Infinity Fabric (2023), figure 1.
constexpr GpuPair kFrontier[] = {{0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2},
                                 {0, 2, 1}, {1, 3, 1}, {1, 5, 1}, {3, 7, 1}, {4, 6, 1}, {5, 7, 1}};

constexpr GpuPair kEightInAMesh[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7},
                                     {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7}, {2, 3},
                                     {2, 4}, {2, 5}, {2, 6}, {2, 7}, {3, 4}, {3, 5}, {3, 6},
                                     {3, 7}, {4, 5}, {4, 6}, {4, 7}, {5, 6}, {5, 7}, {6, 7}};

}  // namespace

// In the machine a NIC hangs at the odd die of its package, and what it exchanges with the even die crosses
// the 200 GB/s between them, eight times what the NIC carries. Here "pcie0" stands for a package's way out:
// both dies and the NIC hang at it, so that no route has to pass through a GPU.
HostType mi250x() {
  return {
      .name = "mi250x",
      .help = "4 x MI250X as 8 dies of 64 GB, xGMI of 50 GB/s (1, 2 or 4 per pair), 4 x Slingshot 200 Gb/s",
      .source =
          "OLCF, Frontier User Guide (node diagram), and Pearson, Interconnect Bandwidth Heterogeneity on "
          "AMD MI250x and "
          "Infinity Fabric (2023): xGMI adjacency, 36 GB/s between the CPU and each die, one 200 Gb/s NIC at "
          "each "
          "package by PCIe Gen4 ESM (50 GB/s)",
      .gpu_model = "MI250X-GCD-64GB",
      .gpus = 8,
      .nics = 4,
      .nic = Bandwidth::gigabits_per_second(200),
      .wire = LinkType::kSlingshot,
      .wiring = {.mesh = kFrontier,
                 .mesh_link = Bandwidth::gigabytes_per_second(50),
                 .mesh_type = LinkType::kXgmi,
                 .c2c = Bandwidth::gigabytes_per_second(36),
                 .cpus = 1,
                 .cpu = CpuVendor::kAmd,
                 .switches = 4,
                 .pcie = Bandwidth::gigabytes_per_second(50)}};
}

HostType mi300x() {
  return {.name = "mi300x",
          .help = "8 x MI300X 192 GB, xGMI mesh (64 GB/s per pair), 8 x 400 Gb/s, PCIe Gen5",
          .source =
              "AMD Instinct MI300X Platform datasheet: 7 xGMI links of 64 GB/s each way per GPU, one to each "
              "other GPU, PCIe "
              "Gen5 x16; one 400 Gb/s NIC beside each GPU is the usual host (assumed); between the CPUs 16 "
              "GB/s, NCCL's "
              "figure for AMD (src/graph/topo.h, v2.28.9)",
          .gpu_model = "MI300X-192GB",
          .gpus = 8,
          .nics = 8,
          .nic = Bandwidth::gigabits_per_second(400),
          .wiring = {.mesh = kEightInAMesh,
                     .mesh_link = Bandwidth::gigabytes_per_second(64),
                     .mesh_type = LinkType::kXgmi,
                     .cpu = CpuVendor::kAmd,
                     .socket = kAmdSocket,
                     .switches = 8,
                     .pcie = kGen5x16,
                     .uplink = kGen5x16}};
}

}  // namespace busbar
