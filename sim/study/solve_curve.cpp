#include "sim/study/solve_curve.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>

namespace busbar {

namespace {

constexpr double kExact = 1e-7;            // of ln f: a step of a minute moves by some microseconds
constexpr std::uintmax_t kMostSteps = 60;  // TOMS 748 needs about ten
constexpr double kEqual = 1e-9;            // relative difference of step times that rounding makes
constexpr double kNarrow = 2e-3;           // of ln f, in which a jump is left: a tenth of what is asked of f
constexpr double kSameRoot = 1e-6;         // of ln f: one root on the point between two cells

}  // namespace

SolveCurve::SolveCurve(Function function, const std::vector<double>& grid) : function_(std::move(function)) {
  points_.push_back(at(grid.front()));
  for (std::size_t i = 1; i < grid.size(); ++i) add_to(at(grid[i]));
}

SolveCurve::Point SolveCurve::at(double x) const {
  const Value value = function_(x);
  return {x, value.log_time, value.choices};
}

// Halves of the cell that begins at the last point, lowest first.
void SolveCurve::add_to(const Point& end) {
  const Point from = points_.back();
  if (from.choices != end.choices && end.x - from.x > kNarrow) {
    add_to(at((from.x + end.x) / 2));
    add_to(end);
    return;
  }
  points_.push_back(end);
}

// Over a jump there is none, unless an end of it is one as nearly as the jump is known.
std::optional<double> SolveCurve::root_in(const Point& from, const Point& to, double aim) const {
  const double below = from.log_time - aim, above = to.log_time - aim;
  if (below * above > 0 || (below == 0 && above == 0)) return std::nullopt;
  if (below == 0) return from.x;
  if (above == 0) return to.x;
  if (from.choices != to.choices) {
    const bool first = std::abs(below) < std::abs(above);
    if (std::abs(first ? below : above) > kNarrow) return std::nullopt;
    return first ? from.x : to.x;
  }
  std::uintmax_t steps = kMostSteps;
  const auto [low, high] = boost::math::tools::toms748_solve(
      [&](double x) { return at(x).log_time - aim; }, from.x, to.x, below, above,
      [](double a, double b) { return std::abs(b - a) < kExact; }, steps);
  return (low + high) / 2;
}

std::vector<double> SolveCurve::roots(double aim) const {
  std::vector<double> found;
  for (std::size_t i = 0; i + 1 < points_.size(); ++i)
    if (const auto x = root_in(points_[i], points_[i + 1], aim); x)
      if (found.empty() || *x - found.back() > kSameRoot) found.push_back(*x);
  return found;
}

// Outwards to the first point that lies outside; from the last one inside, or x, to it.
std::optional<double> SolveCurve::end_of_stretch(const Point& from, bool up, double least,
                                                 double most) const {
  const auto is_out = [&](const Point& p) {
    return (up ? p.x > from.x : p.x < from.x) && (p.log_time < least || p.log_time > most);
  };
  Point last = from;
  const auto end_in = [&](auto begin, auto end) -> std::optional<double> {
    const auto out = std::find_if(begin, end, is_out);
    if (out == end) return std::nullopt;
    if (out != begin && (up ? std::prev(out)->x > from.x : std::prev(out)->x < from.x))
      last = *std::prev(out);
    const double aim = out->log_time > most ? most : least;
    if (const auto x = up ? root_in(last, *out, aim) : root_in(*out, last, aim)) return x;
    return last.x;  // a jump leads out
  };
  return up ? end_in(points_.begin(), points_.end()) : end_in(points_.rbegin(), points_.rend());
}

std::pair<std::optional<double>, std::optional<double>> SolveCurve::stretch(double x, double least,
                                                                            double most) const {
  const Point from = at(x);
  return {end_of_stretch(from, false, least, most), end_of_stretch(from, true, least, most)};
}

bool SolveCurve::is_monotone(bool grows) const {
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const double rise = points_[i].log_time - points_[i - 1].log_time;
    if ((grows ? -rise : rise) > kEqual) return false;
  }
  return true;
}

}  // namespace busbar
