// The same step again and again on a machine whose parts are faster or slower: for sensitivities and solves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/replay/replay.h"
#include "sim/replay/simulate.h"

namespace busbar {

/// Routes, plans and classes of ranks are found once; a step time costs the events of one replay. They are
/// found anew only where a link that was taken not to bind does; nothing is replayed where factors change no
/// plan, kernel or launch, and only links that are never full. Borrows topology and trace. Not thread-safe.
class Rerun {
 public:
  /// Of `options`, overrides and symmetry count. Errors: those of `simulate`.
  Rerun(const Topology& topology, const StepTrace& trace, const Profile& profile, const SimOptions& options);
  /// Exactly what `simulate` would give on a machine with these factors and the same choices.
  /// Errors: those of `simulate`, a time beyond the range.
  [[nodiscard]] Time step_time(const Scales& scales = {});
  /// The same as described, by a profile that differs from the first in numbers alone, such as a draw of it.
  [[nodiscard]] Time step_time(const Profile& profile);
  /// On a machine whose NICs are known to be as fast as the factors make them, where a library may choose
  /// otherwise: exactly what `simulate` gives for a topology with such NICs. Everything is found anew.
  struct Chosen {
    Time time;
    std::uint64_t choices = 0;  // equal prints: algorithms, protocols and channels are the same
  };
  [[nodiscard]] Chosen chosen_anew(const Scales& scales);
  /// All that `simulate` says under these factors.
  [[nodiscard]] RunResult result(const Scales& scales) const;
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
  void restore_profile();
  [[nodiscard]] bool is_like_base(const Scales& scales) const;

  const Topology* topology_;
  const StepTrace* trace_;
  Profile given_, profile_;  // as given, and with the trace's shares
  SimOptions options_;
  bool has_other_numbers_ = false;
  std::uint64_t builds_ = 0, runs_ = 0;
  std::unique_ptr<Replay> replay_;  // of scales at which links are implied as they are without
  Base base_;
};

/// Step times by such profiles, on up to `threads` threads, each with a machine of its own.
[[nodiscard]] std::vector<Time> step_times(const Topology& topology, const StepTrace& trace,
                                           const SimOptions& options, std::span<const Profile> profiles,
                                           std::size_t threads);

}  // namespace busbar
