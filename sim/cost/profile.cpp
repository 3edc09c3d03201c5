#include "sim/cost/profile.h"

#include <fmt/format.h>

namespace busbar {

namespace {

// Ring times: fitted to published nccl-tests and in-framework tables of hosts with 8 NVSwitch GPUs; the form
// and the way to refit are in docs/model.md. Ceilings of the choice: NVIDIA/nccl src/graph/tuning.cc v2.28.9.
// Matmul and attention: medians over large shapes of NVIDIA's aiconfigurator kernel tables (Apache-2.0), as
// shares of the datasheet's dense peak: H100 0.777 of 140 shapes, A100 0.858 of 241; causal attention forward
// from 4,096 tokens, head size 128: 0.68 and 0.55. Backward: 0.85 of forward (Shah et al., FlashAttention-3,
// 2024, figures 5 and 6). HBM: 0.85, what copy-like kernels reach (assumed).
std::vector<Generation> generations() {
  return {
      {.name = "ampere",
       .gpus = {"A100"},
       .base_us = {9.1, 33.7, 27.6},
       .hop_us = {1.04, 1.13, 4.7},
       .nvlink_efficiency = 237.0 / 300.0,
       .share = {0.19, 0.87, 1.0},
       .half_kib = 8.5,
       .half_exponent = 0.80,
       .tail_all_reduce = 0.37,
       .tail_gather = 0.67,
       .tail_floor = 0.80,
       .exchange_base_us = 12,
       .exchange_half_MB = 8,
       .exchange_half_exponent = 0.4,
       .compute_capability = 80,
       .nccl_link_ratio = 240.0 / 300.0,
       .ll_max_one_host = 87.7,
       .ll_max_two_hosts = 22.5,  // AMD CPUs, as in DGX A100
       .ll_max_more_hosts = 19.0,
       .ring_ll128_max_per_channel = 20.0,
       .matmul_efficiency = 0.858,
       .attention_efficiency = 0.55,
       .attention_backward_efficiency = 0.55 * 0.85,
       .memory_efficiency = 0.85,
       .step_share = 0.86},
      {.name = "hopper",
       .gpus = {"H100", "H200", "GH200"},
       .base_us = {4.8, 12.4, 13.2},
       .hop_us = {0.89, 0.83, 2.5},
       .nvlink_efficiency = 373.0 / 450.0,
       .share = {0.48, 0.92, 1.0},
       .half_kib = 8.9,
       .half_exponent = 0.97,
       .tail_all_reduce = 0.59,
       .tail_gather = 0.67,
       .tail_floor = 0.54,
       .exchange_base_us = 6,
       .exchange_half_MB = 6,
       .exchange_half_exponent = 0.7,
       .compute_capability = 90,
       .nccl_link_ratio = 370.8 / 450.0,
       .ll_max_one_host = 141.0,
       .ll_max_two_hosts = 39.0,  // Intel CPUs, as in DGX H100
       .ll_max_more_hosts = 20.4,
       .ring_ll128_max_per_channel = 36.7,
       .matmul_efficiency = 0.777,
       .attention_efficiency = 0.68,
       .attention_backward_efficiency = 0.68 * 0.85,
       .memory_efficiency = 0.85,
       .step_share = 0.645},
  };
}

std::array<double, kLinkTypes> link_efficiencies() {
  std::array<double, kLinkTypes> e{};
  e.fill(1.0);
  // 48.25 of 50 GB/s per 400 Gb/s NIC: fitted to published multi-host plateaus.
  e[static_cast<std::size_t>(LinkType::kRdma)] = 0.965;
  e[static_cast<std::size_t>(LinkType::kEfa)] = 0.965;
  e[static_cast<std::size_t>(LinkType::kSlingshot)] = 0.965;
  // TLP headers and flow control: 256-byte payloads carry about 24 bytes of overhead (PCI Express base
  // specification).
  e[static_cast<std::size_t>(LinkType::kPcie)] = 256.0 / 280.0;
  return e;
}

std::string by_protocol(const std::array<double, kNcclProtocols>& v) {
  return fmt::format("{} us", fmt::join(v, " / "));
}

}  // namespace

Profile default_profile() {
  return {
      .name = "default",
      .ideal = false,
      .generations = generations(),
      // Hop latencies: NVIDIA/nccl src/graph/tuning.cc v2.28.9 (ring, network); the rest fitted to published
      // tables.
      .network = {.base_us = 6.0,
                  .hop_us = {2.7, 4.0, 14.0},
                  .share = {0.5, 0.92, 1.0},
                  .half_kib = 40.0,
                  .half_exponent = 0.7,
                  .ll_cap_GBps = 25.0},
      .efficiency = link_efficiencies(),
      // One thread block per channel, and a block of 512 threads or more fills an SM (NVIDIA/nccl
      // src/enqueue.cc).
      .sms_per_channel = 1,
      // Per byte that a ring flow carries, a GPU's HBM takes the arriving bytes, gives them to the reduction
      // or the copy, and reads or writes the user's buffer: three accesses (derived).
      .memory_bytes_per_byte = 3.0,
      // Fitted to published sendrecv tables: 128 KiB chunks over the network, NVLink channels of 20 GB/s.
      .p2p_channel_GBps_network = 12.8,
      .p2p_channel_GBps_host = 20.0,
      .p2p_channels_network = 2,
      .p2p_channels_host = 16,
      // Fitted to published all_to_all tables: 0.95 of the links, 0.91 of a NIC's line rate, half rate at 6
      // MB.
      .exchange_share_host = 0.95,
      .exchange_share_network = 0.91,
      // KiB.
  };
}

Profile ideal_profile() {
  Profile profile = default_profile();
  profile.name = "ideal";
  profile.ideal = true;
  profile.efficiency.fill(1.0);
  profile.sms_per_channel = 0;
  profile.memory_bytes_per_byte = 0;
  for (Generation& g : profile.generations)
    g.nvlink_efficiency = g.matmul_efficiency = g.attention_efficiency = g.attention_backward_efficiency =
        g.memory_efficiency = g.step_share = 1.0;
  return profile;
}

GenerationMatch generation_of(const Profile& profile, std::string_view gpu_model) {
  for (const Generation& g : profile.generations)
    for (const std::string_view prefix : g.gpus)
      if (gpu_model.starts_with(prefix)) return {&g, true};
  return {&profile.generations.back(), false};
}

std::vector<ProfileParameter> parameters_of(const Profile& p, const Generation& g) {
  const std::string fit = "published nccl-tests tables, see docs/model.md";
  const std::string kernels = "aiconfigurator kernel tables, medians over large shapes";
  if (p.ideal)
    return {{"efficiency", "1 (all)", "default", "ideal"}, {"latency", "the links' own", "default", "ideal"}};
  std::vector<ProfileParameter> list = {
      {"matmul_efficiency", fmt::format("{:.3f}", g.matmul_efficiency), "fitted", kernels},
      {"attention_efficiency", fmt::format("{:.3f}", g.attention_efficiency), "fitted", kernels},
      {"attention_backward_efficiency", fmt::format("{:.3f}", g.attention_backward_efficiency), "default",
       "FlashAttention-3 paper, figures 5 and 6"},
      {"memory_efficiency", fmt::format("{:.3f}", g.memory_efficiency), "default", "assumed"},
      {"step_share", fmt::format("{:.3f}", g.step_share), "fitted",
       "one step of IBM's fms-fsdp README per GPU generation"}};
  const std::vector<ProfileParameter> wire = {
      {"base_latency LL / LL128 / Simple", by_protocol(g.base_us), "fitted", fit},
      {"nvlink_hop_latency LL / LL128 / Simple", by_protocol(g.hop_us), "fitted", fit},
      {"network_hop_latency LL / LL128 / Simple", by_protocol(p.network.hop_us), "default",
       "NCCL v2.28.9 tuning.cc"},
      {"network_base_latency", fmt::format("{} us", p.network.base_us), "fitted", fit},
      {"nvlink_efficiency", fmt::format("{:.3f}", g.nvlink_efficiency), "fitted", fit},
      {"rdma_efficiency", fmt::format("{:.3f}", p.efficiency[static_cast<std::size_t>(LinkType::kRdma)]),
       "fitted", fit},
      {"half_rate_chunk in a host / between hosts",
       fmt::format("{} KiB / {} KiB", g.half_kib, p.network.half_kib), "fitted", fit},
      {"exchange_base_latency, half-rate size",
       fmt::format("{} us, {} MB", g.exchange_base_us, g.exchange_half_MB), "fitted",
       "aiconfigurator all_to_all tables"},
      {"sms_per_channel", fmt::format("{}", p.sms_per_channel), "default",
       "NCCL: one thread block per channel"}};
  list.insert(list.end(), wire.begin(), wire.end());
  return list;
}

}  // namespace busbar
