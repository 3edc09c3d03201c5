// The measuring loop: points, batches, medians, the clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/run/run_settings.h"
#include "calibrate/run/runner.h"
#include "calibrate/run/sweep_plan.h"

namespace busbar {

/// Medians over batches of the maximum over ranks, and their spread.
struct TimeSpread {
  double median_s = 0, p10_s = 0, p90_s = 0;
};

/// A point that was measured.
struct PointTimes {
  SweepPoint point;
  TimeSpread back_to_back;
  std::optional<TimeSpread> isolated;
};

struct SweepProgress {
  std::size_t done = 0, points = 0;
  double elapsed_s = 0, left_s = 0;  // left: an estimate, never more than the budget's rest
  std::string now;                   // the point being measured
};

/// What the leader does beside measuring; the other processes leave all of it empty.
struct SweepHooks {
  std::function<double()> clock;                     // seconds since the run began
  std::function<void(const PointTimes&)> save;       // called as each point is measured
  std::function<void(const SweepProgress&)> report;  // before each point
  std::vector<std::string> done;                     // keys of points that need no measuring
};

struct SweepEnd {
  std::size_t measured = 0, skipped = 0, left = 0;  // left: for want of time
};

/// Measures one point: the first use is discarded, a second one sizes the batches, the medians count.
[[nodiscard]] PointTimes measure_point(const SweepPoint& point, const RunSettings& settings, Runner& runner);

/// Measures what `plan_sweep` lists. Before each point the leader looks at the clock: points that would not
/// end within the budget, judging by those measured, are left out, and cheaper ones after them still taken.
[[nodiscard]] SweepEnd run_sweep(const RunSettings& settings, Runner& runner, const SweepHooks& hooks);

}  // namespace busbar
