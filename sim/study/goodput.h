// What failures and checkpoints leave of a run.
#pragma once

#include <cstdint>

namespace busbar {

/// Failures of a cluster and what it does about them. Failures are independent and memoryless.
struct FailureModel {
  double mtbf_s = 0;  // of the whole cluster; 0: none fail
  double checkpoint_bytes = 0;
  double storage_Bps = 0;     // of all hosts together
  bool asynchronous = false;  // training goes on once the state is copied beside it (`staging_Bps`)
  double staging_Bps = 0;
  double restart_s = 0;     // from a failure to the first step after the checkpoint
  double repair_s = 0;      // of a host
  std::int64_t spares = 0;  // hosts that stand by
  /// Training stands still so long for one checkpoint.
  [[nodiscard]] double stall_s() const;
  /// From the start of a checkpoint until it can be restored.
  [[nodiscard]] double write_s() const;
};

/// Training between two checkpoints that loses least.
///   Young: sqrt(2 C M)                                       (CACM 17(9), 1974)
///   Daly:  sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18 M) - C  for C < 2 M, else M   (FGCS 22, 2006)
/// C: stall, M: mean time between failures. An asynchronous write has to end before the next begins: never
/// less.
[[nodiscard]] double young_interval(const FailureModel& model);
[[nodiscard]] double daly_interval(const FailureModel& model);

/// Share of the time that trains, for checkpoints after every `interval_s` of training, without failures.
[[nodiscard]] double checkpoint_share(const FailureModel& model, double interval_s);

/// The same with failures: interval / (M e^(R/M) (e^((interval + C)/M) - 1)), C the stall (Daly,
/// 2006, the complete model). What an asynchronous write has not finished when a failure comes is lost too:
/// to first order write/M of the time.
[[nodiscard]] double expected_goodput(const FailureModel& model, double interval_s);

/// The same by drawing failures, restarts and repairs: deterministic for a seed. Without a spare a failure
/// waits for the first repair.
struct GoodputRun {
  double goodput = 1;
  double waiting = 0;  // share of the time without enough hosts
  std::int64_t failures = 0;
};
[[nodiscard]] GoodputRun simulate_goodput(const FailureModel& model, double interval_s, double training_s,
                                          std::uint64_t seed);

/// The interval for which simulate_goodput, with the same draws for all, is best (within 2 %).
[[nodiscard]] double simulated_interval(const FailureModel& model, double training_s, std::uint64_t seed);

/// Hosts that must stand by so that, with this probability, none is missing: repairs under way are Poisson
/// with mean repair / M (Palm's theorem, M/G/infinity).
[[nodiscard]] std::int64_t spares_for(const FailureModel& model, double probability);

}  // namespace busbar
