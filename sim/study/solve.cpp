#include "sim/study/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/study/suggestions.h"

namespace busbar {

namespace {

constexpr double kExact = 1e-7;            // of ln f: a step of a minute moves by some microseconds
constexpr std::uintmax_t kMostSteps = 60;  // TOMS 748 needs about ten
constexpr double kEqual = 1e-9;            // relative difference of step times that rounding makes

/// ln T over x = ln f, at the points of a grid that brackets roots.
struct Curve {
  std::vector<double> x, log_time;
};

double log_time(Rerun& rerun, const StudyParameter& p, double x) {
  return std::log(rerun.step_time(p.at(std::exp(x))).seconds());
}

// Two points for each factor of ten, and 1.
Curve curve_of(Rerun& rerun, const StudyParameter& p) {
  const auto [least, most] = searched_range(p);
  Curve curve;
  const int from = static_cast<int>(std::lround(2 * std::log10(least)));
  const int to = static_cast<int>(std::lround(2 * std::log10(most)));
  for (int i = from; i <= to; ++i) curve.x.push_back(i / 2.0 * std::log(10.0));
  for (const double x : curve.x) curve.log_time.push_back(log_time(rerun, p, x));
  return curve;
}

// Rates shorten a step, times lengthen it.
bool is_monotone(const Curve& curve, bool grows) {
  for (std::size_t i = 1; i < curve.x.size(); ++i) {
    const double rise = curve.log_time[i] - curve.log_time[i - 1];
    if ((grows ? -rise : rise) > kEqual) return false;
  }
  return true;
}

/// Two points with ln T - aim of both signs, or 0 at one.
struct Bracket {
  double x_from, x_to, from, to;
};

double root_in(Rerun& rerun, const StudyParameter& p, const Bracket& b, double aim) {
  if (b.from == 0) return b.x_from;
  if (b.to == 0) return b.x_to;
  if (b.x_from > b.x_to) return root_in(rerun, p, {b.x_to, b.x_from, b.to, b.from}, aim);
  std::uintmax_t steps = kMostSteps;
  const auto [low, high] = boost::math::tools::toms748_solve(
      [&](double x) { return log_time(rerun, p, x) - aim; }, b.x_from, b.x_to, b.from, b.to,
      [](double from, double to) { return std::abs(to - from) < kExact; }, steps);
  return (low + high) / 2;
}

/// x at which ln T is `aim`, of the bracket nearest to x = 0; none: no bracket.
std::optional<double> root(Rerun& rerun, const StudyParameter& p, const Curve& curve, double aim) {
  std::optional<Bracket> best;
  const auto away = [](const Bracket& b) { return std::min(std::abs(b.x_from), std::abs(b.x_to)); };
  for (std::size_t i = 0; i + 1 < curve.x.size(); ++i) {
    const Bracket b{curve.x[i], curve.x[i + 1], curve.log_time[i] - aim, curve.log_time[i + 1] - aim};
    if (b.from * b.to > 0 || (b.from == 0 && b.to == 0)) continue;
    if (!best || away(b) < away(*best)) best = b;
  }
  return best ? std::optional(root_in(rerun, p, *best, aim)) : std::nullopt;
}

/// The same from x = 0 outwards, in the direction that a monotone curve leaves: fewer replays.
std::optional<double> nearest_root(Rerun& rerun, const StudyParameter& p, double log_base, double aim) {
  const double base = log_base - aim;
  if (base == 0) return 0;
  const bool up = (base < 0) == p.is_time();
  const auto [least, most] = searched_range(p);
  const double end = std::log(up ? most : least), step = (up ? 0.5 : -0.5) * std::log(10.0);
  if ((log_time(rerun, p, end) - aim) * base > 0) return std::nullopt;
  Bracket b{0, 0, base, base};
  while (b.to * base > 0) {
    b.x_from = std::exchange(b.x_to, up ? std::min(end, b.x_to + step) : std::max(end, b.x_to + step));
    b.from = std::exchange(b.to, log_time(rerun, p, b.x_to) - aim);
  }
  return root_in(rerun, p, b, aim);
}

std::pair<Time, Time> times_about(const SolveTarget& target) {
  if (target.p10 && target.p90 && *target.p10 > Time::zero() && *target.p10 < *target.p90)
    return {std::min(*target.p10, target.time), std::max(*target.p90, target.time)};
  return {scaled(target.time, 1 - target.tolerance), scaled(target.time, 1 + target.tolerance)};
}

void find_interval(Solution& s, Rerun& rerun, const StudyParameter& p, const Curve& curve,
                   const SolveTarget& target) {
  const auto [quick, slow] = times_about(target);
  const auto at = [&](Time time) -> std::optional<double> {
    const auto x = root(rerun, p, curve, std::log(time.seconds()));
    return x ? std::optional(std::exp(*x)) : std::nullopt;
  };
  s.low = at(p.is_time() ? quick : slow);
  s.high = at(p.is_time() ? slow : quick);
  s.value_low = s.low ? value_text(p, *s.low) : "";
  s.value_high = s.high ? value_text(p, *s.high) : "";
  s.interval_of = target.p10 && target.p90 ? "10th to 90th percentile of the measured steps"
                                           : fmt::format("{:.3g} % of the step time", 100 * target.tolerance);
}

// What a solution says besides its interval and its search.
Solution solution_at(const StudyParameter& p, const SolveTarget& target, Time predicted,
                     std::optional<double> x) {
  Solution s{.parameter = p.name,
             .words = p.words,
             .value_now = value_text(p),
             .measured = target.time,
             .predicted = predicted,
             .range = searched_range(p)};
  if (!x) return s;
  s.factor = std::exp(*x);
  s.value = value_text(p, *s.factor);
  s.implausibility = implausibility(p, *s.factor);
  s.suggestion = suggestion_for(p, *s.factor);
  return s;
}

void check(const SolveTarget& target, Time predicted) {
  if (target.time <= Time::zero())
    throw Error({.where = "measured step", .expected = "a time above 0", .given = to_text(target.time)});
  if (predicted <= Time::zero())
    throw Error({.where = "predicted step", .message = "it takes no time: nothing explains a measured one"});
}

}  // namespace

Solution solve(Rerun& rerun, const StudyParameter& p, const SolveTarget& target) {
  const Time predicted = rerun.step_time();
  check(target, predicted);
  const Curve curve = curve_of(rerun, p);
  const auto x = root(rerun, p, curve, std::log(target.time.seconds()));
  Solution s = solution_at(p, target, predicted, x);
  s.range_times = {Time::from_seconds(std::exp(curve.log_time.front())),
                   Time::from_seconds(std::exp(curve.log_time.back()))};
  s.monotone = is_monotone(curve, p.is_time());
  if (x) find_interval(s, rerun, p, curve, target);
  return s;
}

std::vector<Solution> closing_changes(const StudiedStep& step, const SolveTarget& target) {
  Rerun rerun(*step.topology, *step.trace, *step.profile, step.options);
  const Time predicted = rerun.step_time();
  check(target, predicted);
  const double base = std::log(predicted.seconds()), aim = std::log(target.time.seconds());
  std::vector<Solution> changes;
  for (const StudyParameter& p : study_parameters(*step.topology))
    if (const auto x = nearest_root(rerun, p, base, aim))
      changes.push_back(solution_at(p, target, predicted, x));
  sort_by_plausibility(changes);
  return changes;
}

void sort_by_plausibility(std::vector<Solution>& solutions) {
  std::stable_sort(solutions.begin(), solutions.end(), [](const Solution& a, const Solution& b) {
    return std::pair(!a.factor, a.implausibility) < std::pair(!b.factor, b.implausibility);
  });
}

std::string closing_sentence(std::span<const Solution> changes) {
  if (changes.empty()) return "no single parameter closes the gap, whatever its value";
  const Solution& s = changes.front();
  std::string text = fmt::format("{} x {:.3g} would close it", s.words, *s.factor);
  if (!s.value.empty()) text += fmt::format(" ({} instead of {})", s.value, s.value_now);
  if (!s.suggestion.empty()) text += ": " + s.suggestion;
  return text;
}

}  // namespace busbar
