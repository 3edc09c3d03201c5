#include "validate/import/trace_matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace busbar {

namespace {

/// What the same call on different ranks shares: a communicator and the step.
struct Lane {
  std::string members;  // the group as its members name it, or "2>5" for a send
  std::size_t step = 0;
  auto operator<=>(const Lane&) const = default;
};

struct Call {
  std::size_t rank = 0;
  const TraceCommunication* communication = nullptr;
  std::int64_t transfer = 0;  // nanoseconds
  bool shared = false;
  std::int64_t position = -1;
};

// Operation, group, ranks, bytes, kernel, and the number of the call where the bytes are not known (-1: they
// are).
using Class = std::tuple<std::optional<CollectiveKind>, std::string, std::int64_t, std::int64_t, std::string,
                         std::int64_t>;

struct Alike {
  std::int64_t calls = 0, transfer = 0;  // nanoseconds, of all
  std::set<std::size_t> ranks;           // that take part

  void add(const Call& call) {
    ++calls;
    transfer += call.transfer;
    ranks.insert(call.rank);
  }
};

std::string lane_name(const RankTrace& trace, const TraceCommunication& c) {
  if (c.call.source >= 0 && c.call.target >= 0) return fmt::format("{}>{}", c.call.source, c.call.target);
  return trace.names[c.call.members];
}

std::optional<std::size_t> step_at(const RankTrace& trace, std::span<const std::int64_t> steps,
                                   std::int64_t at) {
  for (const TraceStep& s : trace.steps) {
    if (at < s.span.begin || at >= s.span.end) continue;
    const auto found = std::find(steps.begin(), steps.end(), s.number);
    if (found != steps.end()) return static_cast<std::size_t>(found - steps.begin());
  }
  return std::nullopt;
}

/// Ranks -> their calls in order.
using LaneCalls = std::map<std::size_t, std::vector<Call*>>;

// The shortest of the k-th calls is the transfer. False: the ranks' calls do not correspond.
bool separate(LaneCalls& lane) {
  const std::size_t count = lane.begin()->second.size();
  for (const auto& [rank, calls] : lane)
    if (calls.size() != count) return false;
  for (std::size_t k = 0; k < count; ++k) {
    std::int64_t shortest = lane.begin()->second[k]->transfer;
    for (const auto& [rank, calls] : lane) shortest = std::min(shortest, calls[k]->transfer);
    for (auto& [rank, calls] : lane) {
      calls[k]->transfer = shortest;
      calls[k]->shared = lane.size() > 1;
    }
  }
  return true;
}

class Matcher {
 public:
  Matcher(std::span<const RankTrace> traces, std::span<const std::int64_t> steps)
      : traces_(traces), steps_(steps) {}

  MatchedCalls run() {
    collect();
    std::map<std::string, std::set<std::size_t>> ranks;  // that ever take part, by the lane's members
    for (const auto& [key, lane] : lanes_)
      for (const auto& [rank, calls] : lane) ranks[key.members].insert(rank);
    for (auto& [key, lane] : lanes_) {
      const bool all_there = lane.size() == ranks.at(key.members).size();
      if (separate(lane) && all_there) continue;
      if (std::count(found_.differing.begin(), found_.differing.end(), key.step) == 0)
        found_.differing.push_back(key.step);
    }
    found_.separated =
        !calls_.empty() && std::all_of(calls_.begin(), calls_.end(), [](const Call& c) { return c.shared; });
    note();
    emit();
    return std::move(found_);
  }

 private:
  void collect() {
    std::size_t most = 0;
    for (const RankTrace& trace : traces_) most += trace.communications.size();
    calls_.reserve(most);  // lanes point into it
    for (std::size_t r = 0; r < traces_.size(); ++r)
      for (const TraceCommunication& c : traces_[r].communications) {
        const auto step = step_at(traces_[r], steps_, c.span.begin);
        if (!step) continue;
        calls_.push_back({.rank = r, .communication = &c, .transfer = c.span.end - c.span.begin});
        if (c.call.bytes < 0) calls_.back().position = numbers_[{r, *step, c.call.operation, c.call.group}]++;
        lanes_[{lane_name(traces_[r], c), *step}][r].push_back(&calls_.back());
      }
  }

