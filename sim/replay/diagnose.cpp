#include "sim/replay/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/replay/replay.h"

namespace busbar {

namespace {

constexpr std::size_t kNamed = 8;  // ranks listed by number before "and k more"

struct Wait {
  std::uint32_t rank = 0;
  std::string text;                    // "rank 0 waits at 'b' (all_reduce, group 'dp', operation 2)"
  std::string where;                   // "group 'dp', operation 2"
  std::vector<std::uint32_t> missing;  // the ranks that have not come
};

std::string list_of(const std::vector<std::uint32_t>& ranks) {
  const std::size_t shown = std::min(ranks.size(), kNamed);
  std::string text =
      fmt::format("rank{} {}", ranks.size() > 1 ? "s" : "",
                  fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (ranks.size() > shown) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

class Diagnosis {
 public:
  explicit Diagnosis(Replay& replay) : replay_(replay) {}

  [[noreturn]] void raise() {
    std::vector<Wait> cycle = find_cycle();
    const Wait first = cycle.empty() ? *first_wait() : cycle.front();
    std::string message = fmt::format("deadlock after {}: ", to_text(replay_.now()));
    if (cycle.empty()) {
      message += first.text + " for " + list_of(first.missing) + ", " + state_of(first.missing.front());
    } else {
      for (const Wait& w : cycle)
        message += (&w == &cycle.front() ? "" : "; ") + w.text + " for " + list_of(w.missing);
      message += ": a cycle (are the groups called in opposite order?)";
    }
    throw Error({.kind = ErrorKind::kJob, .where = first.where, .message = message});
  }

 private:
  std::optional<Wait> wait_of(std::uint32_t rank) {
    const RankState& r = replay_.ranks()[rank];
    const auto streams = static_cast<std::uint32_t>(replay_.index().programs[r.program].streams.size());
    for (std::uint32_t s = 0; s < streams; ++s) {
      const Op* op = replay_.present_op(rank, s);
      if (op == nullptr || replay_.lanes()[r.first_lane + s].status == LaneStatus::kIdle) continue;
      return op->kind == OpKind::kCollective ? collective_wait(rank, *op)
                                             : transfer_wait(rank, r.first_lane + s, *op);
    }
    return std::nullopt;
  }

  Wait collective_wait(std::uint32_t rank, const Op& op) {
    const std::uint32_t meeting = replay_.meeting(rank, op);
    const GroupId g = replay_.system().meetings[meeting].group;
    const Gathering& gathering = replay_.rendezvous().gathering(meeting);
    std::set<std::uint32_t> come;
    for (const Arrival& a : gathering.arrived) come.insert(a.player);
    Wait wait{.rank = rank};
    for (const std::uint32_t member : replay_.plans().members(g))
      if (!come.contains(member)) wait.missing.push_back(member);
    wait.where = fmt::format("group {}, operation {}", quoted(replay_.trace().groups[g.index()].name),
                             gathering.position);
    wait.text =
        fmt::format("rank {} waits at {} ({}, {})", rank, quoted(op.id), name_of(op.collective), wait.where);
    return wait;
  }

  // Of a batch, the first transfer that has found no other half.
  Wait transfer_wait(std::uint32_t rank, std::uint32_t lane, const Op& op) {
    std::uint32_t number = 0;
    while (number + 1 < op.transfers.size() &&
           !replay_.rendezvous().waits(replay_.mailbox(rank, op.transfers[number]),
                                       {.player = rank, .lane = lane, .op = &op, .transfer = number},
                                       op.transfers[number].is_send))
      ++number;
    const Transfer& t = op.transfers[number];
    const std::uint32_t number_of_box = replay_.mailbox(rank, t);
    const Mailbox& box = replay_.system().mailboxes[number_of_box];
    Wait wait{.rank = rank, .missing = {t.is_send ? box.to : box.from}};
    wait.where = fmt::format("messages from rank {} to rank {}, number {}", box.from, box.to,
                             replay_.rendezvous().matched(number_of_box));
    wait.text = fmt::format("rank {} waits at {} ({})", rank, quoted(op.id), wait.where);
    return wait;
  }

  std::optional<Wait> first_wait() {
    for (std::uint32_t rank = 0; rank < replay_.ranks().size(); ++rank)
      if (auto wait = wait_of(rank)) return wait;
    return Wait{.text = "no rank can go on", .where = replay_.trace().name, .missing = {0}};
  }

  std::string state_of(std::uint32_t rank) {
    if (replay_.ranks()[rank].finished)
      return fmt::format("and rank {} has finished without calling it", rank);
    if (const auto wait = wait_of(rank)) return "where " + wait->text + " for " + list_of(wait->missing);
    return fmt::format("and rank {} has not called it", rank);
  }

  // Follows each waiting rank to the first rank that it misses, until one comes up again or nobody is missed.
  std::vector<Wait> find_cycle() {
    std::vector<std::uint8_t> done(replay_.ranks().size(), 0);
    for (std::uint32_t start = 0; start < done.size(); ++start) {
      std::vector<Wait> path;
      std::uint32_t rank = start;
      while (done[rank] == 0) {
        done[rank] = 1;
        auto wait = wait_of(rank);
        if (!wait) break;
        path.push_back(*wait);
        rank = wait->missing.front();
        const auto again =
            std::find_if(path.begin(), path.end(), [&](const Wait& w) { return w.rank == rank; });
        if (again != path.end()) return {again, path.end()};
      }
    }
    return {};
  }

  Replay& replay_;
};

}  // namespace

void throw_deadlock(Replay& replay) { Diagnosis(replay).raise(); }

}  // namespace busbar
