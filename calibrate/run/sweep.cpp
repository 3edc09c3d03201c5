#include "calibrate/run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr std::int64_t kMostInABatch = 10000;
constexpr std::int64_t kFewestIsolated = 5, kMostIsolated = 50;

// By linear interpolation between the two nearest of the sorted values.
double quantile_of(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

TimeSpread spread_of(std::vector<double> seconds) {
  BUSBAR_CHECK(!seconds.empty());
  std::sort(seconds.begin(), seconds.end());
  return {quantile_of(seconds, 0.5), quantile_of(seconds, 0.1), quantile_of(seconds, 0.9)};
}

// The slowest member of each sample.
std::vector<double> slowest(const BatchTimes& times) {
  std::vector<double> worst = times.front();
  for (const std::vector<double>& member : times)
    for (std::size_t s = 0; s < worst.size(); ++s) worst[s] = std::max(worst[s], member[s]);
  return worst;
}

struct Effort {
  std::int64_t count = 1, repetitions = 1, isolated = 1;
};

Effort effort_for(double once_s, const RunSettings& settings) {
  const double wanted = std::ceil(settings.shortest_batch_s / std::max(once_s, 1e-9));
  Effort e{.count = static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMostInABatch)))};
  const bool is_long = once_s * static_cast<double>(e.count) > kLongBatch_s;
  e.repetitions = is_long ? std::min(kFewestRepetitions, settings.repetitions) : settings.repetitions;
  e.isolated = is_long ? kFewestRepetitions : std::clamp(e.count, kFewestIsolated, kMostIsolated);
  return e;
}

// What points cost, to judge the next one by.
class Costs {
 public:
  void add(const SweepPoint& point, double seconds) {
    paid_[series(point)][point.size.count()] = seconds;
    double& most = at_size_[group_and_size(point)];
    most = std::max(most, seconds);
  }

  // Between two sizes measured of the same series: in proportion to the larger, at least the smaller's.
  // Beyond the largest: what the dearest other operation of that size and group took. 0 where nothing is
  // known: small sizes pay latency, so they say nothing about large ones.
  [[nodiscard]] double expected(const SweepPoint& point) const {
    if (const auto found = paid_.find(series(point)); found != paid_.end()) {
      const auto above = found->second.lower_bound(point.size.count());
      if (above != found->second.end()) {
        const double share = point.size.as_double() / static_cast<double>(above->first);
        const double below = above == found->second.begin() ? 0 : std::prev(above)->second;
        return std::max(below, above->second * share);
      }
    }
    const auto other = at_size_.find(group_and_size(point));
    return other == at_size_.end() ? 0 : other->second;
  }

 private:
  static std::string series(const SweepPoint& point) {
    SweepPoint any = point;
    any.size = Bytes(0);
    return any.key();
  }
  static std::string group_and_size(const SweepPoint& point) {
    return SweepPoint{.size = point.size, .members = point.members}.key();
  }
  std::map<std::string, std::map<std::int64_t, double>> paid_;
  std::map<std::string, double> at_size_;
};

// The leader's side: which point is next.
class Agenda {
 public:
  Agenda(const std::vector<SweepPoint>& points, const RunSettings& settings, const SweepHooks& hooks)
      : points_(points), settings_(settings), hooks_(hooks), pending_(points.size(), true) {
    const std::set<std::string> done(hooks.done.begin(), hooks.done.end());
    for (std::size_t i = 0; i < points.size(); ++i)
      if (done.contains(points[i].key())) pending_[i] = false;
    skipped_ = static_cast<std::size_t>(std::count(pending_.begin(), pending_.end(), false));
  }

  // The first one that fits the time left.
  [[nodiscard]] std::optional<std::size_t> next() {
    const double left = settings_.budget_s - now();
    for (std::size_t i = 0; i < points_.size() && left > 0; ++i)
      if (pending_[i] && costs_.expected(points_[i]) <= left) return begin(i);
    return std::nullopt;
  }

  void finish(std::size_t i, const PointTimes& times) {
    costs_.add(points_[i], now() - began_);
    ++measured_;
    if (hooks_.save) hooks_.save(times);
  }

  [[nodiscard]] SweepEnd end() const {
    return {measured_, skipped_,
            static_cast<std::size_t>(std::count(pending_.begin(), pending_.end(), true))};
  }

 private:
  [[nodiscard]] double now() const { return hooks_.clock ? hooks_.clock() : 0; }

  std::size_t begin(std::size_t i) {
    began_ = now();
    if (hooks_.report)
      hooks_.report({.done = skipped_ + measured_,
                     .points = points_.size(),
                     .elapsed_s = began_,
                     .left_s = left(),
                     .now = points_[i].key()});
    pending_[i] = false;
    return i;
  }

  [[nodiscard]] double left() const {
    double sum = 0;
    const double mean = measured_ > 0 ? began_ / static_cast<double>(measured_) : 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!pending_[i]) continue;
      const double known = costs_.expected(points_[i]);
      sum += known > 0 ? known : mean;
    }
    return std::min(sum, settings_.budget_s - began_);
  }

  const std::vector<SweepPoint>& points_;
  const RunSettings& settings_;
  const SweepHooks& hooks_;
  std::vector<bool> pending_;
  Costs costs_;
  double began_ = 0;
  std::size_t measured_ = 0, skipped_ = 0;
};

Call call_for(const SweepPoint& point, Pace pace, std::int64_t count) {
  return {.operation = point.operation,
          .size = point.size,
          .members = point.members,
          .choice = point.choice,
          .in_place = point.in_place,
          .pace = pace,
          .count = count};
}

std::optional<std::size_t> parse_index(const std::string& text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(index) : std::nullopt;
}

}  // namespace

PointTimes measure_point(const SweepPoint& point, const RunSettings& settings, Runner& runner) {
  const Call once = call_for(point, Pace::kBackToBack, 1);
  static_cast<void>(runner.time_batch(once));  // connections, registration, first touch
  const Effort effort = effort_for(slowest(runner.time_batch(once)).front(), settings);
  std::vector<double> batches;
  for (std::int64_t r = 0; r < effort.repetitions; ++r)
    batches.push_back(slowest(runner.time_batch(call_for(point, Pace::kBackToBack, effort.count))).front());
  PointTimes times{.point = point, .back_to_back = spread_of(std::move(batches)), .isolated = std::nullopt};
  if (settings.isolated)
    times.isolated = spread_of(slowest(runner.time_batch(call_for(point, Pace::kIsolated, effort.isolated))));
  return times;
}

SweepEnd run_sweep(const RunSettings& settings, Runner& runner, const SweepHooks& hooks) {
  const std::vector<SweepPoint> points = plan_sweep(settings, runner);
  Agenda agenda(points, settings, hooks);
  while (true) {
    std::string told = "end";
    if (runner.leads())
      if (const auto next = agenda.next()) told = fmt::format("{}", *next);
    const auto index = parse_index(runner.from_leader(told));
    if (!index) break;
    BUSBAR_CHECK(*index < points.size());
    const PointTimes times = measure_point(points[*index], settings, runner);
    if (runner.leads()) agenda.finish(*index, times);
  }
  return agenda.end();
}

}  // namespace busbar
