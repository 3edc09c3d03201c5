// NCCL's own table of latencies and bandwidths, by which it chooses. It decides; it never stands in for time.
#pragma once

#include <cstdint>

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/cost/nccl_graphs.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

/// All that the choice for one collective on one group depends on, besides the size.
struct NcclTable {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  NcclCells cells;
  NcclGraphs graphs;
  bool logged = false;  // the cells are those of a log
};

/// What made NCCL's choice, besides the table.
enum class NcclDecider : std::uint8_t { kEstimates, kTunerRule, kLoggedCall };

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  std::int64_t channels = 1;  // before they shrink for small sizes
  double estimate_us = 0;
  NcclDecider decider = NcclDecider::kEstimates;
};

/// Latencies and bandwidths by algorithm and protocol; what settings, version or hardware rule out is 0.
/// A logged table in `settings` replaces the computed one.
/// Requires: a kind that NCCL prices (all_reduce, all_gather, reduce_scatter, broadcast, reduce; a barrier
/// is an all_reduce).
/// Source: NVIDIA/nccl src/graph/tuning.cc, v2.17 to v2.30.7.
[[nodiscard]] NcclTable nccl_table(CollectiveKind kind, DataType type, const GroupFacts& facts,
                                   const NcclSettings& settings);

/// NCCL's estimate of one cell for a message of `bytes` (NCCL's size: the full buffer); infinity where it is
/// not available.
[[nodiscard]] double nccl_estimate_us(const NcclTable& table, NcclAlgorithm algorithm, Protocol protocol,
                                      Bytes bytes, const GroupFacts& facts, const NcclSettings& settings);

/// The cell with the least estimate (ties: the earlier one in table order); before that, a logged call of
/// this kind and size, then the first tuner rule that matches an available cell.
/// Requires: at least one available cell (the ring always is, unless settings exclude it).
/// Errors (Error, kInput): the settings leave none.
[[nodiscard]] NcclChoice nccl_choose(const NcclTable& table, Bytes bytes, const GroupFacts& facts,
                                     const NcclSettings& settings);

/// Channels that NCCL launches for a message: fewer for small ones (ring and tree).
/// Source: NVIDIA/nccl src/enqueue.cc, v2.28.9.
[[nodiscard]] std::int64_t nccl_launched_channels(const NcclChoice& choice, Bytes bytes,
                                                  const GroupFacts& facts);

}  // namespace busbar
