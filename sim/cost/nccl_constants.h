// The numbers of NCCL's selection model, by version. The selector's alone: they never price the simulated
// time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/cost/nccl_types.h"

namespace busbar {

/// What a hop crosses, in the order of NCCL's latency table.
enum class NcclHop : std::uint8_t { kNvlink, kPci, kNet };
inline constexpr std::size_t kNcclHops = 3;

/// The rows of NCCL's ceiling tables: by the least compute capability, < 80, < 90, < 100, the rest.
enum class NcclGeneration : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };
inline constexpr std::size_t kNcclGenerations = 4;
[[nodiscard]] NcclGeneration nccl_generation(int compute_capability);

using NcclLatencies = std::array<std::array<double, kNcclProtocols>, kNcclAlgorithms>;  // us
using NcclCeiling = std::array<std::array<double, 3>, kNcclGenerations>;  // GB/s: on 1, 2, more hosts
inline constexpr std::size_t kNcclSizes = 24;  // of the tree's correction: 64 B, 128 B, ... 512 MiB

/// What changes from release to release.
struct NcclConstants {
  NcclVersion since;                                            // holds up to the next row
  NcclLatencies base{};                                         // once per operation
  std::array<NcclLatencies, kNcclHops> hops{};                  // per hop
  NcclCeiling ring_ll128{}, tree_ll128{}, tree{}, nvls_tree{};  // per channel
  double pat_share = 0;  // of the bus bandwidth; 0: this release has no PAT
  bool has_nvls_tree = true;
  bool nvls_by_efficiency = true;      // else five sixths of channels x speed
  bool ll128_over_c2c_to_nic = true;   // paths of class P2C
  bool ll128_on_mixed_hopper = false;  // GPUs of several capabilities, all of 90 and up
  std::size_t corrected_sizes = kNcclSizes;
  bool corrects_nvls_tree = false;  // on Blackwell with x86 CPUs
};

/// The row that holds for a version; before 2.17, the row of 2.17.
[[nodiscard]] const NcclConstants& nccl_constants(const NcclVersion& version);

/// Most that LL carries, GB/s. Within one host the GPU decides, between hosts the CPU.
[[nodiscard]] double nccl_ll_ceiling(NcclGeneration generation, bool amd_cpu, std::uint32_t hosts);

/// The share of NVLink switch bandwidth that the selector credits NVLS with; 0: none.
[[nodiscard]] double nccl_nvls_efficiency(NcclGeneration generation);

/// Factor on a tree's bandwidth for a message of 64 B x 2^index.
[[nodiscard]] double nccl_tree_correction(Protocol protocol, std::size_t index);

/// Speeds per channel that the search tries, GB/s, fastest first.
[[nodiscard]] std::span<const double> nccl_intra_speeds(int compute_capability);
[[nodiscard]] std::span<const double> nccl_inter_speeds(int compute_capability);

/// What NCCL reckons with of a nominal NVLink or PCIe rate.
[[nodiscard]] double nccl_nvlink_share(int compute_capability);
[[nodiscard]] double nccl_pcie_share();
/// One NVLink, GB/s as NCCL reckons.
[[nodiscard]] double nccl_nvlink_GBps(int compute_capability);

}  // namespace busbar
