#include "sim/study/solve_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <numeric>

#include "sim/base/error.h"
#include "sim/base/statistics.h"
#include "sim/study/suggestions.h"

namespace busbar {

namespace {

constexpr int kBits = 24;            // of ln f: half of a double's, as a minimum allows
constexpr double kStep = 1.01;       // of f, for elasticities
constexpr double kDependsOn = 1e-3;  // root mean square elasticity, below which nothing is told apart

double squares(const MeasuredRows& rows, const Scales& scales) {
  const std::vector<double> predicted = rows.predict(scales);
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    sum += std::pow(std::log(predicted[i] / rows.measured_s[i]), 2);
  return sum;
}

// Root of the sum over rows of squared elasticities at f.
double leverage(const MeasuredRows& rows, const StudyParameter& p, double factor) {
  const std::vector<double> more = rows.predict(p.at(factor * kStep)),
                            less = rows.predict(p.at(factor / kStep));
  double sum = 0;
  for (std::size_t i = 0; i < more.size(); ++i)
    sum += std::pow(std::log(more[i] / less[i]) / (2 * std::log(kStep)), 2);
  return std::sqrt(sum);
}

Time total(const std::vector<double>& times) {
  return Time::from_seconds(std::accumulate(times.begin(), times.end(), 0.0));
}

}  // namespace

Solution solve_rows(const MeasuredRows& rows, const StudyParameter& p) {
  BUSBAR_CHECK(!rows.measured_s.empty());
  const auto [least, most] = searched_range(p);
  Solution s{.parameter = p.name,
             .words = p.words,
             .value_now = value_text(p),
             .measured = total(rows.measured_s),
             .predicted = total(rows.predict({})),
             .range = {least, most},
             .range_times = {total(rows.predict(p.at(least))), total(rows.predict(p.at(most)))}};
  std::vector<double> x, value;
  for (double at = std::log(least); at < std::log(most) + 0.1; at += 0.5 * std::log(10.0)) {
    x.push_back(at);
    value.push_back(squares(rows, p.at(std::exp(at))));
  }
  const auto best = static_cast<std::size_t>(std::min_element(value.begin(), value.end()) - value.begin());
  if (best == 0 || best + 1 == x.size()) return s;
  const auto [found, sum] = boost::math::tools::brent_find_minima(
      [&](double at) { return squares(rows, p.at(std::exp(at))); }, x[best - 1], x[best + 1], kBits);
  const double lever = leverage(rows, p, std::exp(found));
  const auto n = static_cast<double>(rows.measured_s.size());
  if (lever < kDependsOn * std::sqrt(n)) return s;
  s.factor = std::exp(found);
  s.value = value_text(p, *s.factor);
  s.implausibility = implausibility(p, *s.factor);
  s.suggestion = suggestion_for(p, *s.factor);
  if (n < 2) return s;
  const double error = student_95(n - 1) * std::sqrt(sum / (n - 1)) / lever;
  s.low = std::exp(found - error);
  s.high = std::exp(found + error);
  s.value_low = value_text(p, *s.low);
  s.value_high = value_text(p, *s.high);
  s.interval_of = fmt::format("95 %, by the scatter of {} measured sizes", rows.measured_s.size());
  return s;
}

}  // namespace busbar
