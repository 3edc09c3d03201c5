// The half-bandwidth size of an operation on its group, and the messages of a step that are below it.
#pragma once

#include <optional>
#include <vector>

#include "sim/replay/replay.h"

namespace busbar {

/// Seconds that a plan takes alone on resources of `solver`'s capacities: latency, its strands sharing what
/// they use, tail.   Cost: one solve per distinct ending of its strands.
[[nodiscard]] double lone_seconds(const Plan& plan, MaxMinSolver& solver);

/// The smallest size at which `record`'s operation reaches half of the busbw that it has at very large sizes,
/// to 0.05 %. Each size is planned as the step would: with its own protocol and channels.
///     busbw(S) is proportional to S / T(S):   S / T(S) >= (S' / T(S')) / 2,   S' = 1 TiB.
/// The "n 1/2" of Hockney, Parallel Computing 17, 1991.
/// none: `record.bytes` is at or above it.
[[nodiscard]] std::optional<Bytes> half_bandwidth_above(const OperationRecord& record, PlanCache& plans,
                                                        MaxMinSolver& solver);

/// busbw of `record`'s operation with the machine to itself; 0: no other way to run it is planned (it moves
/// nothing, or has one rank).
[[nodiscard]] double attainable_busbw(const OperationRecord& record, PlanCache& plans, MaxMinSolver& solver);

/// One sentence per operation and group of which some messages are below that size: always for DDP's buckets,
/// for others where they take more than 1 % of the step.
[[nodiscard]] std::vector<Warning> small_message_warnings(Replay& replay, Time step);

}  // namespace busbar
