// Exact accounting of each rank's time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// What a rank does at an instant, by precedence: a kernel runs; a transfer is under way; it waits for a
/// member of a collective; it waits for a pipeline peer; none.
enum class Activity : std::uint8_t { kIdle, kBubble, kStraggler, kExposed, kCompute };

/// Counts per rank, and the time spent in each activity. Every picosecond falls into exactly one.
class Exposure {
 public:
  Exposure(std::size_t ranks, std::size_t group_kinds)
      : kinds_(group_kinds), ranks_(ranks), exposed_(ranks * group_kinds) {}

  struct Counts {
    std::int32_t kernels = 0, transfers = 0, collective_waits = 0, peer_waits = 0;
  };
  struct Totals {
    Time compute, exposed, bubble, straggler, idle, communication;
  };

  /// Attributes the time since the last change to what the rank was doing, then applies `change`.
  /// `blame`: the group kind of the earliest transfer under way; its exposed time is returned.
  Time advance(std::uint32_t rank, Time now, std::uint32_t blame) {
    Rank& r = ranks_[rank];
    const Time elapsed = now - r.since;
    r.since = now;
    if (r.counts.transfers > 0) r.totals.communication += elapsed;
    switch (activity(r.counts)) {
      case Activity::kCompute:
        r.totals.compute += elapsed;
        return {};
      case Activity::kExposed:
        r.totals.exposed += elapsed;
        exposed_[rank * kinds_ + blame] += elapsed;
        return elapsed;
      case Activity::kStraggler:
        r.totals.straggler += elapsed;
        return {};
      case Activity::kBubble:
        r.totals.bubble += elapsed;
        return {};
      case Activity::kIdle:
        r.totals.idle += elapsed;
        return {};
    }
    return {};
  }
  /// Forgets what a rank has spent so far.
  void restart(std::uint32_t rank) {
    ranks_[rank].totals = {};
    std::fill_n(exposed_.begin() + static_cast<std::ptrdiff_t>(rank * kinds_), kinds_, Time::zero());
  }
  [[nodiscard]] Counts& counts(std::uint32_t rank) { return ranks_[rank].counts; }
  [[nodiscard]] Time since(std::uint32_t rank) const { return ranks_[rank].since; }
  [[nodiscard]] const Totals& totals(std::uint32_t rank) const { return ranks_[rank].totals; }
  [[nodiscard]] Time exposed(std::uint32_t rank, std::uint32_t kind) const {
    return exposed_[rank * kinds_ + kind];
  }

  [[nodiscard]] static Activity activity(const Counts& c) {
    if (c.kernels > 0) return Activity::kCompute;
    if (c.transfers > 0) return Activity::kExposed;
    if (c.collective_waits > 0) return Activity::kStraggler;
    if (c.peer_waits > 0) return Activity::kBubble;
    return Activity::kIdle;
  }

 private:
  struct Rank {
    Counts counts;
    Totals totals;
    Time since;
  };
  std::size_t kinds_;
  std::vector<Rank> ranks_;
  std::vector<Time> exposed_;
};

}  // namespace busbar
