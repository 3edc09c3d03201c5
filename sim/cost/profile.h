// What a prediction assumes about software and sustained hardware: latencies, efficiencies, channels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/group_routes.h"
#include "sim/base/units.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// Constants of one GPU generation. Latencies in microseconds, by protocol LL, LL128, Simple.
struct Generation {
  std::string_view name;               // "hopper"
  std::vector<std::string_view> gpus;  // prefixes of GPU model names
  // Time of a ring operation (fitted; see docs/model.md).
  std::array<double, kNcclProtocols> base_us;
  std::array<double, kNcclProtocols> hop_us;  // per NVLink hop
  double nvlink_efficiency;                   // sustained / nominal
  std::array<double, kNcclProtocols> share;   // of the sustained rate that the protocol reaches
  double half_kib;                            // chunk at which half the rate is reached; LL128 and Simple
  double half_exponent;
  double tail_all_reduce, tail_gather;  // closing local copy, in steps
  double tail_floor;                    // share of it left when the buffers pipeline it
  // Grouped sends and receives (all_to_all, gather, scatter, send_recv).
  double exchange_base_us;                          // once, hops inside the host included
  double exchange_half_MB, exchange_half_exponent;  // of the whole buffer
  // NCCL's own view, for the choice of protocol.
  int compute_capability;
  double nccl_link_ratio;                                       // link bandwidth that NCCL assumes / nominal
  double ll_max_one_host, ll_max_two_hosts, ll_max_more_hosts;  // GB/s
  double ring_ll128_max_per_channel;                            // GB/s
  // Compute.
  double matmul_efficiency, attention_efficiency, attention_backward_efficiency,
      memory_efficiency;  // timed alone
  double step_share;      // what kernels inside a step reach of that: clocks under load, launches, framework
};

/// Constants of the network between hosts (InfiniBand, RoCE). Microseconds by protocol.
struct NetworkCosts {
  double base_us;  // once per operation that leaves a host
  std::array<double, kNcclProtocols> hop_us;
  std::array<double, kNcclProtocols> share;
  double half_kib, half_exponent;
  double ll_cap_GBps;
};

/// One line of the result's provenance.
struct ProfileParameter {
  std::string name, value, origin, source;  // origin: measured, fitted, default
};

struct Profile {
  std::string name;  // "default", "ideal"
  bool ideal = false;
  std::vector<Generation> generations;
  NetworkCosts network{};
  std::array<double, kLinkTypes>
      efficiency{};  // sustained / nominal per link type (nvlink: the generation's)
  std::int64_t sms_per_channel = 0;
  double memory_bytes_per_byte = 0;
  double p2p_channel_GBps_network = 0, p2p_channel_GBps_host = 0;
  std::int64_t p2p_channels_network = 1, p2p_channels_host = 1;
  // Grouped sends (all_to_all, gather, scatter).
  double exchange_share_host = 1, exchange_share_network = 1;  // of links; of NICs' line rate
};

[[nodiscard]] Profile default_profile();
/// No protocol effects: efficiency 1, latency only from links, one channel per distinct ring.
[[nodiscard]] Profile ideal_profile();
/// The generation of a GPU model; the newest one known when nothing matches (`matched` = false then).
struct GenerationMatch {
  const Generation* generation;
  bool matched;
};
[[nodiscard]] GenerationMatch generation_of(const Profile& profile, std::string_view gpu_model);
/// Every parameter that is in force for GPUs of `generation`.
[[nodiscard]] std::vector<ProfileParameter> parameters_of(const Profile& profile,
                                                          const Generation& generation);

}  // namespace busbar
