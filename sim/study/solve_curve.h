// A step time over one parameter: every value at which it is a given one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace busbar {

/// ln T over x = ln f on a grid. Where what a library chooses differs between two points, T may jump: such
/// cells are halved until they are narrow, so that what is left in between is continuous.
class SolveCurve {
 public:
  struct Value {
    double log_time = 0;
    std::uint64_t choices = 0;  // prints of what was chosen
  };
  using Function = std::function<Value(double x)>;
  /// Requires: `grid` ascending.
  SolveCurve(Function function, const std::vector<double>& grid);

  /// Every x of a bracket at which ln T is `aim`, ascending, by TOMS 748. Two roots in one cell are not seen.
  /// Source: Alefeld, Potra & Shi 1995, "Algorithm 748: enclosing zeros of continuous functions"
  /// (Boost.Math).
  [[nodiscard]] std::vector<double> roots(double aim) const;
  /// The ends of the stretch about x on which ln T stays from `least` to `most`; none: beyond the grid.
  [[nodiscard]] std::pair<std::optional<double>, std::optional<double>> stretch(double x, double least,
                                                                                double most) const;
  [[nodiscard]] bool is_monotone(bool grows) const;
  [[nodiscard]] double first() const { return points_.front().log_time; }
  [[nodiscard]] double last() const { return points_.back().log_time; }

 private:
  struct Point {
    double x, log_time;
    std::uint64_t choices;
  };
  [[nodiscard]] Point at(double x) const;
  void add_to(const Point& end);
  [[nodiscard]] std::optional<double> root_in(const Point& from, const Point& to, double aim) const;
  [[nodiscard]] std::optional<double> end_of_stretch(const Point& from, bool up, double least,
                                                     double most) const;

  Function function_;
  std::vector<Point> points_;
};

}  // namespace busbar
