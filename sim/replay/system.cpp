#include "sim/replay/system.h"

#include <algorithm>
#include <unordered_map>

#include "sim/base/error.h"

namespace busbar {

namespace {

std::uint32_t rank_of(const Peer& peer, std::uint32_t rank) {
  return static_cast<std::uint32_t>(peer.relative ? std::int64_t{rank} + peer.value : peer.value);
}

void add_calls(std::vector<PlannedCall>& list, std::span<const std::uint32_t> calls) {
  for (const std::uint32_t call : calls) {
    const auto it = std::lower_bound(list.begin(), list.end(), call,
                                     [](const PlannedCall& p, std::uint32_t c) { return p.call < c; });
    if (it == list.end() || it->call != call) list.insert(it, {call, nullptr});
  }
}

class WholeSystem {
 public:
  explicit WholeSystem(const SystemParts& parts) : parts_(parts), trace_(*parts.trace) {}

  System build() {
    system_.players.resize(trace_.ranks);
    system_.player_of_rank.resize(trace_.ranks);
    system_.meeting_of.resize(trace_.ranks);
    system_.boxes_of.resize(trace_.ranks);
    for (std::uint32_t rank = 0; rank < trace_.ranks; ++rank) {
      system_.players[rank].rank = rank;
      system_.player_of_rank[rank] = rank;
    }
    for (std::uint32_t g = 0; g < trace_.groups.size(); ++g)
      system_.meetings.push_back(
          {.group = GroupId(g), .arrivals = static_cast<std::uint32_t>(count(trace_.groups[g].members))});
    for (const Binding& binding : trace_.bindings) bind(binding);
    plan();
    return std::move(system_);
  }

 private:
  void bind(const Binding& binding) {
    for (std::uint32_t s = 0; s < binding.groups.size(); ++s)
      add_calls(system_.meetings[binding.groups[s].index()].calls, parts_.calls->on_slot(binding.program, s));
    std::vector<std::uint32_t> meetings;
    for (const GroupId g : binding.groups) meetings.push_back(g.value());
    for (const std::uint32_t rank : expand(binding.ranks)) {
      system_.meeting_of[rank] = meetings;
      std::vector<System::PeerBoxes>& boxes = system_.boxes_of[rank];
      boxes.resize(binding.peers.size());
      for (std::uint32_t p = 0; p < binding.peers.size(); ++p) {
        const std::uint32_t peer = rank_of(binding.peers[p], rank);
        if (const auto sends = parts_.calls->sends_to(binding.program, p); !sends.empty()) {
          boxes[p].out = mailbox(rank, peer);
          add_calls(system_.mailboxes[boxes[p].out].calls, sends);
        }
        if (parts_.calls->receives_from(binding.program, p)) boxes[p].in = mailbox(peer, rank);
      }
    }
  }

  std::uint32_t mailbox(std::uint32_t from, std::uint32_t to) {
    const auto next = static_cast<std::uint32_t>(system_.mailboxes.size());
    const auto [it, is_new] = known_.try_emplace((std::uint64_t{from} << 32) | to, next);
    if (is_new) system_.mailboxes.push_back({.from = from, .to = to});
    return it->second;
  }

  void plan() {
    const auto kind = [&](const PlannedCall& c) {
      return parts_.kinds->names[parts_.calls->at(c.call).kind];
    };
    for (Meeting& m : system_.meetings)
      for (PlannedCall& c : m.calls)
        c.planned = &parts_.plans->collective(m.group, *parts_.calls->at(c.call).op, kind(c));
    for (Mailbox& m : system_.mailboxes)
      for (PlannedCall& c : m.calls)
        c.planned = &parts_.plans->transfer(m.from, m.to, parts_.calls->at(c.call).bytes, kind(c));
  }

  SystemParts parts_;
  const StepTrace& trace_;
  System system_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

}  // namespace

const PlannedOperation& planned_for(std::span<const PlannedCall> calls, std::uint32_t call) {
  const auto it = std::lower_bound(calls.begin(), calls.end(), call,
                                   [](const PlannedCall& p, std::uint32_t c) { return p.call < c; });
  BUSBAR_CHECK(it != calls.end() && it->call == call);
  return *it->planned;
}

System whole_system(const SystemParts& parts) { return WholeSystem(parts).build(); }

}  // namespace busbar
