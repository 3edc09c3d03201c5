// NCCL's search for channels: how many at which speed, from a group's hardware.
#pragma once

#include <cstdint>

#include "sim/base/group_routes.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// One searched graph: channels, and what one of them is good for inside a host and between hosts.
struct NcclGraph {
  std::int64_t channels = 0;  // 0: there is none
  double intra_GBps = 0;
  double inter_GBps = 0;
  bool same_channels = true;  // every channel visits the GPUs in one order
};

struct NcclGraphs {
  NcclGraph ring, tree, nvls, collnet_chain, collnet_direct;
  std::int64_t channels = 1;       // of the communicator: ring and tree
  std::int64_t nvls_channels = 0;  // 0: no NVLS
  std::int64_t p2p_channels = 1;
  std::int64_t p2p_channels_per_peer = 1;
};

/// Requires: facts.ranks >= 1. One rank: a ring of one channel.
/// Source: NVIDIA/nccl src/graph/search.cc (candidate speeds, duplication), src/graph/connect.cc (doubling),
/// src/enqueue.cc and src/graph/paths.cc (P2P channels), v2.28.9.
[[nodiscard]] NcclGraphs nccl_graphs(const GroupFacts& facts, const NcclSettings& settings);

/// The log in `settings` if it speaks of such a group (as many ranks and hosts, where it says), else nullptr.
[[nodiscard]] const NcclLog* nccl_log_of(const GroupFacts& facts, const NcclSettings& settings);

}  // namespace busbar
