// A plan with the machine to itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.h"
#include "sim/collectives/plan.h"
#include "sim/engine/max_min.h"

namespace busbar {

struct LoneRun {
  Time transfer;                                   // until the last strand ends
  std::size_t last = 0;                            // that strand
  std::uint32_t bottleneck = MaxMinSolver::kNone;  // what held it at its end
  std::vector<double> peaks;                       // by link, share of its capacity
};

/// Strands together. capacity[link] in bytes/s.
[[nodiscard]] LoneRun run_alone(std::span<const Strand> strands, std::span<const double> capacity);
/// Phase by phase; what held the longest one counts. Latencies and the tail are left out.
[[nodiscard]] LoneRun run_alone(const Plan& plan, std::span<const double> capacity);

/// `run_alone(plan, capacity).transfer`, at the cost of the links that the plan uses, not of all that there
/// are: for fits, which ask for a thousand times of small groups on large machines.
[[nodiscard]] Time transfer_alone(const Plan& plan, std::span<const double> capacity);

}  // namespace busbar
