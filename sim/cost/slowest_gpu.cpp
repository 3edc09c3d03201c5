#include "sim/cost/slowest_gpu.h"

#include <cmath>
#include <numbers>

namespace busbar {

namespace {

constexpr double kFarthest = 8;  // standard deviations: beyond lies less than 1e-15
constexpr int kSteps = 4000;     // of the midpoint rule

}  // namespace

double mean_largest_of(std::int64_t n) {
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const double width = kFarthest / kSteps;
  const auto power = static_cast<double>(n);
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = (i + 0.5) * width;
    sum += 1 - std::pow(below(x), power) - std::pow(below(-x), power);
  }
  return sum * width;
}

double slowest_of(std::int64_t gpus, std::int64_t measured_on) {
  if (gpus == measured_on) return 1;
  return std::exp(kSpeedSpread * (mean_largest_of(gpus) - mean_largest_of(measured_on)));
}

}  // namespace busbar
