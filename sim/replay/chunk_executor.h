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

}  // namespace busbar
