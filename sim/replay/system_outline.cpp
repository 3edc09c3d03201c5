#include "sim/replay/system_outline.h"

#include <algorithm>
#include <iterator>

#include "sim/base/rank_range.h"

namespace busbar {

namespace {

std::uint32_t rank_of(const Peer& peer, std::uint32_t rank) {
  return static_cast<std::uint32_t>(peer.relative ? std::int64_t{rank} + peer.value : peer.value);
}

}  // namespace

SystemOutline::SystemOutline(const StepTrace& trace, const Calls& calls)
    : trace_(&trace), calls_(&calls), binding_of_(trace.ranks, 0), last_from_(trace.ranks, PeerBoxes::kNone) {
  list_number({});  // number 0
  list_of_group_.assign(trace.groups.size(), 0);
  for (std::uint32_t p = 0; p < trace.programs.size(); ++p) {
    std::vector<std::uint32_t>& slots = list_of_slot_.emplace_back();
    for (std::uint32_t s = 0; s < trace.programs[p].group_slots.size(); ++s) {
      const auto list = calls.on_slot(p, s);
      slots.push_back(list_number({list.begin(), list.end()}));
    }
    std::vector<std::uint32_t>& sends = list_of_sends_.emplace_back();
    for (std::uint32_t s = 0; s < trace.programs[p].peer_slots.size(); ++s) {
      const auto list = calls.sends_to(p, s);
      sends.push_back(list_number({list.begin(), list.end()}));
    }
  }
  first_peer_.assign(trace.ranks + 1, 0);
  for (std::uint32_t b = 0; b < trace.bindings.size(); ++b) {
    bind_groups(trace.bindings[b]);
    for_each_rank(trace.bindings[b].ranks, [&](std::uint32_t rank) {
      binding_of_[rank] = b;
      first_peer_[rank + 1] = static_cast<std::uint32_t>(trace.bindings[b].peers.size());
    });
  }
  for (std::uint32_t r = 0; r < trace.ranks; ++r) first_peer_[r + 1] += first_peer_[r];
  peers_.resize(first_peer_.back());
  for (const Binding& binding : trace.bindings)
    for_each_rank(binding.ranks, [&](std::uint32_t rank) { bind_peers(rank); });
}

std::uint32_t SystemOutline::list_number(std::vector<std::uint32_t> calls) {
  const auto [it, is_new] = list_numbers_.try_emplace(calls, static_cast<std::uint32_t>(lists_.size()));
  if (is_new) lists_.push_back(std::move(calls));
  return it->second;
}

std::uint32_t SystemOutline::joined(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const auto [it, is_new] = joined_.try_emplace({a, b}, 0);
  if (is_new) {
    std::vector<std::uint32_t> both;
    std::set_union(lists_[a].begin(), lists_[a].end(), lists_[b].begin(), lists_[b].end(),
                   std::back_inserter(both));
    it->second = list_number(std::move(both));
  }
  return it->second;
}

void SystemOutline::bind_groups(const Binding& binding) {
  for (std::size_t s = 0; s < binding.groups.size(); ++s) {
    std::uint32_t& list = list_of_group_[binding.groups[s].index()];
    list = joined(list, list_of_slot_[binding.program][s]);
  }
}

void SystemOutline::bind_peers(std::uint32_t rank) {
  const Binding& binding = trace_->bindings[binding_of_[rank]];
  for (std::uint32_t p = 0; p < binding.peers.size(); ++p) {
    PeerBoxes& boxes = peers_[first_peer_[rank] + p];
    const std::uint32_t peer = rank_of(binding.peers[p], rank);
    if (const std::uint32_t sends = list_of_sends_[binding.program][p]; sends != 0) {
      boxes.out = mailbox(rank, peer);
      boxes_[boxes.out].list = joined(boxes_[boxes.out].list, sends);
    }
    if (calls_->receives_from(binding.program, p)) boxes.in = mailbox(peer, rank);
  }
}

std::uint32_t SystemOutline::mailbox(std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t b = last_from_[from]; b != PeerBoxes::kNone; b = earlier_[b])
    if (boxes_[b].to == to) return b;
  const auto fresh = static_cast<std::uint32_t>(boxes_.size());
  boxes_.push_back({.from = from, .to = to});
  earlier_.push_back(last_from_[from]);
  last_from_[from] = fresh;
  return fresh;
}

}  // namespace busbar
