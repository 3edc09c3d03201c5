// Hosts with Blackwell GPUs: 18 NVLinks of 50 GB/s each way per GPU.
#include "topologies/hosts/hosts.h"

namespace busbar {
namespace {

constexpr Bandwidth kNvlink5 = Bandwidth::gigabytes_per_second(50);

}  // namespace

HostType hgx_b200() {
  return {.name = "hgx-b200",
          .help = "8 x B200 SXM 180 GB, NVLink 5 (900 GB/s), 8 x ConnectX-7 NDR 400 Gb/s, PCIe Gen5",
          .source =
              "NVIDIA DGX B200 User Guide and datasheet: 18 NVLinks of 50 GB/s each way, PCIe Gen5 x16, one "
              "ConnectX-7 per "
              "GPU; that each pair has a PCIe switch of its own, as in dgx-h100, is assumed; between the "
              "CPUs 40 GB/s, "
              "NCCL's figure for Emerald Rapids (src/graph/topo.h, v2.28.9)",
          .gpu_model = "B200-SXM-180GB",
          .gpus = 8,
          .nics = 8,
          .nic = Bandwidth::gigabits_per_second(400),
          .wiring = {.nvswitch = kNvlink5 * 18,
                     .socket = kEmeraldRapidsSocket,
                     .switches = 8,
                     .pcie = kGen5x16,
                     .uplink = kGen5x16}};
}

HostType hgx_b300() {
  return {
      .name = "hgx-b300",
      .help = "8 x B300 SXM 288 GB, NVLink 5 (900 GB/s), 8 x ConnectX-8 800 Gb/s, PCIe Gen6 to the GPU",
      .source =
          "NVIDIA DGX B300 User Guide and HGX B300 datasheet: 18 NVLinks of 50 GB/s each way, one ConnectX-8 "
          "of 800 Gb/s "
          "per GPU, whose own PCIe Gen6 switch the GPU hangs at; up to the CPU Gen5 x16; between the CPUs 40 "
          "GB/s, "
          "NCCL's figure for Emerald Rapids, as it has none for their generation (src/graph/topo.h, v2.28.9)",
      .gpu_model = "B300-SXM-288GB",
      .gpus = 8,
      .nics = 8,
      .nic = Bandwidth::gigabits_per_second(800),
      .wiring = {.nvswitch = kNvlink5 * 18,
                 .socket = kEmeraldRapidsSocket,
                 .switches = 8,
                 .pcie = kGen6x16,
                 .uplink = kGen5x16}};
}

HostType gb200_nvl72() {
  return {
      .name = "gb200-nvl72",
      .help =
          "one tray of 4 x GB200 186 GB, NVLink 5 (900 GB/s) in a domain of 18 trays, 4 x ConnectX-7 400 "
          "Gb/s",
      .source =
          "NVIDIA GB200 NVL72 datasheet and DGX GB200 User Guide: 18 compute trays of 2 Grace and 4 "
          "Blackwell, 9 NVLink "
          "switch trays, 18 NVLinks of 50 GB/s each way per GPU, 4 NICs per tray at the Graces; C2C 450 GB/s "
          "each way "
          "per Grace, half of it for each of its two GPUs; between the Graces 6 GB/s, NCCL's figure for ARM "
          "(src/graph/topo.h, v2.28.9)",
      .gpu_model = "GB200-186GB",
      .gpus = 4,
      .nics = 4,
      .nic = Bandwidth::gigabits_per_second(400),
      .wiring = {.nvswitch = kNvlink5 * 18,
                 .domain_hosts = 18,
                 .c2c = Bandwidth::gigabytes_per_second(225),
                 .cpu = CpuVendor::kArm,
                 .socket = kArmSocket,
                 .pcie = kGen5x16}};
}

HostType gb300_nvl72() {
  HostType type = gb200_nvl72();
  type.name = "gb300-nvl72";
  type.help =
      "one tray of 4 x GB300 288 GB, NVLink 5 (900 GB/s) in a domain of 18 trays, 4 x ConnectX-8 800 Gb/s";
  type.source =
      "NVIDIA GB300 NVL72 datasheet: trays as gb200-nvl72 with one ConnectX-8 of 800 Gb/s per GPU, whose own "
      "PCIe Gen6 "
      "switch the GPU hangs at beside C2C; up to the Grace Gen5 x16";
  type.gpu_model = "GB300-288GB";
  type.nic = Bandwidth::gigabits_per_second(800);
  type.wiring.switches = 4;
  type.wiring.pcie = kGen6x16;
  type.wiring.uplink = kGen5x16;
  return type;
}

}  // namespace busbar
