#include "sim/result/error_figures.h"

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

double quantile(std::vector<double> values, double q) {
  BUSBAR_CHECK(!values.empty() && q >= 0 && q <= 1);
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

double median_of(std::vector<double> values) {
  BUSBAR_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ErrorFigures figures_of(std::span<const double> errors) {
  ErrorFigures figures{.rows = errors.size()};
  if (errors.empty()) return figures;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    figures.mean += sizes.back() / static_cast<double>(errors.size());
    if (sizes.back() > std::abs(figures.worst)) figures.worst = error;
  }
  figures.median = quantile(sizes, 0.5);
  figures.p90 = quantile(sizes, 0.9);
  figures.bias = quantile({errors.begin(), errors.end()}, 0.5);
  return figures;
}

}  // namespace busbar
