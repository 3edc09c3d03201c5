// Who takes part in a replay: every rank, group and pair by itself, or one for each class that behaves alike.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/ids.h"
#include "sim/replay/calls.h"
#include "sim/replay/plan_cache.h"
#include "sim/replay/program_index.h"
#include "workloads/trace.h"

namespace busbar {

/// A rank, and how many behave as it does.
struct Player {
  std::uint32_t rank = 0;  // the lowest of its class
  std::uint64_t alike = 1;
};

struct PlannedCall {
  std::uint32_t call = 0;
  const PlannedOperation* planned = nullptr;
};

/// A group (or a class of groups) whose collectives meet.
struct Meeting {
  GroupId group;               // the first of its class
  std::uint32_t arrivals = 0;  // of players, until it is complete
  std::uint64_t alike = 1;
  std::vector<PlannedCall> calls;  // by call
};

/// Messages from one rank to another (or of a class of such pairs).
struct Mailbox {
  std::uint32_t from = 0, to = 0;  // ranks, of the first of its class
  std::uint64_t alike = 1;
  std::vector<PlannedCall> calls;  // by call
};

struct System {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct PeerBoxes {
    std::uint32_t out = kNone, in = kNone;  // mailboxes of sends to the peer, of receives from it
  };

  std::vector<Player> players;                // in the order of their ranks
  std::vector<std::uint32_t> player_of_rank;  // by rank
  std::vector<Meeting> meetings;
  std::vector<Mailbox> mailboxes;
  std::vector<std::vector<std::uint32_t>> meeting_of;  // player, group slot
  std::vector<std::vector<PeerBoxes>> boxes_of;        // player, peer slot
  std::vector<std::uint64_t> links_alike;              // by link: how many it stands for
  std::deque<PlannedOperation> merged;                 // plans of classes
  std::deque<std::vector<ResourceUse>> merged_usage;   // borrowed by them

  [[nodiscard]] bool merges() const { return players.size() < player_of_rank.size(); }
};

/// The plan of a call. Requires: one of the list.
[[nodiscard]] const PlannedOperation& planned_for(std::span<const PlannedCall> calls, std::uint32_t call);

struct SystemParts {
  const StepTrace* trace = nullptr;
  const ProgramIndex* index = nullptr;
  const Calls* calls = nullptr;
  const GroupKinds* kinds = nullptr;
  PlanCache* plans = nullptr;
};

/// Every rank for itself, all plans made.
/// Errors (Error, kInput): what planning a call on a group says.
[[nodiscard]] System whole_system(const SystemParts& parts);

/// What sets ranks and links apart besides what they do.
struct SystemColours {
  std::vector<std::uint64_t> ranks, links;
};

/// One representative per class of the coarsest equitable partition of ranks, groups, pairs, channels and
/// links. Its replay gives every time that the whole system's gives, exactly: max-min rates are unique, so
/// they are equal on classes, and by induction over events all times are. Requires: `whole` made from
/// `parts`. Cost:   O(rounds of refinement x size of all plans). Source: Grohe, Kersting, Mladenov & Selman
/// 2014, "Dimension reduction via colour refinement".
[[nodiscard]] System merged_system(const SystemParts& parts, const System& whole,
                                   const SystemColours& colours);

}  // namespace busbar
