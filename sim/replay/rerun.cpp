#include "sim/replay/rerun.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "sim/base/digest.h"
#include "sim/base/worker_pool.h"
#include "sim/replay/step_figures.h"

namespace busbar {

Rerun::Rerun(const Topology& topology, const StepTrace& trace, const Profile& profile,
             const SimOptions& options)
    : topology_(&topology),
      trace_(&trace),
      given_(profile),
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
  return std::make_unique<Replay>(*topology_, *trace_, profile_,
                                  ReplayOptions{.overrides = options_.overrides,
                                                .symmetry = options_.symmetry,
                                                .apart = {},
                                                .scales = scales,
                                                .ends_only = true});
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
  restore_profile();
  replay_->rescale(scales);
  if (is_like_base(scales)) return base_.time;
  replay_->reset();
  const Time time = run(*replay_);
  return replay_->implied_held() ? time : run(*build(scales));
}

// The replay borrows the profile: its numbers change where they lie.
Time Rerun::step_time(const Profile& profile) {
  replay_->rescale({});
  profile_ = with_shares_of(*trace_, profile);
  has_other_numbers_ = true;
  replay_->profile_changed();
  replay_->reset();
  const Time time = run(*replay_);
  return replay_->implied_held() ? time : run(*build({}));
}

void Rerun::restore_profile() {
  if (!has_other_numbers_) return;
  profile_ = with_shares_of(*trace_, given_);
  replay_->profile_changed();
  has_other_numbers_ = false;
}

std::vector<Time> step_times(const Topology& topology, const StepTrace& trace, const SimOptions& options,
                             std::span<const Profile> profiles, std::size_t threads) {
  std::vector<Time> times(profiles.size());
  if (profiles.empty()) return times;
  std::vector<std::size_t> order(std::clamp<std::size_t>(threads, 1, profiles.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::atomic<std::size_t> next{0};
  run_jobs(order, order.size(), [&](std::size_t) {
    Rerun rerun(topology, trace, profiles.front(), options);
    for (std::size_t p = next++; p < profiles.size(); p = next++) times[p] = rerun.step_time(profiles[p]);
  });
  return times;
}

Rerun::Chosen Rerun::chosen_anew(const Scales& scales) {
  restore_profile();
  const std::unique_ptr<Replay> replay = build(scales);
  Chosen chosen{run(*replay), 0};
  for (const OperationRecord& r : replay->plans().records())
    for (const std::uint64_t part :
         {fnv1a(r.algorithm), fnv1a(r.protocol), static_cast<std::uint64_t>(r.channels)})
      chosen.choices = mix(chosen.choices, part);
  return chosen;
}

RunResult Rerun::result(const Scales& scales) const {
  return simulate(
      *topology_, *trace_, given_,
      {.overrides = options_.overrides, .symmetry = options_.symmetry, .calls = {}, .scales = scales});
}

}  // namespace busbar
