// Hosts with A100 GPUs: 12 NVLinks of 25 GB/s each way per GPU.
#include "topologies/hosts/hosts.h"

namespace busbar {
namespace {

constexpr Bandwidth kNvlink3 = Bandwidth::gigabytes_per_second(25);
constexpr GpuPair kFourInAMesh[] = {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {1, 2, 4}, {1, 3, 4}, {2, 3, 4}};

}  // namespace

HostType dgx_a100() {
  return {
      .name = "dgx-a100",
      .help = "8 x A100 SXM4 80 GB, NVLink 3 (300 GB/s), 8 x ConnectX-6 HDR 200 Gb/s, PCIe Gen4",
      .source =
          "NVIDIA DGX A100 User Guide (system topology) and A100 Tensor Core GPU datasheet: 12 NVLinks of "
          "25 GB/s each way, PCIe Gen4 x16, two GPUs and two NICs per PCIe switch; between the CPUs 16 "
          "GB/s, NCCL's figure for AMD (src/graph/topo.h, v2.28.9)",
      .gpu_model = "A100-SXM4-80GB",
      .gpus = 8,
      .nics = 8,
      .nic = Bandwidth::gigabits_per_second(200),
      .wiring = {.nvswitch = kNvlink3 * 12,
                 .cpu = CpuVendor::kAmd,
                 .socket = kAmdSocket,
                 .switches = 4,  // two at each CPU
                 .pcie = kGen4x16,
                 .uplink = kGen4x16}};
}

HostType hgx_a100_4() {
  return {
      .name = "hgx-a100-4",
      .help = "4 x A100 SXM4 40 GB, direct NVLink 3 mesh (100 GB/s per pair), 4 x HDR 200 Gb/s, PCIe Gen4",
      .source =
          "NVIDIA A100 Tensor Core GPU datasheet (HGX A100 4-GPU board: 12 NVLinks of 25 GB/s each way, 4 to "
          "each "
          "peer); host as in JUWELS Booster (Juelich Supercomputing Centre, hardware overview): 2 AMD EPYC, "
          "one HDR200 "
          "NIC per GPU; between the CPUs 16 GB/s, NCCL's figure for AMD (src/graph/topo.h, v2.28.9)",
      .gpu_model = "A100-SXM4-40GB",
      .gpus = 4,
      .nics = 4,
      .nic = Bandwidth::gigabits_per_second(200),
      .wiring = {.mesh = kFourInAMesh,
                 .mesh_link = kNvlink3,
                 .cpu = CpuVendor::kAmd,
                 .socket = kAmdSocket,
                 .switches = 4,
                 .pcie = kGen4x16,
                 .uplink = kGen4x16}};
}

HostType aws_p4d() {
  return {.name = "aws-p4d",
          .help = "AWS p4d.24xlarge: 8 x A100 40 GB, NVLink 3, 4 x EFA 100 Gb/s, each shared by two GPUs",
          .source =
              "AWS EC2 P4 instance page (8 A100 40 GB, NVSwitch, 400 Gb/s EFA); aws-ofi-nccl "
              "topology/p4d-24xl-topo.xml: 4 "
              "PCIe switches of 2 GPUs and 1 NIC at 8 GT/s x16; between the Cascade Lake CPUs 10 GB/s, "
              "NCCL's figure for "
              "Skylake (src/graph/topo.h, v2.28.9)",
          .gpu_model = "A100-SXM4-40GB",
          .gpus = 8,
          .nics = 4,
          .nic = Bandwidth::gigabits_per_second(100),
          .wire = LinkType::kEfa,
          .wiring = {.nvswitch = kNvlink3 * 12,
                     .socket = kSkylakeSocket,
                     .switches = 4,
                     .pcie = kGen3x16,
                     .uplink = kGen3x16}};
}

HostType aws_p4de() {
  HostType type = aws_p4d();
  type.name = "aws-p4de";
  type.help = "AWS p4de.24xlarge: as aws-p4d with A100 80 GB";
  type.gpu_model = "A100-SXM4-80GB";
  return type;
}

HostType azure_ndv4() {
  HostType type = dgx_a100();
  type.name = "azure-ndv4";
  type.help = "Azure ND96asr_v4: 8 x A100 40 GB, NVLink 3, 8 x HDR 200 Gb/s, PCIe Gen4";
  type.source =
      "Microsoft Learn, NDasrA100_v4 series (8 A100 40 GB, one HDR 200 Gb/s port per GPU); azhpc-images "
      "topology file "
      "ndv4-topo.xml: 2 GPUs and 2 NICs per PCIe switch, one switch per NUMA domain, of which two share a "
      "CPU here; "
      "between the CPUs 16 GB/s, NCCL's figure for AMD (src/graph/topo.h, v2.28.9)";
  type.gpu_model = "A100-SXM4-40GB";
  return type;
}

}  // namespace busbar
