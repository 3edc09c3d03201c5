// The same step again and again on a machine whose parts are faster or slower: for sensitivities and solves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/replay/replay.h"
#include "sim/replay/simulate.h"

namespace busbar {

/// Routes, plans and classes of ranks are found once; a step time costs the events of one replay. They are
/// found anew only where a link that never bound could bind; nothing is replayed where factors change no
/// plan, kernel or launch, and only links that are never full. Borrows topology and trace. Not thread-safe.
class Rerun {
 public:
  /// Of `options`, overrides and symmetry count. Errors: those of `simulate`.
  Rerun(const Topology& topology, const StepTrace& trace, const Profile& profile, const SimOptions& options);
  /// Exactly what `simulate` would give on a machine with these factors and the same choices.
  /// Errors: those of `simulate`, a time beyond the range.
  [[nodiscard]] Time step_time(const Scales& scales = {});
  /// How often everything was found anew, the first time included.
  [[nodiscard]] std::uint64_t builds() const { return builds_; }
  /// How many replays were run.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

 private:
  /// Of the step without factors.
  struct Base {
    Time time;
    std::uint64_t plans = 0;
    std::vector<double> capacity, peak_Bps;  // by link
  };
  [[nodiscard]] std::unique_ptr<Replay> build(const Scales& scales);
  [[nodiscard]] Time run(Replay& replay);
  [[nodiscard]] bool is_like_base(const Scales& scales) const;

  const Topology* topology_;
  const StepTrace* trace_;
  Profile profile_;
  SimOptions options_;
  std::uint64_t builds_ = 0, runs_ = 0;
  std::unique_ptr<Replay> replay_;  // of scales at which links are implied as they are without
  Base base_;
};

}  // namespace busbar
