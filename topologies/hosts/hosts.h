// One function per host type: its row of the table.
#pragma once

#include "topologies/host_type.h"

namespace busbar {

HostType dgx_1_v100();
HostType dgx_2();
HostType dgx_a100();
HostType hgx_a100_4();
HostType dgx_h100();
HostType hgx_h100_4();
HostType hgx_h200();
HostType h800();
HostType hgx_b200();
HostType hgx_b300();
HostType gb200_nvl72();
HostType gb300_nvl72();
HostType gh200_4();
HostType mi250x();
HostType mi300x();
HostType pcie_8();
HostType pcie_8_dual();
HostType pcie_4();
HostType aws_p3dn();
HostType aws_p4d();
HostType aws_p4de();
HostType aws_p5();
HostType azure_ndv4();
HostType azure_ndv5();
HostType gcp_a3_mega();

}  // namespace busbar
