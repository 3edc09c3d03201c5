#include "sim/replay/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/unit_text.h"

namespace busbar {

namespace {

std::uint64_t key_of(std::uint32_t from, std::uint32_t to) { return (std::uint64_t{from} << 32) | to; }

std::string describe(const Op& op) {
  std::string text = fmt::format("{}", name_of(op.collective));
  if (op.collective != CollectiveKind::kBarrier)
    text += fmt::format(" of {} {}", to_exact_text(op.bytes), name_of(op.type));
  if (is_reducing(op.collective)) text += fmt::format(" {}", name_of(op.reduction));
  if (op.root) text += fmt::format(" root {}", *op.root);
  return text;
}

bool matches(const Op& a, const Op& b) {
  if (&a == &b) return true;
  if (a.collective != b.collective || a.root != b.root) return false;
  if (a.collective == CollectiveKind::kBarrier) return true;
  return a.bytes == b.bytes && a.splits == b.splits && a.type == b.type &&
         (!is_reducing(a.collective) || a.reduction == b.reduction);
}

}  // namespace

bool Rendezvous::arrive(GroupId group, std::uint32_t size, const Arrival& arrival) {
  GroupMeeting& meeting = groups_[group.index()];
  if (!meeting.arrived.empty()) {
    const Arrival& first = meeting.arrived.front();
    if (!failure_ && !matches(*first.op, *arrival.op))
      failure_ = {
          .kind = ErrorKind::kJob,
          .where = fmt::format("group {}, operation {}", quoted(trace_->groups[group.index()].name),
                               meeting.position),
          .message = fmt::format("mismatched collective: rank {} calls {} ({}), rank {} calls {} ({})",
                                 first.rank, describe(*first.op), quoted(first.op->id), arrival.rank,
                                 describe(*arrival.op), quoted(arrival.op->id))};
  }
  meeting.arrived.push_back(arrival);
  return meeting.arrived.size() == size;
}

std::vector<Arrival> Rendezvous::take(GroupId group) {
  GroupMeeting& meeting = groups_[group.index()];
  std::vector<Arrival> arrived;
  arrived.swap(meeting.arrived);
  ++meeting.position;
  return arrived;
}

std::optional<Rendezvous::Match> Rendezvous::post(const Arrival& arrival, std::uint32_t peer, bool is_send) {
  const std::uint32_t from = is_send ? arrival.rank : peer;
  const std::uint32_t to = is_send ? peer : arrival.rank;
  Pair& pair = pairs_[key_of(from, to)];
  (is_send ? pair.sends : pair.receives).push_back(arrival);
  if (pair.sends.empty() || pair.receives.empty()) return std::nullopt;
  const Match match{pair.sends.front(), pair.receives.front()};
  pair.sends.pop_front();
  pair.receives.pop_front();
  const Bytes sent = match.sender.op->transfers[match.sender.transfer].bytes;
  const Bytes expected = match.receiver.op->transfers[match.receiver.transfer].bytes;
  if (!failure_ && sent != expected)
    failure_ = {.kind = ErrorKind::kJob,
                .where = fmt::format("messages from rank {} to rank {}, number {}", from, to, pair.matched),
                .message = fmt::format("mismatched sizes: rank {} sends {} ({}), rank {} receives {} ({})",
                                       from, to_exact_text(sent), quoted(match.sender.op->id), to,
                                       to_exact_text(expected), quoted(match.receiver.op->id))};
  ++pair.matched;
  return match;
}

bool Rendezvous::waits(const Arrival& arrival, std::uint32_t peer, bool is_send) const {
  const auto it = pairs_.find(is_send ? key_of(arrival.rank, peer) : key_of(peer, arrival.rank));
  if (it == pairs_.end()) return false;
  const std::deque<Arrival>& posted = is_send ? it->second.sends : it->second.receives;
  return std::any_of(posted.begin(), posted.end(), [&](const Arrival& a) {
    return a.lane == arrival.lane && a.transfer == arrival.transfer;
  });
}

std::uint64_t Rendezvous::matched(std::uint32_t from, std::uint32_t to) const {
  const auto it = pairs_.find(key_of(from, to));
  return it == pairs_.end() ? 0 : it->second.matched;
}

}  // namespace busbar
