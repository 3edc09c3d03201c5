// Who has arrived: collectives match by position per group, sends and receives first-in-first-out per ordered
// pair.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/replay/system.h"
#include "workloads/trace.h"

namespace busbar {

/// A player that stands at an operation.
struct Arrival {
  std::uint32_t player = 0;
  std::uint32_t lane = 0;  // the player's stream, numbered over all players
  const Op* op = nullptr;
  std::uint32_t transfer = 0;  // which one of a batch
  Time at;
};

/// Who has come to the next collective of a meeting.
struct Gathering {
  std::uint64_t position = 0;    // operations that have ended
  std::vector<Arrival> arrived;  // at the present one
};

class Rendezvous {
 public:
  /// Borrows its arguments.
  Rendezvous(const StepTrace& trace, const System& system)
      : trace_(&trace),
        system_(&system),
        gatherings_(system.meetings.size()),
        boxes_(system.mailboxes.size()) {}

  /// True when `arrival` completes the meeting.
  /// Fails when it does not match the first arrival in kind, bytes, type, reduction or root.
  [[nodiscard]] bool arrive(std::uint32_t meeting, const Arrival& arrival);
  /// Who has come, to a collective that is complete or forming.
  [[nodiscard]] const Gathering& gathering(std::uint32_t meeting) const { return gatherings_[meeting]; }
  /// Takes the arrivals out; the meeting moves on to its next position.
  [[nodiscard]] std::vector<Arrival> take(std::uint32_t meeting);

  struct Match {
    Arrival sender, receiver;
  };
  /// Returns the match that the arrival completes, if any. Fails when the two differ in bytes.
  [[nodiscard]] std::optional<Match> post(std::uint32_t mailbox, const Arrival& arrival, bool is_send);
  /// Whether a transfer that was posted still waits for its other half.
  [[nodiscard]] bool waits(std::uint32_t mailbox, const Arrival& arrival, bool is_send) const;
  /// The first failure (kJob), if any: the loop stops there, and no exception crosses it.
  [[nodiscard]] const std::optional<ErrorParts>& failure() const { return failure_; }
  /// Transfers of this mailbox that have been matched.
  [[nodiscard]] std::uint64_t matched(std::uint32_t mailbox) const { return boxes_[mailbox].matched; }

 private:
  struct Box {
    std::uint64_t matched = 0;
    std::deque<Arrival> sends, receives;
  };
  [[nodiscard]] std::uint32_t rank_of(const Arrival& arrival) const {
    return system_->players[arrival.player].rank;
  }
  const StepTrace* trace_;
  const System* system_;
  std::vector<Gathering> gatherings_;
  std::vector<Box> boxes_;
  std::optional<ErrorParts> failure_;
};

}  // namespace busbar
