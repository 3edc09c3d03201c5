// DGX H100: 8 H100 SXM5, NVLink 4, and one ConnectX-7 per GPU.
#include "topologies/hosts/hgx_host.h"

namespace busbar {
namespace {

constexpr HgxShape kShape = {
    .type = "dgx-h100",
    .gpu_model = "H100-SXM5-80GB",
    .gpus = 8,
    .nics = 8,
    .pcie_switches = 8,  // one GPU and one NIC under each, switches 0-3 at CPU 0
    .nvlink = Bandwidth::gigabytes_per_second(18 * 25),
    .pcie = pcie_bandwidth(32, 16),
    .socket = Bandwidth::gigabytes_per_second(22),
};

void build(TopologyBuilder& builder, const HostRequest& request) { add_hgx_host(builder, request, kShape); }

}  // namespace

HostType dgx_h100() {
  return {
      .name = kShape.type,
      .help = "8 x H100 SXM5 80 GB, NVLink 4 (450 GB/s), 8 x ConnectX-7 NDR 400 Gb/s, PCIe Gen5",
      .source =
          "NVIDIA DGX H100 User Guide (system topology) and H100 Tensor Core GPU datasheet: 18 NVLinks of "
          "25 GB/s each way, PCIe Gen5 x16, one GPU and one NIC per PCIe switch; between the CPUs 22 GB/s, "
          "NCCL's figure for Sapphire Rapids (src/graph/topo.h, v2.28.9)",
      .gpus = kShape.gpus,
      .nics = kShape.nics,
      .nic = Bandwidth::gigabits_per_second(400),
      .build = build};
}

}  // namespace busbar
