#include "calibrate/curve_breaks.h"

#include <algorithm>
#include <cmath>

namespace busbar {

namespace {

constexpr double kFalls = 0.95;
constexpr double kSteeper = 1.5;  // d log(time) / d log(size); a latency and a rate give at most 1
constexpr double kGrows = 1.3;

bool breaks(const ObservedRow& a, const ObservedRow& b) {
  const double times = b.time_s / a.time_s;
  if (times < kFalls) return true;
  const double slope = std::log(times) / std::log(b.size.as_double() / a.size.as_double());
  return slope > kSteeper && times > kGrows;
}

}  // namespace

std::vector<CurveBreak> curve_breaks(const Observed& observed, const std::vector<bool>& outliers) {
  std::vector<CurveBreak> found;
  for (const ObservedTable& table : observed.tables()) {
    if (table.forced) continue;
    std::vector<std::size_t> kept;
    for (std::size_t i = table.first; i < table.first + table.rows; ++i)
      if (!outliers[i]) kept.push_back(i);
    std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
      return observed.rows()[a].size < observed.rows()[b].size;
    });
    for (std::size_t k = 1; k < kept.size(); ++k) {
      const ObservedRow &a = observed.rows()[kept[k - 1]], &b = observed.rows()[kept[k]];
      if (a.size == b.size || !breaks(a, b)) continue;
      found.push_back({table.name, a.size, b.size, a.time_s, b.time_s, observed.choice(kept[k - 1]),
                       observed.choice(kept[k])});
    }
  }
  return found;
}

}  // namespace busbar
