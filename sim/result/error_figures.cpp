#include "sim/result/error_figures.h"

#include <cmath>

#include "sim/base/statistics.h"

namespace busbar {

ErrorFigures figures_of(std::span<const double> errors) {
  ErrorFigures figures{.rows = errors.size()};
  if (errors.empty()) return figures;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    figures.mean += sizes.back() / static_cast<double>(errors.size());
    if (sizes.back() > std::abs(figures.worst)) figures.worst = error;
  }
  figures.median = median_of(sizes);
  figures.p90 = quantile(sizes, 0.9);
  figures.bias = median_of({errors.begin(), errors.end()});
  return figures;
}

}  // namespace busbar
