// The seam between what to measure and the library that carries it out: MPI, NCCL or a test's fake.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"
#include "sim/result/measurement.h"

namespace busbar {

/// Where one rank runs.
struct RankPlace {
  std::string host;        // as the library names it; equal names are one host
  std::string device;      // "NVIDIA H200", "CPU memory"
  std::int64_t local = 0;  // which device of its host
  auto operator<=>(const RankPlace&) const = default;
};

/// The ranks in order, and the library that joins them.
struct Machine {
  std::string library;  // "Open MPI 4.1.4", "NCCL 2.28.9"
  std::vector<RankPlace> ranks;
};

/// A forced way of doing an operation; empty names leave the choice to the library.
struct ForcedChoice {
  std::string algorithm, protocol;
  auto operator<=>(const ForcedChoice&) const = default;
};

enum class Pace : std::uint8_t {
  kBackToBack,  // one after the other without waiting: what a loop of a benchmark sees
  kIsolated,    // all members meet before each: what an operation of a training step sees
};

/// One batch of equal operations.
struct Call {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  Bytes size;                          // nccl-tests' size: the full buffer for gathers and scatters
  std::vector<std::uint32_t> members;  // ranks, ascending; at least 2, but for a single rank alone
  ForcedChoice choice;
  bool in_place = false;
  Pace pace = Pace::kBackToBack;
  std::int64_t count = 1;  // operations in the batch
};

/// seconds[member][sample]: back to back one sample, the batch's time over its count; isolated one sample
/// per operation.
using BatchTimes = std::vector<std::vector<double>>;

/// Runs collectives. Every process of a job holds one Runner and makes the same calls in the same order;
/// what a call returns is equal on all of them. A rank that does not answer in time is an Error (kSystem)
/// that names it.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  [[nodiscard]] virtual const Machine& machine() const = 0;
  /// True in the one process that writes files and watches the clock.
  [[nodiscard]] virtual bool leads() const = 0;
  /// What the leader gives, in every process.
  [[nodiscard]] virtual std::string from_leader(std::string text) = 0;

  /// The forced choices there are for an operation of `ranks` ranks beside the library's own; none: only its
  /// own. An operation that the library lacks is not offered.
  [[nodiscard]] virtual bool offers(CollectiveKind operation) const = 0;
  [[nodiscard]] virtual std::vector<ForcedChoice> choices(CollectiveKind operation,
                                                          std::int64_t ranks) const = 0;

  /// Times one batch: members meet first, so that no rank's late start is measured.
  [[nodiscard]] virtual BatchTimes time_batch(const Call& call) = 0;

  /// What the devices do by themselves: copies, products, launches. Sentences on what could not be measured
  /// are added to `notes`.
  [[nodiscard]] virtual std::vector<MeasuredKernel> time_kernels(std::vector<std::string>& notes) = 0;
};

}  // namespace busbar
