// Who has arrived: collectives match by position per group, sends and receives first-in-first-out per ordered
// pair.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/ids.h"
#include "sim/base/units.h"
#include "workloads/trace.h"

namespace busbar {

/// A rank that stands at an operation.
struct Arrival {
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;  // the rank's stream, numbered over all ranks
  const Op* op = nullptr;
  std::uint32_t transfer = 0;  // which one of a batch
  Time at;
};

/// Collectives of one group.
struct GroupMeeting {
  std::uint64_t position = 0;    // operations of this group that have ended
  std::vector<Arrival> arrived;  // at the present one
};

class Rendezvous {
 public:
  explicit Rendezvous(const StepTrace& trace) : trace_(&trace), groups_(trace.groups.size()) {}

  /// True when `arrival` completes the group. `size`: its members.
  /// Fails when it does not match the first arrival in kind, bytes, type, reduction or root.
  [[nodiscard]] bool arrive(GroupId group, std::uint32_t size, const Arrival& arrival);
  /// The meeting that is complete or forming.
  [[nodiscard]] const GroupMeeting& meeting(GroupId group) const { return groups_[group.index()]; }
  /// Takes the arrivals out; the group moves on to its next position.
  [[nodiscard]] std::vector<Arrival> take(GroupId group);

  struct Match {
    Arrival sender, receiver;
  };
  /// A send posts to (rank, peer), a receive to (peer, rank). Returns the match that it completes, if any.
  /// Fails when the two differ in bytes.
  [[nodiscard]] std::optional<Match> post(const Arrival& arrival, std::uint32_t peer, bool is_send);
  /// Whether a transfer that was posted still waits for its other half.
  [[nodiscard]] bool waits(const Arrival& arrival, std::uint32_t peer, bool is_send) const;
  /// The first failure (kJob), if any: the loop stops there, and no exception crosses it.
  [[nodiscard]] const std::optional<ErrorParts>& failure() const { return failure_; }
  /// Transfers of this ordered pair that have been matched.
  [[nodiscard]] std::uint64_t matched(std::uint32_t from, std::uint32_t to) const;

 private:
  struct Pair {
    std::uint64_t matched = 0;
    std::deque<Arrival> sends, receives;
  };
  const StepTrace* trace_;
  std::vector<GroupMeeting> groups_;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::optional<ErrorParts> failure_;
};

}  // namespace busbar
