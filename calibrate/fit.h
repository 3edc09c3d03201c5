// Robust least squares on the logarithm of times: what default profiles and calibrations are fitted with.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace busbar {

/// A number to fit. `spread`: standard deviation of its logarithm about `centre`, a prior; it may lie at most
/// `most_spreads` of these away, and not above `most`. The search starts from the number's value.
struct FitParameter {
  std::string name;
  double* value = nullptr;  // above zero
  double spread = 0.5;
  double centre = 0;  // 0: the value it starts from
  double most = std::numeric_limits<double>::infinity();
  double most_spreads = 4;
};

struct FitObservation {
  double measured_s = 0;  // above zero
  double weight = 1;
};

struct FitOptions {
  double robust_scale = 0.05;  // |log error| beyond which an observation counts linearly, not squared
  double prior_weight = 0.03;  // of one spread's departure, against one observation's |log error|
  /// Spreads beyond which a departure counts linearly: a fault is not held back as noise is.
  double prior_scale = std::numeric_limits<double>::infinity();
  int most_iterations = 60;
};

struct FitSummary {
  double start_cost = 0, cost = 0;
  int iterations = 0;
  bool converged = false;
};

/// Writes the fitted values through `parameters`. `predict` fills predicted_s (as long as the observations)
/// for the values that stand there when it is called. Requires: `predict` gives times above zero. Source:
/// trust-region least squares of Ceres Solver; soft-L1 loss.
[[nodiscard]] FitSummary fit(std::span<const FitParameter> parameters,
                             std::span<const FitObservation> observations,
                             const std::function<void(std::span<double> predicted_s)>& predict,
                             const FitOptions& options);

}  // namespace busbar
