// DGX A100 80 GB: 8 A100 SXM4, NVLink 3, and two GPUs with two ConnectX-6 under each PCIe switch.
#include "topologies/hosts/hgx_host.h"

namespace busbar {
namespace {

constexpr HgxShape kShape = {
    .type = "dgx-a100",
    .gpu_model = "A100-SXM4-80GB",
    .gpus = 8,
    .nics = 8,
    .pcie_switches = 4,  // two at each CPU
    .nvlink = Bandwidth::gigabytes_per_second(12 * 25),
    .pcie = pcie_bandwidth(16, 16),
    .socket = Bandwidth::gigabytes_per_second(16),
};

void build(TopologyBuilder& builder, const HostRequest& request) { add_hgx_host(builder, request, kShape); }

}  // namespace

HostType dgx_a100() {
  return {
      .name = kShape.type,
      .help = "8 x A100 SXM4 80 GB, NVLink 3 (300 GB/s), 8 x ConnectX-6 HDR 200 Gb/s, PCIe Gen4",
      .source =
          "NVIDIA DGX A100 User Guide (system topology) and A100 Tensor Core GPU datasheet: 12 NVLinks of "
          "25 GB/s each way, PCIe Gen4 x16, two GPUs and two NICs per PCIe switch; between the CPUs 16 "
          "GB/s, NCCL's figure for AMD (src/graph/topo.h, v2.28.9)",
      .gpus = kShape.gpus,
      .nics = kShape.nics,
      .nic = Bandwidth::gigabits_per_second(200),
      .build = build};
}

}  // namespace busbar
