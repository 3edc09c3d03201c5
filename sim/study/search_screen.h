// Closed forms for a layout's step: an estimate to rank by, and a bound that no simulation goes below.
#pragma once

#include "sim/base/units.h"
#include "sim/study/search_layers.h"
#include "sim/study/search_memory.h"

namespace busbar {

struct Screened {
  double expected_s = 0;
  double least_s = 0;
  MemoryUse memory;  // of the fullest stage
};

/// Of one machine and job. Borrows topology and profile. Safe to use from several threads; what it returns
/// does not depend on their number.
class Screener {
 public:
  Screener(const Workload& base, const Topology& topology, const Profile& profile);
  Screener(const Screener&) = delete;
  Screener& operator=(const Screener&) = delete;
  [[nodiscard]] MemoryUse memory(const Candidate& candidate);
  /// Expected (docs/planning.md has the derivation), for stages s of m microbatches:
  ///   sum over s of (F + B) + (m - 1) max over s of (F + B), less what schedules with several chunks or with
  ///   weight gradients apart fill, plus what the data-parallel exchanges do not hide, plus the optimizer.
  /// Least: for each stage, F of the stages before it, its own m passes, B of those stages, the optimizer;
  /// collectives as on an idle machine, the data-parallel ones where nothing can hide them.
  [[nodiscard]] Screened screen(const Candidate& candidate);

 private:
  const Workload base_;
  CollectiveTimes collectives_;
  LayerTimes layers_;
  LayerSizes sizes_;
};

}  // namespace busbar
