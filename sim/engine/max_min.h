// Max-min fair rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/strand.h"

namespace busbar {

/// A strand as the solver sees it. `rate` is the result, in bytes/s per flow (infinite with no resource and
/// no cap).
struct MaxMinEntry {
  std::span<const ResourceUse> usage;
  std::int64_t multiplicity = 1;
  double cap = 0;
  double rate = 0;
};

/// Max-min fair rates by progressive filling: all rates rise together; a strand stops at its cap or when a
/// resource that it uses is full. Shapes:   capacity[resource] in bytes/s; usage in fixed-point flows
/// (kOneFlow = 1). Requires: capacities > 0; caps > 0; no resource twice in one usage.     Throws: nothing.
/// Exact:    sums per resource are integers and the residual falls once per level, so that the result does
/// not depend
///           on the order of the entries, and equal situations give equal bits.
/// Cost:     O(non-zeros + resources x log), for the entries given; not for all resources.
/// Not modelled: round-trip-time bias.
/// Source:   Bertsekas & Gallager, Data Networks, 2nd ed., section 6.5.2.
class MaxMinSolver {
 public:
  explicit MaxMinSolver(std::vector<double> capacity);
  /// Borrows it.
  explicit MaxMinSolver(std::span<const double> capacity);
  MaxMinSolver(MaxMinSolver&&) = default;
  MaxMinSolver& operator=(MaxMinSolver&&) = default;
  [[nodiscard]] std::span<const double> capacity() const { return capacity_; }
  /// Sets every entry's rate. Afterwards `loads()` lists each resource touched and what it carries.
  void solve(std::span<MaxMinEntry> entries);

  struct Load {
    std::uint32_t resource = 0;
    double bytes_per_second = 0;
    bool full = false;  // it stopped at least one strand
  };
  [[nodiscard]] std::span<const Load> loads() const { return loads_; }
  /// The resource that stopped entry i of the last solve (several: the lowest id), or kNone where its cap
  /// did.
  static constexpr std::uint32_t kNone = 0xffffffffU;
  [[nodiscard]] std::uint32_t bottleneck(std::size_t entry) const { return bottleneck_[entry]; }

 private:
  struct Node {  // one resource of the current problem
    std::uint32_t resource = 0;
    double residual = 0;    // capacity (x kOneFlow) less what frozen strands take
    std::int64_t live = 0;  // flows of strands that still rise
    std::int64_t freezing = 0;
    std::uint32_t first = 0;  // its entries in `users_`
    std::uint32_t last = 0;
    bool full = false;
  };
  struct Level {
    double level;
    std::uint32_t node;
  };

  void solve_one(MaxMinEntry& entry);
  void gather(std::span<const MaxMinEntry> entries);
  void fill(std::span<MaxMinEntry> entries);
  void push_level(std::uint32_t node, double at_least);
  [[nodiscard]] double next_resource_level();
  void saturate(std::span<MaxMinEntry> entries, double level);
  void freeze(std::span<MaxMinEntry> entries, std::uint32_t entry, double level, std::uint32_t by);
  void settle_level(double level);
  void record_loads();

  std::vector<double> own_capacity_;  // empty: it is borrowed
  std::span<const double> capacity_;
  std::vector<std::uint32_t> node_of_;  // resource -> node of the current problem, kNone between problems
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> users_;  // CSR: node -> entries
  std::vector<Level> heap_;           // candidate saturation levels; stale ones are dropped
  std::vector<std::uint32_t> by_cap_;
  std::vector<std::uint32_t> touched_;  // nodes whose flows froze at this level
  std::vector<std::uint32_t> bottleneck_;
  std::vector<bool> frozen_;
  std::vector<Load> loads_;
};

}  // namespace busbar
