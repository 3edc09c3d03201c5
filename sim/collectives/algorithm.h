// THE table of collective algorithms.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/collectives/plan.h"
#include "sim/collectives/schedule.h"

namespace busbar {

/// One algorithm for one operation, in one file.
struct Algorithm {
  std::string_view name;  // "ring"
  CollectiveKind kind;
  std::string_view help;
  Schedule (*schedule)(std::uint32_t ranks);  // the steps, for small groups
  Plan (*plan)(const PlanRequest&);           // the time, linear in ranks
};

[[nodiscard]] std::span<const Algorithm> algorithms();
/// nullptr when the table has no such row.
[[nodiscard]] const Algorithm* find_algorithm(CollectiveKind kind, std::string_view name);

// The rows' functions, one file each.
[[nodiscard]] Schedule all_reduce_ring_schedule(std::uint32_t ranks);
[[nodiscard]] Plan all_reduce_ring_plan(const PlanRequest& request);
[[nodiscard]] Schedule all_gather_ring_schedule(std::uint32_t ranks);
[[nodiscard]] Plan all_gather_ring_plan(const PlanRequest& request);
[[nodiscard]] Schedule reduce_scatter_ring_schedule(std::uint32_t ranks);
[[nodiscard]] Plan reduce_scatter_ring_plan(const PlanRequest& request);
[[nodiscard]] Schedule send_recv_schedule(std::uint32_t ranks);
[[nodiscard]] Plan send_recv_plan(const PlanRequest& request);
[[nodiscard]] Schedule barrier_ring_schedule(std::uint32_t ranks);
[[nodiscard]] Plan barrier_ring_plan(const PlanRequest& request);

/// Building block: appends `steps` rounds in which rank i sends chunk (first + i - round) mod n to rank i
/// + 1.
void append_ring_rounds(Schedule& schedule, std::uint32_t first_chunk, std::uint32_t steps, bool reduce);

}  // namespace busbar