  // Of one group on one rank.
  [[nodiscard]] bool any_overlap() const {
    for (const auto& [key, lane] : lanes_)
      for (const auto& [rank, calls] : lane)
        for (std::size_t i = 1; i < calls.size(); ++i)
          if (calls[i]->communication->span.begin < calls[i - 1]->communication->span.end) return true;
    return false;
  }

  void note() {
    if (calls_.empty()) return;
    if (any_overlap())
      found_.notes.emplace_back(
          "calls of one group overlap on a rank: each takes longer than it would by itself");
    const auto world = traces_.front().world;
    const auto read = static_cast<std::int64_t>(traces_.size());
    if (!found_.separated)
      found_.notes.push_back(fmt::format("{} rank{} read: waiting for other members counts as communication",
                                         read, read == 1 ? "" : "s"));
    else if (world && read < *world)
      found_.notes.push_back(
          fmt::format("{} of {} ranks read: a transfer is the shortest call among these, and may hold "
                      "waiting for the others",
                      read, *world));
  }

  std::uint32_t group_of(const RankTrace& trace, const TraceCommunication& c) {
    const std::pair key{trace.names[c.call.group], c.call.ranks};
    const auto [found, added] =
        group_numbers_.try_emplace(key, static_cast<std::uint32_t>(found_.groups.size()));
    if (added) found_.groups.push_back({.name = key.first, .ranks = key.second, .exposed = {}});
    return found->second;
  }

  void emit() {
    found_.timed.resize(traces_.size());
    std::map<Class, Alike> classes;
    for (const Call& call : calls_) {
      const RankTrace& trace = traces_[call.rank];
      const TraceCommunication& c = *call.communication;
      const bool for_peer = c.call.source >= 0 && c.call.target >= 0;
      found_.timed[call.rank].push_back({.span = c.span,
                                         .transfer = c.span.end - call.transfer,
                                         .for_peer = for_peer,
                                         .group = group_of(trace, c)});
      classes[{c.call.operation, trace.names[c.call.group], c.call.ranks, c.call.bytes, trace.names[c.kernel],
               call.position}]
          .add(call);
    }
    for (const auto& [key, alike] : classes) {
      const auto& [operation, group, ranks, bytes, kernel, position] = key;
      MeasuredCollective c{.operation = operation, .group = group, .ranks = ranks, .kernel = kernel};
      if (bytes >= 0) c.bytes = Bytes(bytes);
      if (position >= 0) c.position = static_cast<std::size_t>(position);
      const auto calls = static_cast<double>(alike.calls);
      c.count = calls / static_cast<double>(steps_.size() * alike.ranks.size());
      c.time = Time::from_seconds(static_cast<double>(alike.transfer) * 1e-9 / calls);
      found_.collectives.push_back(std::move(c));
    }
    std::stable_sort(found_.collectives.begin(), found_.collectives.end(),
                     [](const MeasuredCollective& a, const MeasuredCollective& b) {
                       return a.count * a.time.seconds() > b.count * b.time.seconds();
                     });
  }

  std::span<const RankTrace> traces_;
  std::span<const std::int64_t> steps_;
  std::vector<Call> calls_;
  std::map<Lane, LaneCalls> lanes_;
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> group_numbers_;
  std::map<std::tuple<std::size_t, std::size_t, std::optional<CollectiveKind>, std::uint32_t>, std::int64_t>
      numbers_;
  MatchedCalls found_;
};

}  // namespace

MatchedCalls match_calls(std::span<const RankTrace> traces, std::span<const std::int64_t> steps) {
  return Matcher(traces, steps).run();
}

}  // namespace busbar
