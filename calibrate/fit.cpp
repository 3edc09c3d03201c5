#include "calibrate/fit.h"

#include <ceres/ceres.h>

#include <algorithm>
#include <cmath>

namespace busbar {

namespace {

// sign(r) sqrt(rho(r^2)) with rho the soft-L1 loss of scale s: its square is what a robust fit adds up.
double softened(double r, double s) {
  if (std::isinf(s)) return r;
  const double rho = 2 * s * s * (std::sqrt(1 + r * r / (s * s)) - 1);
  return std::copysign(std::sqrt(rho), r);
}

/// Residuals for y, where a parameter is its centre times exp(spread (y - middle)): y stays above zero, so
/// that relative steps of numeric differentiation have a size.
class Residuals {
 public:
  Residuals(std::span<const FitParameter> parameters, std::span<const FitObservation> observations,
            const std::function<void(std::span<double>)>& predict, const FitOptions& options)
      : parameters_(parameters), observations_(observations), predict_(&predict), options_(&options) {
    for (const FitParameter& p : parameters_) {
      centre_.push_back(p.centre > 0 ? p.centre : *p.value);
      middle_ = std::max(middle_, p.most_spreads + 1);
    }
    predicted_.resize(observations_.size());
  }

  void set(const double* y) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      *parameters_[i].value = centre_[i] * std::exp(parameters_[i].spread * (y[i] - middle_));
  }

  /// Where the numbers stand, inside the bounds.
  [[nodiscard]] std::vector<double> start() const {
    std::vector<double> y;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const double away = std::log(*parameters_[i].value / centre_[i]) / parameters_[i].spread;
      y.push_back(std::clamp(middle_ + away, lower(i), upper(i)));
    }
    return y;
  }

  [[nodiscard]] double middle() const { return middle_; }
  [[nodiscard]] double lower(std::size_t i) const { return middle_ - parameters_[i].most_spreads; }
  [[nodiscard]] double upper(std::size_t i) const {
    const double most = std::log(parameters_[i].most / centre_[i]) / parameters_[i].spread;
    return middle_ + std::min(parameters_[i].most_spreads, most);
  }

  bool operator()(double const* const* y, double* residuals) const {
    set(y[0]);
    (*predict_)(predicted_);
    for (std::size_t i = 0; i < observations_.size(); ++i)
      residuals[i] = softened(std::log(predicted_[i] / observations_[i].measured_s), options_->robust_scale) *
                     std::sqrt(observations_[i].weight);
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      residuals[observations_.size() + i] =
          options_->prior_weight * softened(y[0][i] - middle_, options_->prior_scale);
    return true;
  }

 private:
  std::span<const FitParameter> parameters_;
  std::span<const FitObservation> observations_;
  const std::function<void(std::span<double>)>* predict_;
  const FitOptions* options_;
  std::vector<double> centre_;
  double middle_ = 1;
  mutable std::vector<double> predicted_;
};

}  // namespace

FitSummary fit(std::span<const FitParameter> parameters, std::span<const FitObservation> observations,
               const std::function<void(std::span<double>)>& predict, const FitOptions& options) {
  if (parameters.empty() || observations.empty()) return {};
  const Residuals residuals(parameters, observations, predict, options);
  std::vector<double> y = residuals.start();
  ceres::NumericDiffOptions difference;
  difference.relative_step_size = 1e-3 / residuals.middle();
  auto cost = std::make_unique<ceres::DynamicNumericDiffCostFunction<const Residuals, ceres::FORWARD>>(
      &residuals, ceres::DO_NOT_TAKE_OWNERSHIP, difference);
  cost->AddParameterBlock(static_cast<int>(y.size()));
  cost->SetNumResiduals(static_cast<int>(observations.size() + parameters.size()));
  ceres::Problem problem;
  problem.AddResidualBlock(cost.release(), nullptr, y.data());
  for (int i = 0; i < static_cast<int>(y.size()); ++i) {
    const auto index = static_cast<std::size_t>(i);
    problem.SetParameterLowerBound(y.data(), i, residuals.lower(index));
    problem.SetParameterUpperBound(y.data(), i, residuals.upper(index));
  }
  ceres::Solver::Options solver;
  solver.linear_solver_type = ceres::DENSE_QR;
  solver.max_num_iterations = options.most_iterations;
  solver.function_tolerance = 1e-5;
  solver.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(solver, &problem, &summary);
  residuals.set(y.data());
  return {.start_cost = summary.initial_cost,
          .cost = summary.final_cost,
          .iterations = static_cast<int>(summary.iterations.size()),
          .converged = summary.termination_type == ceres::CONVERGENCE};
}

}  // namespace busbar
