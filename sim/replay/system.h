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
#include "sim/replay/system_outline.h"
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

/// By phase and strand of a merged plan: the first of the strands that it was merged from.
using MergedFrom = std::vector<std::vector<std::uint32_t>>;

struct System {
  static constexpr std::uint32_t kNone = PeerBoxes::kNone;

  std::vector<Player> players;                // in the order of their ranks
  std::vector<std::uint32_t> player_of_rank;  // by rank
  std::vector<Meeting> meetings;
  std::vector<Mailbox> mailboxes;
  std::vector<std::uint32_t> first_meeting, meeting_of;  // CSR: player, group slot
  std::vector<std::uint32_t> first_box;                  // CSR: player, peer slot
  std::vector<PeerBoxes> boxes_of;
  std::vector<std::uint32_t> links_alike;  // by link: how many it stands for; empty: one each
  std::vector<bool> links_used;            // by link: something crosses it; empty: not known
  std::vector<std::uint32_t> replayed_as;  // by link: that which stands for it, kNone: unused; empty: itself
  std::deque<PlannedOperation> merged;     // plans of classes
  std::deque<MergedFrom> merged_from;      // by number in `merged`
  std::deque<std::vector<ResourceUse>> merged_usage;  // borrowed by them

  /// Those that stand for others, ascending; empty: all do, each for itself.
  [[nodiscard]] std::vector<std::uint32_t> links_replayed() const;
  [[nodiscard]] bool merges() const { return players.size() < player_of_rank.size(); }
  [[nodiscard]] std::uint32_t meeting(std::uint32_t player, std::uint32_t group_slot) const {
    return meeting_of[first_meeting[player] + group_slot];
  }
  [[nodiscard]] const PeerBoxes& boxes(std::uint32_t player, std::uint32_t peer_slot) const {
    return boxes_of[first_box[player] + peer_slot];
  }
};

/// The plan of a call. Requires: one of the list.
[[nodiscard]] const PlannedOperation& planned_for(std::span<const PlannedCall> calls, std::uint32_t call);

struct SystemParts {
  const StepTrace* trace = nullptr;
  const ProgramIndex* index = nullptr;
  const Calls* calls = nullptr;
  const GroupKinds* kinds = nullptr;
  PlanCache* plans = nullptr;
  Placement* placement = nullptr;
  const std::vector<bool>* implied = nullptr;  // by link: others imply it, it never binds
};

/// The calls of a list with their plans on a group, or for messages between two ranks; counts `alike` groups
/// for the records of those plans.
/// Errors (Error, kInput): what planning says.
[[nodiscard]] std::vector<PlannedCall> planned_calls(const SystemParts& parts,
                                                     std::span<const std::uint32_t> calls, GroupId group,
                                                     std::uint64_t alike);
[[nodiscard]] std::vector<PlannedCall> planned_calls(const SystemParts& parts,
                                                     std::span<const std::uint32_t> calls,
                                                     const SystemOutline::Box& box, std::uint64_t alike);

/// Every rank for itself, all plans made.
/// Errors (Error, kInput): what planning a call on a group says.
[[nodiscard]] System whole_system(const SystemParts& parts);

/// What sets ranks and links apart besides what they do.
struct SystemColours {
  std::vector<std::uint64_t> ranks;
  std::vector<std::uint32_t> links;       // number in `link_sorts`
  std::vector<std::uint64_t> link_sorts;  // distinct
  [[nodiscard]] std::uint64_t of_link(std::size_t link) const { return link_sorts[links[link]]; }
};

/// One representative per class of the coarsest equitable partition of ranks, groups, pairs, channels and
/// links. Its replay gives every time that the whole system's gives, exactly: max-min rates are unique, so
/// they are equal on classes, and by induction over events all times are.
/// Errors (Error, kInput): what planning a call on a group says.
/// Cost:   building is linear in ranks, groups, pairs and what their plans cross; then that of `refine`.
/// Source: Grohe, Kersting, Mladenov & Selman 2014, "Dimension reduction via colour refinement".
[[nodiscard]] System merged_system(const SystemParts& parts, const SystemColours& colours);

}  // namespace busbar
