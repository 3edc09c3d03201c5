// Hosts with V100 GPUs: 6 NVLinks of 25 GB/s each way per GPU.
#include "topologies/hosts/hosts.h"

namespace busbar {
namespace {

constexpr Bandwidth kNvlink2 = Bandwidth::gigabytes_per_second(25);

// The hybrid cube mesh, as nvidia-smi topo -m prints it on these machines (NV1, NV2); each GPU has 6 links.
// Source: NVIDIA DGX-1 With Tesla V100 System Architecture whitepaper, figure of the NVLink topology.
constexpr GpuPair kCubeMesh[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
                                 {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                                 {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};

}  // namespace

HostType dgx_1_v100() {
  return {
      .name = "dgx-1-v100",
      .help = "8 x V100 SXM2 32 GB, hybrid cube mesh of NVLink 2 (6 x 25 GB/s), 4 x EDR 100 Gb/s, PCIe Gen3",
      .source =
          "NVIDIA DGX-1 With Tesla V100 System Architecture whitepaper: NVLink adjacency, 4 PCIe switches "
          "with 2 "
          "GPUs and 1 ConnectX-4 EDR each; between the Broadwell CPUs 6 GB/s, NCCL's figure "
          "(src/graph/topo.h, "
          "v2.28.9)",
      .gpu_model = "V100-SXM2-32GB",
      .gpus = 8,
      .nics = 4,
      .nic = Bandwidth::gigabits_per_second(100),
      .wiring = {.mesh = kCubeMesh,
                 .mesh_link = kNvlink2,
                 .socket = kBroadwellSocket,
                 .switches = 4,
                 .pcie = kGen3x16,
                 .uplink = kGen3x16}};
}

HostType dgx_2() {
  return {.name = "dgx-2",
          .help = "16 x V100 SXM3 32 GB, NVSwitch (6 x 25 GB/s per GPU), 8 x EDR 100 Gb/s, PCIe Gen3",
          .source =
              "NVIDIA DGX-2 User Guide and NVSwitch technical overview: 6 NVLinks of 25 GB/s each way per "
              "GPU, any GPU "
              "to any at full rate, 8 ConnectX-5 EDR, one beside each two GPUs. The upper layer of its PCIe "
              "tree is "
              "left out. GPU model V100-SXM2-32GB, whose peaks the SXM3 part passes slightly; between the "
              "Skylake "
              "CPUs 10 GB/s, NCCL's figure (src/graph/topo.h, v2.28.9)",
          .gpu_model = "V100-SXM2-32GB",
          .gpus = 16,
          .nics = 8,
          .nic = Bandwidth::gigabits_per_second(100),
          .wiring = {.nvswitch = kNvlink2 * 6,
                     .socket = kSkylakeSocket,
                     .switches = 8,
                     .pcie = kGen3x16,
                     .uplink = kGen3x16}};
}

HostType aws_p3dn() {
  HostType type = dgx_1_v100();
  type.name = "aws-p3dn";
  type.help = "AWS p3dn.24xlarge: 8 x V100 32 GB, hybrid cube mesh, 1 x EFA 100 Gb/s at a CPU";
  type.source =
      "AWS EC2 P3 instance page (8 V100 32 GB, NVLink, 100 Gb/s EFA), NVLink as in NVIDIA's DGX-1 "
      "whitepaper; that the "
      "NIC hangs at CPU 0 is assumed; between the Skylake CPUs 10 GB/s, NCCL's figure (src/graph/topo.h, "
      "v2.28.9)";
  type.nics = 1;
  type.wire = LinkType::kEfa;
  type.wiring.socket = kSkylakeSocket;
  type.wiring.nics_at = NicParent::kCpu;
  return type;
}

}  // namespace busbar
