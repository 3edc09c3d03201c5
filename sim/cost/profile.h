// What a prediction assumes about software and sustained hardware: latencies, efficiencies, half-rate sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/group_routes.h"
#include "sim/base/units.h"
#include "sim/cost/calibration_record.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// By protocol: LL, LL128, Simple.
using ByProtocol = std::array<double, kNcclProtocols>;

/// Constants of moving data between the GPUs of one host over one transport.
struct HostTransport {
  ByProtocol hop_us;       // per hop that no slice hides
  double efficiency;       // sustained / nominal, Simple
  ByProtocol share;        // of that, by protocol
  double ll_channel_GBps;  // what one channel of LL carries
  double half_kib;         // chunk per channel and step at which half the rate is reached; LL128 and Simple
  double half_exponent;
  double tail_all_reduce, tail_gather;  // closing local copy of a ring, in steps
  double tail_floor;                    // share of it left when the buffers pipeline it
};

/// Reduction and multicast inside the NVSwitch (NVLS).
struct SwitchReduction {
  double base_us;
  double efficiency;  // of the sustained NVLink rate, at the largest chunks
  double half_MB;     // message at which half the rate is reached; x (1 + log2 hosts)
  double half_exponent;
  double chunk_kib;  // chunk that would halve the rate
};

/// Grouped sends and receives: all_to_all, gather, scatter, send_recv.
struct GroupedSends {
  double base_us;  // once, hops inside the host included
  double half_us;  // what the links carry in this time is the buffer at which half their rate is reached
  double half_exponent;
  double channel_GBps;          // one channel inside a host
  double network_channel_GBps;  // one channel between hosts
};

/// Constants of one GPU generation: of its links to other GPUs, and of its compute.
struct Generation {
  std::string_view name;               // "hopper"
  std::vector<std::string_view> gpus;  // prefixes of GPU model names
  ByProtocol base_us;                  // once per operation
  HostTransport links;                 // NVLink, or xGMI
  SwitchReduction nvls;
  GroupedSends sends;
  double launch_us;  // of one GPU's kernel, by a process that drives several
  // Compute.
  double memory_efficiency;  // timed alone; kernels with a shape: kernel_models.h
  double step_share;  // what kernels inside a step reach of that: clocks under load, launches, framework
  double attention_share = 1;  // of the modelled speed of attention: a framework's slower code
  double matmul_share = 1;     // of the modelled speed of matmuls: as measured on these GPUs
  double own_share = 1;        // of the speed of all kernels inside a step: as a step of one's own shows
};

/// Constants of one kind of network between hosts.
struct NetworkTransport {
  double base_us;          // once per operation that leaves a host
  ByProtocol ring_hop_us;  // per hop
  ByProtocol tree_hop_us;
  double nvls_tree_hop_us;
  double efficiency;   // sustained / line rate
  ByProtocol share;    // of that, by protocol
  double ll_cap_GBps;  // LL, all NICs of a host together
  double half_kib, half_exponent;
  double tree_half_MB;   // message at which a tree reaches half its rate; x (1 + log2 hosts)
  double sends_share;    // of the line rate, for grouped sends
  double sends_half_MB;  // message to one peer at which they reach half of that
  double sends_half_exponent;
};

/// One line of the result's provenance.
struct ProfileParameter {
  std::string name, value, origin, source;  // origin: measured, fitted, default
};

struct Profile {
  std::string name;  // "default", "ideal"
  bool ideal = false;
  std::vector<Generation> generations;
  HostTransport pcie_peer, host_memory;
  std::array<NetworkTransport, 4> networks{};  // rdma, slingshot, tcp, efa
  double pcie_efficiency = 1;                  // of PCIe links as resources: packet headers
  double tree_share = 1;       // of the ring's rate that a tree's two directions reach together
  double ring_exponent = 1;    // how sharply the slower of links and NICs holds a ring: (a^-p + b^-p)^(-1/p)
  double stage_exponent = 1;   // the same for NVSwitch and NICs
  double launch_exponent = 1;  // the same for launches against the device
  double graph_launch_share = 1;  // of a launch, inside a CUDA graph
  double isolated_us = 0;  // an operation that follows no other on its stream, beyond back-to-back times
  std::int64_t sms_per_channel = 0;
  double memory_bytes_per_byte = 0;
  double sends_share_host = 1;  // of the links, for grouped sends
  CalibrationRecord calibration;

  [[nodiscard]] const NetworkTransport& network(Transport transport) const {
    return networks[static_cast<std::size_t>(transport) - static_cast<std::size_t>(Transport::kRdma)];
  }
  [[nodiscard]] NetworkTransport& network(Transport transport) {
    return networks[static_cast<std::size_t>(transport) - static_cast<std::size_t>(Transport::kRdma)];
  }
};

[[nodiscard]] Profile default_profile();
/// Where fits start: NCCL's own constants, the same for all GPUs.
[[nodiscard]] Profile starting_profile();
/// No protocol effects: efficiency 1, latency only from links, one channel per distinct ring.
[[nodiscard]] Profile ideal_profile();
/// The generation of a GPU model; the one that stands in when nothing matches (`matched` = false then).
struct GenerationMatch {
  const Generation* generation;
  bool matched;
};
[[nodiscard]] GenerationMatch generation_of(const Profile& profile, std::string_view gpu_model);

/// What moves data between two GPUs of a host over `transport`.
[[nodiscard]] const HostTransport& host_transport(Transport transport, const Profile& profile,
                                                  const Generation& generation);

/// One number of a profile, for fits and listings.
struct ParameterRef {
  std::string name;  // "hopper.links.hop_us.LL"
  double* value;
  double spread;  // how far it may plausibly lie from its default: standard deviation of its logarithm
};
/// Every number that times of collectives depend on, in a fixed order.
[[nodiscard]] std::vector<ParameterRef> parameters(Profile& profile);
/// Those that measurements of kernels, or of operations on their own, pin:
/// "kernels.hopper.memory_efficiency", "shared.isolated_us".
[[nodiscard]] std::vector<ParameterRef> other_parameters(Profile& profile);
/// Every parameter that is in force for GPUs of `generation`, of this model.
[[nodiscard]] std::vector<ProfileParameter> parameters_of(const Profile& profile,
                                                          const Generation& generation,
                                                          std::string_view gpu_model);

}  // namespace busbar
