// A plan with the machine to itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

/// `run_alone(plan, capacity).transfer` again and again, at the cost of the links that hold different
/// strands, not of all that there are: for fits, which ask for a thousand times of small groups on large
/// machines. Usages are known by their address: plans borrow them from routes that stay.
class TransferTimes {
 public:
  /// sort_of[link], always the same; capacity[sort] in bytes/s.
  [[nodiscard]] Time alone(const Plan& plan, std::span<const std::uint32_t> sort_of,
                           std::span<const double> capacity);

 private:
  /// Strands of one phase: links that hold the same strands by as much are one, as wide as the narrowest.
  struct Shape {
    std::vector<std::vector<ResourceUse>> uses;     // by strand, of links by number
    std::vector<std::vector<std::uint32_t>> sorts;  // by number, each once
  };
  [[nodiscard]] Time phase_alone(std::span<const Strand> phase, std::span<const std::uint32_t> sort_of,
                                 std::span<const double> capacity);
  [[nodiscard]] static Shape shape_of(std::span<const Strand> strands,
                                      std::span<const std::uint32_t> sort_of);
  std::map<std::vector<const ResourceUse*>, Shape> shapes_;
};

}  // namespace busbar
