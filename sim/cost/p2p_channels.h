// NCCL's grouped sends and receives: how many channels a message uses.
#pragma once

#include <cstdint>

#include "sim/base/group_routes.h"
#include "sim/cost/nccl_graphs.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// Channels of one message to one peer: enough that no part is below the least part, then twice as many while
/// a part is above the largest.
/// Source: NVIDIA/nccl src/enqueue.cc (addP2pToPlan) v2.28.9.
[[nodiscard]] std::int64_t p2p_channels(Bytes message, const GroupFacts& facts, const NcclGraphs& graphs,
                                        const NcclSettings& settings);

}  // namespace busbar
