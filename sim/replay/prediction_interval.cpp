#include "sim/replay/prediction_interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "sim/base/statistics.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

/// What operations of a prediction span.
struct Span {
  Bytes least{INT64_MAX}, most{0};
  std::int64_t fewest = INT64_MAX, ranks = 0, hosts = 0;
  std::set<std::string> operations;
  void take(std::string_view operation, Bytes bytes, std::int64_t n) {
    if (bytes.count() == 0 || n < 2) return;
    operations.emplace(operation);
    least = std::min(least, bytes);
    most = std::max(most, bytes);
    fewest = std::min(fewest, n);
    ranks = std::max(ranks, n);
  }
};

Span measured_span(const CalibrationRecord& record) {
  Span span;
  for (const CalibratedRange& r : record.ranges) {
    span.take(name_of(r.operation), r.least, r.ranks);
    span.take(name_of(r.operation), r.most, r.ranks);
    span.hosts = std::max(span.hosts, r.hosts);
  }
  return span;
}

// "send_recv (measured: all_reduce)": operations that have no range.
void add_operations(const CalibrationRecord& record, std::set<std::string> used,
                    std::vector<std::string>& what) {
  std::set<std::string> measured;
  for (const CalibratedRange& r : record.ranges) measured.insert(std::string(name_of(r.operation)));
  for (const std::string& m : measured) used.erase(m);
  if (!used.empty())
    what.push_back(fmt::format("{} (measured: {})", fmt::join(used, ", "), fmt::join(measured, ", ")));
}

std::optional<Warning> beyond(const CalibrationRecord& record, const Span& used) {
  if (used.ranks == 0) return std::nullopt;
  const Span measured = measured_span(record);
  std::vector<std::string> what;
  add_operations(record, used.operations, what);
  if (used.hosts > 1 && measured.hosts <= 1) what.emplace_back("between hosts, where nothing was measured");
  if (used.ranks > measured.ranks)
    what.push_back(fmt::format("{} ranks (measured: at most {})", used.ranks, measured.ranks));
  if (used.fewest < measured.fewest)
    what.push_back(fmt::format("{} ranks (measured: at least {})", used.fewest, measured.fewest));
  if (used.most.as_double() > 2 * measured.most.as_double())
    what.push_back(fmt::format("{} (measured: up to {})", to_text(used.most), to_text(measured.most)));
  if (2 * used.least.as_double() < measured.least.as_double())
    what.push_back(fmt::format("{} (measured: from {})", to_text(used.least), to_text(measured.least)));
  if (what.empty()) return std::nullopt;
  return Warning{"extrapolation",
                 fmt::format("beyond what the profile was calibrated on: {}; measure there, or "
                             "take the prediction with more than its interval",
                             fmt::join(what, "; "))};
}

Warning unmeasured(const std::string& what) {
  return {"not-measured",
          fmt::format("no number that {} rests on was measured: the profile is of other links, sizes "
                      "or GPUs, and its default stands in, without an interval",
                      what)};
}

}  // namespace

Profile drawn(const Profile& profile, std::size_t draw) {
  Profile copy = profile;
  std::vector<ParameterRef> numbers = parameters(copy);
  for (ParameterRef& p : other_parameters(copy)) numbers.push_back(std::move(p));
  const CalibrationRecord& record = profile.calibration;
  for (std::size_t v = 0; v < record.values.size(); ++v)
    for (const ParameterRef& p : numbers)
      if (p.name == record.values[v].name) *p.value *= record.draws[draw][v];
  return copy;
}

std::optional<std::pair<Time, Time>> interval_of(Time time, std::span<const Time> under_draws) {
  if (time <= Time::zero()) return std::nullopt;
  if (std::all_of(under_draws.begin(), under_draws.end(), [&](Time t) { return t == time; }))
    return std::nullopt;
  double squares = 0;
  for (const Time t : under_draws) squares += std::pow(std::log(t.seconds() / time.seconds()), 2);
  const auto n = static_cast<double>(under_draws.size());
  const double half = student_95(n) * std::sqrt(squares / n);
  return std::pair{Time::from_seconds(time.seconds() * std::exp(-half)),
                   Time::from_seconds(time.seconds() * std::exp(half))};
}

std::vector<Profile> drawn_profiles(const Profile& profile) {
  std::vector<Profile> profiles;
  for (std::size_t d = 0; d < profile.calibration.draws.size(); ++d) profiles.push_back(drawn(profile, d));
  return profiles;
}

void add_interval(RunResult& result, std::span<const Time> under_draws) {
  if (under_draws.empty()) return;
  result.step_time_interval = interval_of(result.step_time, under_draws);
  if (!result.step_time_interval) result.warnings.push_back(unmeasured("this step"));
}

void add_intervals(Sweep& sweep, const Profile& profile,
                   const std::function<std::vector<Time>(const Profile&)>& times) {
  const std::size_t draws = profile.calibration.draws.size();
  if (draws == 0) return;
  std::vector<std::vector<Time>> by_row(sweep.rows.size());
  for (std::size_t d = 0; d < draws; ++d) {
    const std::vector<Time> found = times(drawn(profile, d));
    for (std::size_t r = 0; r < by_row.size(); ++r) by_row[r].push_back(found[r]);
  }
  std::size_t without = 0;
  for (std::size_t r = 0; r < by_row.size(); ++r) {
    sweep.rows[r].interval = interval_of(sweep.rows[r].time, by_row[r]);
    without += sweep.rows[r].interval ? 0U : 1U;
  }
  if (without > 0)
    sweep.warnings.push_back(unmeasured(without == by_row.size() ? "any of these rows"
                                                                 : fmt::format("{} of these rows", without)));
}

std::optional<Warning> extrapolation(const Profile& profile, const RunResult& result) {
  if (profile.calibration.ranges.empty()) return std::nullopt;
  Span used;
  for (const CollectiveRecord& c : result.collectives) used.take(c.operation, c.bytes, c.ranks);
  used.hosts = result.hosts;
  return beyond(profile.calibration, used);
}

std::optional<Warning> extrapolation(const Profile& profile, const Sweep& sweep) {
  if (profile.calibration.ranges.empty()) return std::nullopt;
  Span used;
  for (const SweepRow& row : sweep.rows) used.take(name_of(row.operation), row.size, sweep.ranks);
  used.hosts = sweep.hosts;
  return beyond(profile.calibration, used);
}

}  // namespace busbar
