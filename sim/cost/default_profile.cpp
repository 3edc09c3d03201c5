// The default profile: the table of constants, each with where it comes from.
//
// "Fitted" constants are those of `tests/regress` (the fit over validate/data/collectives): one set per GPU
// generation and per network, by robust least squares on the logarithm of the time, every table with one
// weight, each constant held to its starting value by a prior (profile_parameters.cpp). Form and procedure:
// docs/model.md.
// HBM: 0.85, what copy-like kernels reach (assumed). step_share: of PyTorch's compiled steps. Ampere: IBM's
// fms-fsdp README, 7B. Hopper: half of the 13 bf16 steps on H100 there and in pytorch/torchtitan's benchmarks
// (mean error of that half 2.7 %, of the other 7.1 %). Volta as Ampere, all others as Hopper. What matmuls
// and attention reach alone: kernel_models.cpp.
#include "sim/cost/profile.h"
#include "sim/cost/starting_profile.h"

namespace busbar {

namespace {

// Kernel figures are the A100's.
Generation volta() {
  return {.name = "volta",
          .gpus = {"V100", "T4", "RTX-2080"},
          .base_us = {11.5, 16.9, 8.66},
          .links = {.hop_us = {1.33, 3.06, 3.45},
                    .efficiency = 0.842,
                    .share = {0.36, 0.893, 1},
                    .ll_channel_GBps = 9.88,
                    .half_kib = 12.6,
                    .half_exponent = 0.982,
                    .tail_all_reduce = 0.479,
                    .tail_gather = 0.5,
                    .tail_floor = 0.69},
          .nvls = starting_nvls(),
          .sends = starting_sends(),
          .launch_us = 4.5,
          .memory_efficiency = 0.85,
          .step_share = 0.853};
}

Generation ampere() {
  return {.name = "ampere",
          .gpus = {"A100"},
          .base_us = {8.76, 27.9, 26},
          .links = {.hop_us = {0.926, 2.02, 4.42},
                    .efficiency = 0.785,
                    .share = {0.224, 0.897, 1},
                    .ll_channel_GBps = 6.16,
                    .half_kib = 11.8,
                    .half_exponent = 0.975,
                    .tail_all_reduce = 0.489,
                    .tail_gather = 0.59,
                    .tail_floor = 0.699},
          .nvls = starting_nvls(),
          .sends = {.base_us = 11.7,
                    .half_us = 25,
                    .half_exponent = 0.529,
                    .channel_GBps = 11.3,
                    .network_channel_GBps = 25},
          .launch_us = 4.5,
          .memory_efficiency = 0.85,
          .step_share = 0.853};
}

// Cards on PCIe: their times are those of the PCIe transports; the rest is the H100's.
Generation ada() {
  return {.name = "ada",
          .gpus = {"L40S", "RTX"},
          .base_us = {6.6, 14, 8.4},
          .links = starting_links(),
          .nvls = starting_nvls(),
          .sends = starting_sends(),
          .launch_us = 4.5,
          .memory_efficiency = 0.85,
          .step_share = 0.72};
}

Generation hopper() {
  return {.name = "hopper",
          .gpus = {"H100", "H200", "H800", "H20", "GH200"},
          .base_us = {4.74, 11.1, 13.1},
          .links = {.hop_us = {0.752, 1.46, 2.73},
                    .efficiency = 0.84,
                    .share = {0.441, 0.934, 1},
                    .ll_channel_GBps = 12.5,
                    .half_kib = 8.98,
                    .half_exponent = 1.09,
                    .tail_all_reduce = 0.525,
                    .tail_gather = 0.663,
                    .tail_floor = 0.613},
          .nvls = {.base_us = 13.6,
                   .efficiency = 0.866,
                   .half_MB = 6.02,
                   .half_exponent = 0.574,
                   .chunk_kib = 4.33},
          .sends = {.base_us = 6.42,
                    .half_us = 18.7,
                    .half_exponent = 0.629,
                    .channel_GBps = 19.5,
                    .network_channel_GBps = 25},
          .launch_us = 4.5,
          .memory_efficiency = 0.85,
          .step_share = 0.72};
}

// Kernel figures are the H100's.
Generation blackwell() {
  return {.name = "blackwell",
          .gpus = {"B200", "B300", "GB200", "GB300"},
          .base_us = {7.93, 15.4, 14},
          .links = {.hop_us = {1.19, 1.95, 5.33},
                    .efficiency = 0.792,
                    .share = {0.396, 0.903, 1},
                    .ll_channel_GBps = 11.3,
                    .half_kib = 10.7,
                    .half_exponent = 1.03,
                    .tail_all_reduce = 0.542,
                    .tail_gather = 0.662,
                    .tail_floor = 0.801},
          .nvls = {.base_us = 25.8,
                   .efficiency = 0.809,
                   .half_MB = 13.5,
                   .half_exponent = 0.527,
                   .chunk_kib = 7.74},
          .sends = {.base_us = 9.13,
                    .half_us = 10.1,
                    .half_exponent = 0.723,
                    .channel_GBps = 21.2,
                    .network_channel_GBps = 25},
          .launch_us = 4.5,
          .memory_efficiency = 0.85,
          .step_share = 0.72};
}

// AMD Instinct under RCCL: links and floors fitted to one MI300X host, the rest is the H100's.
Generation cdna() {
  return {.name = "cdna",
          .gpus = {"MI"},
          .base_us = {4.06, 10.8, 8.41},
          .links = {.hop_us = {0.329, 1.25, 3.42},
                    .efficiency = 0.744,
                    .share = {0.425, 0.917, 1},
                    .ll_channel_GBps = 11.9,
                    .half_kib = 7.74,
                    .half_exponent = 1.01,
                    .tail_all_reduce = 0.507,
                    .tail_gather = 0.5,
                    .tail_floor = 0.71},
          .nvls = starting_nvls(),
          .sends = starting_sends(),
          .launch_us = 4.5,
          .memory_efficiency = 0.85,
          .step_share = 0.72};
}

HostTransport pcie_peer() {
  return {.hop_us = {0.862, 2.5, 4.44},
          .efficiency = 0.714,
          .share = {0.503, 0.92, 1},
          .ll_channel_GBps = 9.72,
          .half_kib = 8.64,
          .half_exponent = 1.07,
          .tail_all_reduce = 0.396,
          .tail_gather = 0.294,
          .tail_floor = 0.634};
}

// Fitted to two cards only; published boxes without peer access differ by factors.
HostTransport host_memory() {
  return {.hop_us = {1.85, 2.5, 4.89},
          .efficiency = 0.646,
          .share = {0.361, 0.92, 1},
          .ll_channel_GBps = 10,
          .half_kib = 8.68,
          .half_exponent = 1.07,
          .tail_all_reduce = 0.415,
          .tail_gather = 0.5,
          .tail_floor = 0.667};
}

// Started from NCCL's hops (NVIDIA/nccl src/graph/tuning.cc v2.28.9).
NetworkTransport rdma() {
  return {.base_us = 7.95,
          .ring_hop_us = {9.48, 4.49, 12.5},
          .tree_hop_us = {6.27, 8.54, 14},
          .nvls_tree_hop_us = 29,
          .efficiency = 0.989,
          .share = {0.5, 0.971, 1},
          .ll_cap_GBps = 16.1,
          .half_kib = 27.4,
          .half_exponent = 1.22,
          .tree_half_MB = 1.98,
          .sends_share = 0.902,
          .sends_half_MB = 0.323,
          .sends_half_exponent = 0.909};
}

// Started from the documented 20 us per hop beyond InfiniBand's (aws/aws-ofi-nccl
// src/tuner/nccl_ofi_model.cpp); EFA v2.
NetworkTransport efa() {
  return {.base_us = 6.09,
          .ring_hop_us = {22.7, 24, 34},
          .tree_hop_us = {29.2, 28.1, 34},
          .nvls_tree_hop_us = 53.7,
          .efficiency = 0.98,
          .share = {0.5, 0.92, 1},
          .ll_cap_GBps = 19.9,
          .half_kib = 30,
          .half_exponent = 1,
          .tree_half_MB = 1.95,
          .sends_share = 0.9,
          .sends_half_MB = 0.3,
          .sends_half_exponent = 0.9};
}

// From 64 MiB on; below, published curves have protocol windows that no such form fits.
NetworkTransport slingshot() {
  return {.base_us = 5.9,
          .ring_hop_us = {7.7, 11.3, 12.5},
          .tree_hop_us = {10, 13.8, 19.4},
          .nvls_tree_hop_us = 25.9,
          .efficiency = 0.978,
          .share = {0.5, 0.972, 1},
          .ll_cap_GBps = 20.4,
          .half_kib = 24.3,
          .half_exponent = 0.728,
          .tree_half_MB = 12.7,
          .sends_share = 0.9,
          .sends_half_MB = 0.3,
          .sends_half_exponent = 0.9};
}

}  // namespace

Profile default_profile() {
  Profile p{.name = "default",
            .ideal = false,
            .generations = {volta(), ampere(), ada(), hopper(), blackwell(), cdna()},
            .pcie_peer = pcie_peer(),
            .host_memory = host_memory(),
            // TLP headers and flow control: 256-byte payloads carry about 24 bytes of overhead (PCI Express
            // base specification).
            .pcie_efficiency = 256.0 / 280.0,
            // Each direction of a tree edge carries both the reduction and the broadcast.
            .tree_share = 0.9,
            // 8 x A100 with 8 x HDR reaches 192 GB/s in a ring where either alone gives 197 or more
            // (NVIDIA/nccl-tests issue 119).
            .ring_exponent = 8,
            // Fitted to two-host NVLSTree plateaus of H100 and B200 hosts with 200 and 400 Gb/s NICs.
            .stage_exponent = 4,
            .launch_exponent = 4,
            // An H100 host's nccl-tests with and without -G 1 (waynehacking8/nccl-collectives-bench).
            .graph_launch_share = 0.63,
            // An empty kernel's launch, which back-to-back operations hide: size-0 rows of nccl-tests logs
            // (deepseek-ai/DeepEP issue 303: 3.1 - 3.2 us).
            .isolated_us = 3.1,
            // One thread block per channel, and a block of 512 threads or more fills an SM (NVIDIA/nccl
            // src/enqueue.cc).
            .sms_per_channel = 1,
            // Per byte that a ring flow carries, a GPU's HBM takes the arriving bytes, gives them to the
            // reduction or the copy, and reads or writes the user's buffer: three accesses (derived).
            .memory_bytes_per_byte = 3.0,
            .sends_share_host = 0.95};
  p.network(Transport::kRdma) = rdma();
  p.network(Transport::kSlingshot) = slingshot();
  p.network(Transport::kEfa) = efa();
  p.network(Transport::kTcp) =
      starting_network(40);  // not fitted: published runs over sockets differ by factors
  return p;
}

Profile ideal_profile() {
  Profile p = default_profile();
  p.name = "ideal";
  p.ideal = true;
  p.pcie_efficiency = 1.0;
  p.pcie_peer.efficiency = p.host_memory.efficiency = 1.0;
  p.sms_per_channel = 0;
  p.memory_bytes_per_byte = 0;
  p.isolated_us = 0;
  for (NetworkTransport& network : p.networks) network.efficiency = 1.0;
  for (Generation& g : p.generations) {
    g.links.efficiency = 1.0;
    g.memory_efficiency = g.step_share = 1.0;
  }
  return p;
}

}  // namespace busbar
