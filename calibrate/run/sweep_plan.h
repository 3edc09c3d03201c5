// Which points a run measures, the most informative first.
#pragma once

#include <string>
#include <vector>

#include "calibrate/run/run_settings.h"
#include "calibrate/run/runner.h"

namespace busbar {

/// One operation at one size on one group, done in one way.
struct SweepPoint {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  Bytes size;
  std::vector<std::uint32_t> members;
  ForcedChoice choice;
  bool in_place = false;

  bool operator==(const SweepPoint&) const = default;
  /// "all_reduce 1048576 0,1,2,3 ring/- out": tells points apart, and is equal in every run.
  [[nodiscard]] std::string key() const;
};

/// The members of each group that the shapes ask for on this machine, without repeats; groups of one rank
/// only where the machine has no more.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> groups_of(const Machine& machine,
                                                                const std::vector<RunGroup>& shapes);

/// 0, n-1, the middle, then the middles of what is left: each prefix covers the range evenly.
[[nodiscard]] std::vector<std::size_t> coarse_to_fine(std::size_t n);

/// All points: coarse sizes of every operation, group and choice first, then the sizes between. Sizes of
/// operations that divide by ranks are rounded down to 16 bytes per rank, as nccl-tests does; points that
/// become equal are one. Errors (Error, kInput): an operation, algorithm or protocol that this library does
/// not offer; nothing to measure.
[[nodiscard]] std::vector<SweepPoint> plan_sweep(const RunSettings& settings, const Runner& runner);

}  // namespace busbar
