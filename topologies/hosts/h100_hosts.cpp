// Hosts with Hopper GPUs: 18 NVLinks of 25 GB/s each way per GPU (H800: 8).
#include "topologies/hosts/hosts.h"

namespace busbar {
namespace {

constexpr Bandwidth kNvlink4 = Bandwidth::gigabytes_per_second(25);
constexpr GpuPair kFourInAMesh[] = {{0, 1, 6}, {0, 2, 6}, {0, 3, 6}, {1, 2, 6}, {1, 3, 6}, {2, 3, 6}};

}  // namespace

HostType dgx_h100() {
  return {
      .name = "dgx-h100",
      .help = "8 x H100 SXM5 80 GB, NVLink 4 (450 GB/s), 8 x ConnectX-7 NDR 400 Gb/s, PCIe Gen5",
      .source =
          "NVIDIA DGX H100 User Guide (system topology) and H100 Tensor Core GPU datasheet: 18 NVLinks of "
          "25 GB/s each way, PCIe Gen5 x16, one GPU and one NIC per PCIe switch; between the CPUs 22 GB/s, "
          "NCCL's figure for Sapphire Rapids (src/graph/topo.h, v2.28.9)",
      .gpu_model = "H100-SXM5-80GB",
      .gpus = 8,
      .nics = 8,
      .nic = Bandwidth::gigabits_per_second(400),
      .wiring = {.nvswitch = kNvlink4 * 18,
                 .socket = kSapphireRapidsSocket,
                 .switches = 8,  // one GPU and one NIC under each, switches 0-3 at CPU 0
                 .pcie = kGen5x16,
                 .uplink = kGen5x16}};
}

HostType hgx_h100_4() {
  return {
      .name = "hgx-h100-4",
      .help = "4 x H100 SXM5 80 GB, direct NVLink 4 mesh (150 GB/s per pair), 4 x NDR 400 Gb/s, PCIe Gen5",
      .source =
          "NVIDIA H100 Tensor Core GPU datasheet (HGX H100 4-GPU board: 18 NVLinks of 25 GB/s each way, 6 to "
          "each "
          "peer); one NIC per GPU and 2 Sapphire Rapids CPUs are the usual host (assumed), 22 GB/s between "
          "them, NCCL's "
          "figure (src/graph/topo.h, v2.28.9)",
      .gpu_model = "H100-SXM5-80GB",
      .gpus = 4,
      .nics = 4,
      .nic = Bandwidth::gigabits_per_second(400),
      .wiring = {.mesh = kFourInAMesh,
                 .mesh_link = kNvlink4,
                 .socket = kSapphireRapidsSocket,
                 .switches = 4,
                 .pcie = kGen5x16,
                 .uplink = kGen5x16}};
}

HostType hgx_h200() {
  HostType type = dgx_h100();
  type.name = "hgx-h200";
  type.help = "8 x H200 SXM 141 GB, NVLink 4 (450 GB/s), 8 x ConnectX-7 NDR 400 Gb/s, PCIe Gen5";
  type.source =
      "NVIDIA DGX H100/H200 User Guide (system topology) and H200 Tensor Core GPU datasheet: wired as "
      "dgx-h100";
  type.gpu_model = "H200-SXM-141GB";
  return type;
}

HostType h800() {
  HostType type = dgx_h100();
  type.name = "h800";
  type.help = "8 x H800 SXM5 80 GB, NVLink 4 cut to 200 GB/s, 8 x ConnectX-7 NDR 400 Gb/s, PCIe Gen5";
  type.source =
      "DeepSeek-AI, Insights into DeepSeek-V3 (ISCA 2025): NVLink 400 GB/s both ways together instead of "
      "900, eight "
      "400 Gb/s ConnectX-7, one per GPU; the rest as dgx-h100";
  type.gpu_model = "H800-SXM5-80GB";
  type.wiring.nvswitch = kNvlink4 * 8;
  return type;
}

HostType gh200_4() {
  return {
      .name = "gh200-4",
      .help = "4 x GH200 96 GB, direct NVLink 4 mesh (150 GB/s per pair), C2C 450 GB/s, 4 x NDR200 200 Gb/s",
      .source =
          "Fusco et al., Understanding Data Movement in Tightly Coupled Heterogeneous Systems: A Case Study "
          "with the "
          "Grace Hopper Superchip (2024), quad GH200 node of Alps: NVLink 150 GB/s each way between any two "
          "GPUs, 100 "
          "GB/s between any two Graces, C2C 450 GB/s; one 200 Gb/s NIC at each Grace, as in Alps and JUPITER",
      .gpu_model = "GH200-96GB",
      .gpus = 4,
      .nics = 4,
      .nic = Bandwidth::gigabits_per_second(200),
      .wiring = {.mesh = kFourInAMesh,
                 .mesh_link = kNvlink4,
                 .c2c = Bandwidth::gigabytes_per_second(450),
                 .cpus = 4,
                 .cpu = CpuVendor::kArm,
                 .socket = Bandwidth::gigabytes_per_second(100),
                 .pcie = kGen5x16}};
}

HostType aws_p5() {
  HostType type = dgx_h100();
  type.name = "aws-p5";
  type.help = "AWS p5.48xlarge: 8 x H100 80 GB, NVLink 4, 32 x EFA 100 Gb/s as 8 x 400, PCIe Gen5";
  type.source =
      "AWS EC2 P5 instance page (8 H100, NVSwitch, 3,200 Gb/s of EFA in 32 interfaces); aws-ofi-nccl "
      "topology/p5.48xl-topo.xml: a GPU at 32 GT/s and four NICs of 100 Gb/s under each PCIe switch, 16 GT/s "
      "up to "
      "the AMD CPUs. The four are one NIC here, as aws-ofi-nccl presents them to NCCL; between the CPUs 16 "
      "GB/s, "
      "NCCL's figure for AMD (src/graph/topo.h, v2.28.9)";
  type.wire = LinkType::kEfa;
  type.wiring.cpu = CpuVendor::kAmd;
  type.wiring.socket = kAmdSocket;
  type.wiring.uplink = kGen4x16;
  return type;
}

HostType azure_ndv5() {
  HostType type = dgx_h100();
  type.name = "azure-ndv5";
  type.help = "Azure ND96isr_H100_v5: 8 x H100 80 GB, NVLink 4, 8 x NDR 400 Gb/s, PCIe Gen5";
  type.source =
      "Microsoft Learn, ND-H100-v5 series (8 H100, one NDR 400 Gb/s port per GPU); azhpc-images topology "
      "file "
      "ndv5-topo.xml: one GPU and one NIC per PCIe switch at 32 GT/s; the rest as dgx-h100";
  return type;
}

HostType gcp_a3_mega() {
  HostType type = dgx_h100();
  type.name = "gcp-a3-mega";
  type.help =
      "Google Cloud a3-megagpu-8g: 8 x H100 80 GB, NVLink 4, 8 x 200 Gb/s (GPUDirect-TCPXO), PCIe Gen5";
  type.source =
      "Google Cloud documentation, GPU machine types (a3-megagpu-8g: 8 H100, 8 GPU NICs of 200 Gb/s; its "
      "ninth NIC "
      "carries no collectives); that two GPUs and two NICs share a PCIe switch is assumed; CPUs as dgx-h100";
  type.nic = Bandwidth::gigabits_per_second(200);
  type.wire = LinkType::kTcp;
  type.wiring.switches = 4;
  return type;
}

}  // namespace busbar
