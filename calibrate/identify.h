// Which numbers a set of measurements pins, and how far it leaves them free: linear algebra on sensitivities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "calibrate/fit.h"

namespace busbar {

/// d log(time) / d(parameter in spreads of its logarithm); row-major, rows x parameters.
struct Sensitivities {
  std::size_t rows = 0, parameters = 0;
  std::vector<double> values;
  [[nodiscard]] double at(std::size_t row, std::size_t parameter) const {
    return values[row * parameters + parameter];
  }
};

/// By central differences of a twentieth of a spread about the values that stand there, which are restored.
[[nodiscard]] Sensitivities sensitivities_of(std::span<const FitParameter> parameters, std::size_t rows,
                                             const std::function<void(std::span<double>)>& predict);

/// What one parameter adds to all stronger ones: the length of the part of its column that theirs do not
/// span.
struct Pivot {
  std::size_t parameter = 0;
  double strength = 0;  // |R_ii|: against the noise of log(time), the spreads that measurements tell apart
};

/// Strongest first, as many as rows or parameters: a QR decomposition with column pivoting.
/// Source: Golub & Van Loan, Matrix Computations, 4th ed., section 5.4.2.
[[nodiscard]] std::vector<Pivot> pivots_of(const Sensitivities& sensitivities);

struct BootstrapOptions {
  std::size_t draws = 200;
  double noise = 0.03;         // of log(time), robust
  double robust_scale = 0.06;  // of the fit (fit.h)
  std::uint64_t seed = 0;
};

/// Where the true values may lie: per draw a shift of each fitted parameter, then of each kept one, in
/// spreads. Residuals are resampled in blocks of neighbouring rows, freed from their own leverage; those
/// parameters that kept their start are drawn by their prior, which moves what the fitted ones have to
/// explain; and the fit's linearised form is solved anew with the same loss and a prior drawn about its mean.
/// The residuals' part is widened by Student's factor for as many degrees of freedom as rows exceed fitted
/// parameters by.
/// Shapes:   residuals = log(measured / predicted), one per row of both sensitivities.
/// Source:   Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 9; blocks: Kuensch, Annals
/// of Statistics 17, 1989; drawn priors: Oliver, He & Reynolds 1996 (randomised maximum likelihood).
[[nodiscard]] std::vector<std::vector<double>> bootstrap(const Sensitivities& fitted,
                                                         const Sensitivities& kept,
                                                         std::span<const double> residuals,
                                                         const BootstrapOptions& options);

}  // namespace busbar
