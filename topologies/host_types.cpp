#include <array>

#include "topologies/hosts/hosts.h"

namespace busbar {

std::span<const HostType> host_types() {
  static const std::array table = {
      dgx_1_v100(), dgx_2(),      dgx_a100(),    hgx_a100_4(),  dgx_h100(),    hgx_h100_4(), hgx_h200(),
      h800(),       hgx_b200(),   hgx_b300(),    gb200_nvl72(), gb300_nvl72(), gh200_4(),    mi250x(),
      mi300x(),     pcie_8(),     pcie_8_dual(), pcie_4(),      aws_p3dn(),    aws_p4d(),    aws_p4de(),
      aws_p5(),     azure_ndv4(), azure_ndv5(),  gcp_a3_mega(),
  };
  return table;
}

}  // namespace busbar
