// A collective message by message, on the same solver as everything else: the slow obvious twin of plan().
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/group_routes.h"
#include "sim/collectives/plan.h"
#include "sim/collectives/schedule.h"
#include "sim/replay/placement.h"
#include "sim/replay/plan_cache.h"

namespace busbar {

/// One schedule under way beside others (the channels of a ring run side by side).
struct ChunkLane {
  Schedule schedule;
  double chunk_bytes = 0;
  std::int64_t multiplicity = 1;  // identical lanes that this one stands for
  Bandwidth cap = Bandwidth::unlimited();
  std::map<std::pair<std::uint32_t, std::uint32_t>, PairRoute> routes;  // by sender and receiver
};

/// The time until every send of every lane has arrived. A send starts when what it waits for has arrived and
/// the sends before it on the same connection have left; it takes the hop's latency after its bytes have
/// left. Requires: every pair of the schedules has a route. Cost: O(sends) events, each with a solve of the
/// links that it shares: for small groups.
[[nodiscard]] Time execute_chunks(std::span<const ChunkLane> lanes, const std::vector<double>& capacities,
                                  const PlanCosts& costs);

/// A planned operation run that way, on the idle machine: its base, its messages, and the closing copy of a
/// ring. Errors (Error, kInput): over 64 ranks, or over 200,000 messages. Agrees with the plan exactly where
/// nothing but the schedule decides (the ideal profile, one kind of hop); otherwise within the latency of the
/// hops of one lap plus one chunk per hop, which a plan takes as a coupled pipeline.
[[nodiscard]] Time chunk_time(const PlanCache::Detail& detail, Bytes bytes, Placement& placement);

}  // namespace busbar
