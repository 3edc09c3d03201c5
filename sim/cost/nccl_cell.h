// The parts of one cell of NCCL's table: whether it exists, its latency, its bandwidth.
#pragma once

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/cost/nccl_constants.h"
#include "sim/cost/nccl_graphs.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// What a cell depends on, besides its algorithm and protocol. Borrows; lives as long as one table is made.
struct NcclCellFacts {
  CollectiveKind kind;  // no barrier
  const GroupFacts& facts;
  const NcclSettings& settings;
  const NcclGraphs& graphs;
  const NcclConstants& constants;
  NcclGeneration generation;
};

/// All_gather or reduce_scatter.
[[nodiscard]] bool nccl_is_gather(CollectiveKind kind);

/// NCCL_ALGO and NCCL_PROTO do not rule the pair out for this kind.
[[nodiscard]] bool nccl_allowed(NcclAlgorithm algorithm, Protocol protocol, CollectiveKind kind,
                                const NcclSettings& settings);

/// Version, hardware and settings have the pair.
[[nodiscard]] bool nccl_available(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p);

/// Of an available pair. Bandwidth is the algorithm's: message size over time.
/// Source: NVIDIA/nccl src/graph/tuning.cc v2.17 to v2.30.7.
[[nodiscard]] double nccl_latency_us(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p);
[[nodiscard]] double nccl_bandwidth_GBps(NcclAlgorithm algorithm, Protocol protocol, const NcclCellFacts& p);

}  // namespace busbar
