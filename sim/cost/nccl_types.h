// What NCCL's choice is made of: its algorithms and protocols, its version, and what a user may force.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// NCCL's wire protocols, and "ideal": none.
enum class Protocol : std::uint8_t { kLl, kLl128, kSimple, kIdeal };
inline constexpr std::size_t kNcclProtocols = 3;
[[nodiscard]] std::string_view name_of(Protocol protocol);
[[nodiscard]] bool parse_protocol(std::string_view name, Protocol& out);

/// In the order of NCCL's table. Their names are those of the algorithm table: "tree", "ring",
/// "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat".
enum class NcclAlgorithm : std::uint8_t {
  kTree,
  kRing,
  kCollNetDirect,
  kCollNetChain,
  kNvls,
  kNvlsTree,
  kPat
};
inline constexpr std::size_t kNcclAlgorithms = 7;
[[nodiscard]] std::string_view name_of(NcclAlgorithm algorithm);
/// Accepts NCCL's own spellings too ("NVLSTree", "nvls_tree", "COLLNET_DIRECT").
[[nodiscard]] bool parse_nccl_algorithm(std::string_view name, NcclAlgorithm& out);

/// "2.27.3". Versions order as numbers.
struct NcclVersion {
  int major = 2, minor = 30, patch = 0;
  auto operator<=>(const NcclVersion&) const = default;
};
[[nodiscard]] std::string to_text(const NcclVersion& version);
/// "2.27", "2.27.3", "v2.27.3-1"; nullopt for other text.
[[nodiscard]] std::optional<NcclVersion> parse_nccl_version(std::string_view text);

/// A set of enabled columns or rows of the table, per collective.
template <std::size_t N>
using EnabledSet = std::array<bool, N>;

/// One rule of a tuner plugin's CSV file; the first that matches wins. Source: NVIDIA/nccl ext-tuner/example.
struct TunerRule {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes least, most;  // NCCL's size, both ends included
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  std::optional<std::int64_t> channels;
  std::optional<std::uint32_t> hosts, ranks;  // absent: any
};

/// One cell of NCCL's table: its estimate is latency + bytes / bandwidth. Bandwidth 0: not available.
struct NcclCell {
  double latency_us = 0;
  double bandwidth_GBps = 0;
};
using NcclCells = std::array<std::array<NcclCell, kNcclProtocols>, kNcclAlgorithms>;

/// The table of one collective as an NCCL_DEBUG log printed it.
struct LoggedTable {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  NcclCells cells;
};

/// One "AllReduce: B Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={a..b}" line. `bytes` is count x element
/// size as NCCL prints it, without the factor n of gathers.
struct LoggedCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  std::optional<std::int64_t> channels;
};

/// What an NCCL_DEBUG=INFO log says of one communicator, for use instead of the computed table.
struct NcclLog {
  std::optional<NcclVersion> version;
  std::uint32_t ranks = 0, hosts = 0;  // 0: the log does not say
  std::optional<std::int64_t> channels, nvls_channels, p2p_channels, p2p_channels_per_peer;
  std::vector<LoggedTable> tables;
  std::vector<LoggedCall> calls;
};

/// NCCL_* variables that change a choice or a time, from --env FILE. Absent: NCCL's default.
/// Source: NVIDIA/nccl v2.28.9, NCCL_PARAM and ncclGetEnv uses.
struct NcclSettings {
  // NCCL_ALGO, NCCL_PROTO ("ring,tree", "^nvls", "allreduce:tree;broadcast:ring"): by collective; absent:
  // all.
  std::array<std::optional<EnabledSet<kNcclAlgorithms>>, kCollectiveKinds> algorithms;
  std::array<std::optional<EnabledSet<kNcclProtocols>>, kCollectiveKinds> protocols;
  std::optional<std::int64_t> min_channels, max_channels;          // NCCL_MIN/MAX_NCHANNELS, _CTAS
  std::optional<std::int64_t> min_p2p_channels, max_p2p_channels;  // NCCL_MIN/MAX_P2P_NCHANNELS
  std::optional<std::int64_t> nvls_channels;                       // NCCL_NVLS_NCHANNELS
  std::optional<std::int64_t> channels_per_net_peer;               // NCCL_NCHANNELS_PER_NET_PEER
  std::optional<bool> nvls;                                        // NCCL_NVLS_ENABLE
  std::optional<bool> collnet;                                     // NCCL_COLLNET_ENABLE
  std::optional<bool> pxn;                                         // NCCL_PXN_DISABLE, inverted
  std::optional<bool> p2p;                                         // NCCL_P2P_DISABLE, inverted
  std::optional<bool> gpu_direct_rdma;                             // NCCL_NET_GDR_LEVEL: LOC or 0 is false
  std::optional<int> cross_nic;                                    // NCCL_CROSS_NIC: 0, 1, 2
  std::optional<std::int64_t> buffer_bytes;                        // NCCL_BUFFSIZE
  std::optional<std::int64_t> nvls_chunk_bytes;                    // NCCL_NVLS_CHUNKSIZE
  std::optional<std::int64_t> p2p_net_chunk_bytes;                 // NCCL_P2P_NET_CHUNKSIZE
  std::optional<std::int64_t> p2p_nvl_chunk_bytes;                 // NCCL_P2P_NVL_CHUNKSIZE
  std::optional<std::int64_t> p2p_pci_chunk_bytes;                 // NCCL_P2P_PCI_CHUNKSIZE
  std::optional<std::int64_t> threads, ll128_threads;              // NCCL_NTHREADS, NCCL_LL128_NTHREADS
  std::optional<double> net_overhead_ns;                           // NCCL_NET_OVERHEAD
  std::vector<TunerRule> tuner;                                    // --tuner FILE
  std::optional<NcclLog> log;                                      // --nccl-log FILE
  NcclVersion version;                                             // --nccl-version
};

}  // namespace busbar
