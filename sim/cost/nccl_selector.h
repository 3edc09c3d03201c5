// NCCL's own choice of protocol and channels for rings. It decides; it never stands in for the time.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/cost/profile.h"

namespace busbar {

/// The searched graph: channels at a speed each (GB/s), and the channels of the communicator after NCCL
/// doubles them.
struct RingGraph {
  std::int64_t channels = 1;
  double speed_GBps = 0;
  std::int64_t communicator_channels = 2;
};

/// Source: NVIDIA/nccl src/graph/search.cc v2.28.9 (candidate speeds, duplication), connect.cc (doubling).
[[nodiscard]] RingGraph ring_graph(const GroupRoutes& routes, const Generation& generation);

/// NCCL's estimate in microseconds for LL, LL128 and Simple on a ring; infinity where it is not allowed.
/// Source: NVIDIA/nccl src/graph/tuning.cc v2.28.9.
[[nodiscard]] std::array<double, kNcclProtocols> ring_table(CollectiveKind kind, Bytes bytes,
                                                            const GroupRoutes& routes,
                                                            const Generation& generation);

/// The protocol with the least estimate (ties: the earlier one).
[[nodiscard]] Protocol choose_ring_protocol(CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                                            const Generation& generation);

}  // namespace busbar
