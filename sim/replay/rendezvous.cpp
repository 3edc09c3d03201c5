#include "sim/replay/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/unit_text.h"

namespace busbar {

namespace {

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

bool Rendezvous::arrive(std::uint32_t meeting, const Arrival& arrival) {
  Gathering& gathering = gatherings_[meeting];
  if (!gathering.arrived.empty()) {
    const Arrival& first = gathering.arrived.front();
    if (!failure_ && !matches(*first.op, *arrival.op)) {
      const Group& group = trace_->groups[system_->meetings[meeting].group.index()];
      failure_ = {
          .kind = ErrorKind::kJob,
          .where = fmt::format("group {}, operation {}", quoted(group.name), gathering.position),
          .message = fmt::format("mismatched collective: rank {} calls {} ({}), rank {} calls {} ({})",
                                 rank_of(first), describe(*first.op), quoted(first.op->id), rank_of(arrival),
                                 describe(*arrival.op), quoted(arrival.op->id))};
    }
  }
  gathering.arrived.push_back(arrival);
  return gathering.arrived.size() == system_->meetings[meeting].arrivals;
}

std::vector<Arrival> Rendezvous::take(std::uint32_t meeting) {
  Gathering& gathering = gatherings_[meeting];
  std::vector<Arrival> arrived;
  arrived.swap(gathering.arrived);
  ++gathering.position;
  return arrived;
}

std::optional<Rendezvous::Match> Rendezvous::post(std::uint32_t mailbox, const Arrival& arrival,
                                                  bool is_send) {
  Box& box = boxes_[mailbox];
  (is_send ? box.sends : box.receives).push_back(arrival);
  if (box.sends.empty() || box.receives.empty()) return std::nullopt;
  const Match match{box.sends.front(), box.receives.front()};
  box.sends.pop_front();
  box.receives.pop_front();
  const Bytes sent = match.sender.op->transfers[match.sender.transfer].bytes;
  const Bytes expected = match.receiver.op->transfers[match.receiver.transfer].bytes;
  if (!failure_ && sent != expected) {
    const std::uint32_t from = rank_of(match.sender);
    const std::uint32_t to = rank_of(match.receiver);
    failure_ = {.kind = ErrorKind::kJob,
                .where = fmt::format("messages from rank {} to rank {}, number {}", from, to, box.matched),
                .message = fmt::format("mismatched sizes: rank {} sends {} ({}), rank {} receives {} ({})",
                                       from, to_exact_text(sent), quoted(match.sender.op->id), to,
                                       to_exact_text(expected), quoted(match.receiver.op->id))};
  }
  ++box.matched;
  return match;
}

bool Rendezvous::waits(std::uint32_t mailbox, const Arrival& arrival, bool is_send) const {
  const std::deque<Arrival>& posted = is_send ? boxes_[mailbox].sends : boxes_[mailbox].receives;
  return std::any_of(posted.begin(), posted.end(), [&](const Arrival& a) {
    return a.lane == arrival.lane && a.transfer == arrival.transfer;
  });
}

}  // namespace busbar
