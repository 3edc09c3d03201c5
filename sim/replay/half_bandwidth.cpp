#include "sim/replay/half_bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr double kVeryLarge = 0x1p40;   // bytes
constexpr double kLongest_s = 1e5;      // keeps times at very large sizes within the range of Time
constexpr double kPrecision = 1.0005;   // of the size found
constexpr double kWorthWarning = 0.01;  // of the step

double lone_rate(const OperationRecord& record, Bytes bytes, PlanCache& plans, MaxMinSolver& solver) {
  const double seconds = lone_seconds(plans.plan_at(record, bytes), solver);
  return seconds > 0 ? bytes.as_double() / seconds : Bandwidth::unlimited().Bps();
}

/// Messages of one operation on one kind of group.
struct Messages {
  std::uint64_t all = 0, below = 0;  // per group
  double exposed_s = 0;              // of those below, on average over ranks
  Bytes half;
};

bool are_buckets(CollectiveKind kind, const std::string& group) {
  return kind == CollectiveKind::kAllReduce && group == "dp";
}

Warning warning_of(CollectiveKind kind, const std::string& group, const Messages& m) {
  const bool buckets = are_buckets(kind, group);
  return {
      buckets ? "small-buckets" : "latency-bound",
      fmt::format("{} of {} {} {} below the half-bandwidth size of {} ({}): larger {} would use the links "
                  "better",
                  m.below, m.all, buckets ? "buckets" : fmt::format("{} operations", name_of(kind)),
                  m.below == 1 ? "is" : "are", group, to_si_text(m.half), buckets ? "buckets" : "messages")};
}

}  // namespace

namespace {

double lone_seconds(const PlanPhase& phase, MaxMinSolver& solver) {
  std::vector<MaxMinEntry> live;
  std::vector<double> left;
  for (const Strand& strand : phase.strands) {
    live.push_back({strand.usage, strand.multiplicity, strand.cap.Bps(), 0});
    left.push_back(strand.volume);
  }
  double seconds = phase.latency.seconds();
  while (!live.empty()) {
    solver.solve(live);
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < live.size(); ++i) next = std::min(next, left[i] / live[i].rate);
    seconds += next;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      // Strands that end together must not leave a rounding error behind to be solved for again.
      if (left[i] / live[i].rate <= next * (1 + 1e-9)) continue;
      left[kept] = left[i] - live[i].rate * next;
      live[kept++] = live[i];
    }
    live.resize(kept);
  }
  return seconds;
}

}  // namespace

double lone_seconds(const Plan& plan, MaxMinSolver& solver) {
  double seconds = plan.tail.seconds();
  for (const PlanPhase& phase : plan.phases) seconds += lone_seconds(phase, solver);
  return seconds;
}

std::optional<Bytes> half_bandwidth_above(const OperationRecord& record, PlanCache& plans,
                                          MaxMinSolver& solver) {
  const double own = lone_rate(record, record.bytes, plans, solver);
  const double largest = std::min(kVeryLarge, kLongest_s * own);
  if (largest <= record.bytes.as_double()) return std::nullopt;
  const double half = lone_rate(record, Bytes(static_cast<std::int64_t>(largest)), plans, solver) / 2;
  if (own >= half) return std::nullopt;
  double low = record.bytes.as_double();
  double high = largest;
  while (high > low * kPrecision) {
    const double middle = std::sqrt(low * high);
    const bool reaches = lone_rate(record, Bytes(static_cast<std::int64_t>(middle)), plans, solver) >= half;
    (reaches ? high : low) = middle;
  }
  return Bytes(static_cast<std::int64_t>(high));
}

double attainable_busbw(const OperationRecord& record, PlanCache& plans, MaxMinSolver& solver) {
  if (record.bytes.count() == 0 || record.ranks < 2) return 0;
  const double seconds = lone_seconds(plans.plan_at(record, record.bytes), solver);
  return seconds > 0 ? record.bytes.as_double() / seconds * busbw_factor(record.kind, record.ranks) : 0;
}

std::vector<Warning> small_message_warnings(Replay& replay, Time step) {
  MaxMinSolver solver{std::span<const double>(replay.placement().capacities())};
  std::map<std::pair<CollectiveKind, std::string>, Messages> found;
  // The search is the costly part: once per operation on groups of one kind and size.
  std::map<std::tuple<CollectiveKind, std::string, std::uint32_t>, Bytes> known;
  for (const OperationRecord& r : replay.plans().records()) {
    if (r.runs == 0 || r.bytes.count() == 0 || r.ranks < 2) continue;
    Messages& messages = found[{r.kind, r.group}];
    const std::uint64_t per_group = r.runs / r.groups;
    const auto runs =
        static_cast<std::uint64_t>(std::llround(replay.counted_share() * static_cast<double>(per_group)));
    messages.all += runs;
    auto half = known.find({r.kind, r.group, r.ranks});
    if (half == known.end()) {
      const auto searched = half_bandwidth_above(r, replay.plans(), solver);
      if (!searched) continue;
      half = known.emplace(std::tuple(r.kind, r.group, r.ranks), *searched).first;
    }
    if (r.bytes >= half->second) continue;
    messages.below += runs;
    messages.exposed_s +=
        1e-12 * replay.counted_share() * r.exposed_ps / (static_cast<double>(r.groups) * r.ranks);
    messages.half = std::max(messages.half, half->second);
  }
  std::vector<Warning> warnings;
  for (const auto& [key, messages] : found) {
    const auto& [kind, group] = key;
    const bool worth = are_buckets(kind, group) || messages.exposed_s > kWorthWarning * step.seconds();
    if (messages.below > 0 && worth) warnings.push_back(warning_of(kind, group, messages));
  }
  return warnings;
}

}  // namespace busbar
