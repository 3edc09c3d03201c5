#include "sim/replay/rerun.h"

#include <algorithm>

#include "sim/replay/step_figures.h"

namespace busbar {

Rerun::Rerun(const Topology& topology, const StepTrace& trace, const Profile& profile,
             const SimOptions& options)
    : topology_(&topology),
      trace_(&trace),
      profile_(with_shares_of(trace, profile)),
      options_(options),
      replay_(build({})) {
  base_.time = run(*replay_);
  base_.plans = replay_->plans_print();
  base_.capacity = replay_->placement().capacities();
  for (const ResourceTotals& t : replay_->strands().totals()) base_.peak_Bps.push_back(t.peak_share);
  for (std::size_t l = 0; l < base_.peak_Bps.size(); ++l) base_.peak_Bps[l] *= base_.capacity[l];
}

std::unique_ptr<Replay> Rerun::build(const Scales& scales) {
  ++builds_;
  return std::make_unique<Replay>(
      *topology_, *trace_, profile_,
      ReplayOptions{
          .overrides = options_.overrides, .symmetry = options_.symmetry, .apart = {}, .scales = scales});
}

Time Rerun::run(Replay& replay) {
  ++runs_;
  replay.run();
  Time step;
  for (const RankState& rank : replay.ranks()) step = std::max(step, rank.end - rank.begin);
  return step;
}

// A link that is never full, before and after, holds nothing back: rates are what they were.
bool Rerun::is_like_base(const Scales& scales) const {
  constexpr double kNeverFull = 1 - 1e-9;  // what rounding makes of full
  if (scales.compute != 1 || (scales.memory != 1 && replay_->uses_memory()) ||
      (scales.launch != 1 && replay_->has_launches()) || replay_->plans_print() != base_.plans)
    return false;
  const std::vector<double>& capacity = replay_->placement().capacities();
  for (std::size_t l = 0; l < capacity.size(); ++l)
    if (capacity[l] != base_.capacity[l] &&
        base_.peak_Bps[l] > kNeverFull * std::min(capacity[l], base_.capacity[l]))
      return false;
  return true;
}

Time Rerun::step_time(const Scales& scales) {
  if (!replay_->rescale(scales)) return run(*build(scales));
  if (is_like_base(scales)) return base_.time;
  replay_->reset();
  return run(*replay_);
}

}  // namespace busbar
