// Who calls what on whom, before anything is planned: groups and pairs with the calls that they see.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/replay/calls.h"
#include "workloads/trace.h"

namespace busbar {

/// Mailboxes of sends to a peer, and of receives from it.
struct PeerBoxes {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t out = kNone, in = kNone;
};

/// Memory: a few words per rank, group and pair. Borrows its arguments.
class SystemOutline {
 public:
  SystemOutline(const StepTrace& trace, const Calls& calls);

  /// Messages from one rank to another.
  struct Box {
    std::uint32_t from = 0, to = 0;
    std::uint32_t list = 0;
  };
  [[nodiscard]] const StepTrace& trace() const { return *trace_; }
  [[nodiscard]] std::span<const Box> boxes() const { return boxes_; }
  /// The group that each of a rank's slots means.
  [[nodiscard]] std::span<const GroupId> groups_of(std::uint32_t rank) const {
    return trace_->bindings[binding_of_[rank]].groups;
  }
  /// By peer slot.
  [[nodiscard]] std::span<const PeerBoxes> boxes_of(std::uint32_t rank) const {
    return std::span(peers_).subspan(first_peer_[rank], first_peer_[rank + 1] - first_peer_[rank]);
  }
  /// What is called on a group, as a list.
  [[nodiscard]] std::uint32_t list_of(GroupId group) const { return list_of_group_[group.index()]; }
  /// Distinct calls, ascending. Equal lists have one number.
  [[nodiscard]] std::span<const std::uint32_t> calls(std::uint32_t list) const { return lists_[list]; }

 private:
  void bind_groups(const Binding& binding);
  void bind_peers(std::uint32_t rank);
  std::uint32_t mailbox(std::uint32_t from, std::uint32_t to);
  std::uint32_t list_number(std::vector<std::uint32_t> calls);
  std::uint32_t joined(std::uint32_t a, std::uint32_t b);

  const StepTrace* trace_;
  const Calls* calls_;
  std::vector<std::uint32_t> binding_of_;  // by rank
  std::vector<std::vector<std::uint32_t>> lists_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> list_numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined_;
  std::vector<std::vector<std::uint32_t>> list_of_slot_, list_of_sends_;  // program, slot
  std::vector<std::uint32_t> list_of_group_;
  std::vector<Box> boxes_;
  std::vector<std::uint32_t> last_from_, earlier_;  // boxes by sender, as chains
  std::vector<std::uint32_t> first_peer_;
  std::vector<PeerBoxes> peers_;
};

}  // namespace busbar
