#include "sim/study/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/study/solve_curve.h"
#include "sim/study/suggestions.h"

namespace busbar {

namespace {

constexpr double kSameFactor = 5e-3;                      // of ln f, within which both curves give one value
constexpr double kAsWell = 0.02;                          // of the error of parts: as well as the best
constexpr double kKnownLeast = 1.0 / 16, kKnownMost = 4;  // of NICs that are other ones than described
constexpr int kKnownPerOctave = 4;

double log_time(Rerun& rerun, const StudyParameter& p, double x) {
  return std::log(rerun.step_time(p.at(std::exp(x))).seconds());
}

// Two points for each factor of ten, and 1.
SolveCurve curve_of(Rerun& rerun, const StudyParameter& p) {
  const auto [least, most] = searched_range(p);
  std::vector<double> grid;
  const int from = static_cast<int>(std::lround(2 * std::log10(least)));
  const int to = static_cast<int>(std::lround(2 * std::log10(most)));
  for (int i = from; i <= to; ++i) grid.push_back(i / 2.0 * std::log(10.0));
  return SolveCurve([&rerun, p](double x) { return SolveCurve::Value{log_time(rerun, p, x)}; }, grid);
}

Scales known_at(const StudyParameter& nics, double factor) {
  Scales scales = nics.at(factor);
  scales.nics_known_as = factor;
  return scales;
}

SolveCurve curve_of_known(Rerun& rerun, const StudyParameter& nics) {
  std::vector<double> grid;
  const double step = std::log(2.0) / kKnownPerOctave;
  for (double x = std::log(kKnownLeast); x < std::log(kKnownMost) + step / 2; x += step) grid.push_back(x);
  return SolveCurve(
      [&rerun, nics](double x) {
        const Rerun::Chosen chosen = rerun.chosen_anew(known_at(nics, std::exp(x)));
        return SolveCurve::Value{std::log(chosen.time.seconds()), chosen.choices};
      },
      grid);
}

/// From x = 0 outwards, in the direction that a monotone curve leaves: fewer replays than a curve.
std::optional<double> nearest_root(Rerun& rerun, const StudyParameter& p, double log_base, double aim) {
  const double base = log_base - aim;
  if (base == 0) return 0;
  const bool up = (base < 0) == p.is_time();
  const auto [least, most] = searched_range(p);
  const double end = std::log(up ? most : least), step = (up ? 0.5 : -0.5) * std::log(10.0);
  if ((log_time(rerun, p, end) - aim) * base > 0) return std::nullopt;
  double from = 0, to = 0, found = base;
  while (found * base > 0) {
    from = std::exchange(to, up ? std::min(end, to + step) : std::max(end, to + step));
    found = log_time(rerun, p, to) - aim;
  }
  const SolveCurve cell([&](double x) { return SolveCurve::Value{log_time(rerun, p, x)}; },
                        {std::min(from, to), std::max(from, to)});
  const std::vector<double> roots = cell.roots(aim);
  return up ? roots.front() : roots.back();
}

std::pair<Time, Time> times_about(const SolveTarget& target) {
  if (target.p10 && target.p90 && *target.p10 > Time::zero() && *target.p10 < *target.p90)
    return {std::min(*target.p10, target.time), std::max(*target.p90, target.time)};
  return {scaled(target.time, 1 - target.tolerance), scaled(target.time, 1 + target.tolerance)};
}

std::vector<Alternative> explaining(const SolveCurve& curve, const StudyParameter& p,
                                    const SolveTarget& target, bool chosen_anew) {
  const auto [quick, slow] = times_about(target);
  std::vector<Alternative> found;
  for (const double x : curve.roots(std::log(target.time.seconds()))) {
    Alternative a{.factor = std::exp(x), .chosen_anew = chosen_anew};
    a.value = value_text(p, a.factor);
    const auto [low, high] = curve.stretch(x, std::log(quick.seconds()), std::log(slow.seconds()));
    if (low) a.low = std::exp(*low);
    if (high) a.high = std::exp(*high);
    a.value_low = low ? value_text(p, *a.low) : "";
    a.value_high = high ? value_text(p, *a.high) : "";
    found.push_back(std::move(a));
  }
  return found;
}

double away(const Alternative& a) { return std::abs(std::log(a.factor)); }

// Those of the machine as it is known first; NICs that are known to be so where they say something else.
void add_known(std::vector<Alternative>& list, std::vector<Alternative> known) {
  for (Alternative& a : known)
    if (std::none_of(list.begin(), list.end(), [&](const Alternative& other) {
          return std::abs(std::log(a.factor / other.factor)) < kSameFactor;
        }))
      list.push_back(std::move(a));
}

// The nearest to 1 first, and before the others those that explain the parts of the step.
void judge(std::vector<Alternative>& list, Rerun& rerun, const StudyParameter& p, const SolveTarget& target) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Alternative& a, const Alternative& b) { return away(a) < away(b); });
  if (!target.parts_error || list.size() < 2) return;
  std::optional<double> least;
  for (Alternative& a : list) {
    a.parts_error = target.parts_error(rerun.result(a.chosen_anew ? known_at(p, a.factor) : p.at(a.factor)));
    if (a.parts_error) least = std::min(least.value_or(*a.parts_error), *a.parts_error);
  }
  for (Alternative& a : list) a.contradicts_parts = a.parts_error && *a.parts_error > *least + kAsWell;
  std::stable_partition(list.begin(), list.end(), [](const Alternative& a) { return !a.contradicts_parts; });
}

void take(Solution& s, std::vector<Alternative> list, const SolveTarget& target) {
  const Alternative& a = list.front();
  s.low = a.low;
  s.high = a.high;
  s.value_low = a.value_low;
  s.value_high = a.value_high;
  s.chosen_anew = a.chosen_anew;
  if (a.chosen_anew) s.suggestion = "NICs of another rate than the topology says?";
  s.parts_error = a.parts_error;
  s.interval_of = target.p10 && target.p90 ? "10th to 90th percentile of the measured steps"
                                           : fmt::format("{:.3g} % of the step time", 100 * target.tolerance);
  s.alternatives.assign(list.begin() + 1, list.end());
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
  const SolveCurve curve = curve_of(rerun, p);
  std::vector<Alternative> list = explaining(curve, p, target, false);
  if (p.link_class == kNicClass) add_known(list, explaining(curve_of_known(rerun, p), p, target, true));
  judge(list, rerun, p, target);
  Solution s = solution_at(p, target, predicted,
                           list.empty() ? std::nullopt : std::optional(std::log(list.front().factor)));
  s.range_times = {Time::from_seconds(std::exp(curve.first())), Time::from_seconds(std::exp(curve.last()))};
  s.monotone = curve.is_monotone(p.is_time());
  if (!list.empty()) take(s, std::move(list), target);
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
