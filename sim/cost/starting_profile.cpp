// Where fits start: one set of constants for all GPUs and one for all networks, from NCCL's own tables where
// it has them, so that what a fit finds owes nothing to an earlier one.
#include "sim/cost/starting_profile.h"

namespace busbar {

// Latencies: NVIDIA/nccl src/graph/tuning.cc v2.28.9. Efficiencies: NCCL's link rates over the datasheets'
// (src/graph/topo.h: 240 of 300, 370.8 of 450, 721.8 of 900 GB/s), its share for LL128 0.92 as in its
// table. LL's share and the rest: round numbers.
HostTransport starting_links() {
  return {.hop_us = {0.6, 1.9, 3.4},
          .efficiency = 0.81,
          .share = {0.4, 0.92, 1},
          .ll_channel_GBps = 10,
          .half_kib = 10,
          .half_exponent = 1,
          .tail_all_reduce = 0.5,
          .tail_gather = 0.5,
          .tail_floor = 0.7};
}

SwitchReduction starting_nvls() {
  return {.base_us = 25, .efficiency = 0.85, .half_MB = 10, .half_exponent = 0.6, .chunk_kib = 6};
}

GroupedSends starting_sends() {
  return {
      .base_us = 8.4, .half_us = 15, .half_exponent = 0.6, .channel_GBps = 10, .network_channel_GBps = 25};
}

NetworkTransport starting_network(double more_us) {
  return {.base_us = 6,
          .ring_hop_us = {2.7 + more_us, 4 + more_us, 14 + more_us},
          .tree_hop_us = {5 + more_us, 8.5 + more_us, 14 + more_us},
          .nvls_tree_hop_us = 20.9 + more_us,
          .efficiency = 0.98,
          .share = {0.5, 0.92, 1},
          .ll_cap_GBps = 20.4,
          .half_kib = 30,
          .half_exponent = 1,
          .tree_half_MB = 2,
          .sends_share = 0.9,
          .sends_half_MB = 0.3,
          .sends_half_exponent = 0.9};
}

namespace {

void set_start(Generation& g) {
  g.base_us = {6.6, 14, 8.4};
  g.links = starting_links();
  g.nvls = starting_nvls();
  g.sends = starting_sends();
  g.launch_us = 4.5;
}

}  // namespace

Profile starting_profile() {
  Profile p = default_profile();
  p.name = "starting";
  for (Generation& g : p.generations) set_start(g);
  p.pcie_peer = starting_links();
  p.pcie_peer.hop_us = {1.0, 2.5, 5.7};
  p.host_memory = p.pcie_peer;
  p.host_memory.efficiency = 0.5;
  p.network(Transport::kRdma) = starting_network(0);
  p.network(Transport::kSlingshot) = starting_network(5);
  p.network(Transport::kEfa) = starting_network(20);  // aws/aws-ofi-nccl src/tuner/nccl_ofi_model.cpp
  p.network(Transport::kTcp) = starting_network(40);
  return p;
}

}  // namespace busbar
