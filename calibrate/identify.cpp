#include "calibrate/identify.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "sim/base/statistics.h"

namespace busbar {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr double kStep = 0.05;     // of a spread
constexpr std::size_t kBlock = 4;  // rows: neighbouring sizes share what the model misses
constexpr int kReweightings = 4;
constexpr double kNormal95 = 1.959964;
constexpr double kLeastFreedom = 3;  // degrees of freedom, below which intervals would be as wide as ranges
constexpr double kMostLeverage = 0.9;

Eigen::Map<const Matrix> matrix(const Sensitivities& s) {
  return {s.values.data(), static_cast<Eigen::Index>(s.rows), static_cast<Eigen::Index>(s.parameters)};
}

// The same on every machine: the standard's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() {  // Box & Muller
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }
  std::size_t below(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(uniform() * static_cast<double>(n)));
  }

 private:
  std::mt19937_64 engine_;
};

// Soft L1's weight of a residual: rho'(r^2).
Vector weights_of(const Vector& residuals, double scale) {
  return (1 + (residuals.array() / scale).square()).rsqrt().matrix();
}

Matrix normal_matrix(const Eigen::Map<const Matrix>& j, const Vector& weights, double noise) {
  Matrix h = j.transpose() * weights.asDiagonal() * j;
  h.diagonal().array() += noise * noise;
  return h;
}

// r_i / sqrt(1 - h_i): what the fit has taken from a row's residual is given back.
Vector freed(const Eigen::Map<const Matrix>& j, const Vector& residuals, const BootstrapOptions& o) {
  const Vector w = weights_of(residuals, o.robust_scale);
  const Matrix inverse = normal_matrix(j, w, o.noise).inverse();
  Vector out = residuals;
  for (Eigen::Index i = 0; i < out.size(); ++i) {
    const double leverage =
        std::clamp(w[i] * j.row(i).dot(inverse * j.row(i).transpose()), 0.0, kMostLeverage);
    out[i] /= std::sqrt(1 - leverage);
  }
  return out;
}

Vector normals(Eigen::Index n, Random& random) {
  Vector out(n);
  for (Eigen::Index i = 0; i < n; ++i) out[i] = random.normal();
  return out;
}

Vector resampled(const Vector& residuals, Random& random) {
  Vector out(residuals.size());
  const auto n = static_cast<std::size_t>(residuals.size());
  const std::size_t block = std::min(kBlock, std::max<std::size_t>(1, n / 8));
  for (std::size_t at = 0; at < n;) {
    const std::size_t from = random.below(n);
    for (std::size_t k = 0; k < block && at < n; ++k, ++at)
      out[static_cast<Eigen::Index>(at)] = residuals[static_cast<Eigen::Index>((from + k) % n)];
  }
  return out;
}

}  // namespace

Sensitivities sensitivities_of(std::span<const FitParameter> parameters, std::size_t rows,
                               const std::function<void(std::span<double>)>& predict) {
  Sensitivities s{rows, parameters.size(), std::vector<double>(rows * parameters.size())};
  std::vector<double> up(rows), down(rows);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const double value = *parameters[p].value;
    *parameters[p].value = value * std::exp(kStep * parameters[p].spread);
    predict(up);
    *parameters[p].value = value * std::exp(-kStep * parameters[p].spread);
    predict(down);
    *parameters[p].value = value;
    for (std::size_t r = 0; r < rows; ++r)
      s.values[r * s.parameters + p] = std::log(up[r] / down[r]) / (2 * kStep);
  }
  return s;
}

std::vector<Pivot> pivots_of(const Sensitivities& sensitivities) {
  std::vector<Pivot> pivots;
  if (sensitivities.rows == 0 || sensitivities.parameters == 0) return pivots;
  const Eigen::ColPivHouseholderQR<Matrix> qr(matrix(sensitivities));
  const auto most = static_cast<Eigen::Index>(std::min(sensitivities.rows, sensitivities.parameters));
  for (Eigen::Index i = 0; i < most; ++i)
    pivots.push_back(
        {static_cast<std::size_t>(qr.colsPermutation().indices()[i]), std::abs(qr.matrixQR()(i, i))});
  return pivots;
}

std::vector<std::vector<double>> bootstrap(const Sensitivities& fitted, const Sensitivities& kept,
                                           std::span<const double> residuals, const BootstrapOptions& o) {
  const auto j = matrix(fitted), others = matrix(kept);
  const Vector found =
      Eigen::Map<const Vector>(residuals.data(), static_cast<Eigen::Index>(residuals.size()));
  const Vector free = freed(j, found, o);
  const double freedom = static_cast<double>(fitted.rows) - static_cast<double>(fitted.parameters);
  const double widened = student_95(std::max(kLeastFreedom, freedom)) / kNormal95;
  Random random(o.seed);
  std::vector<std::vector<double>> draws;
  for (std::size_t d = 0; d < o.draws; ++d) {
    const Vector others_shift = normals(others.cols(), random);
    const Vector r = widened * resampled(free, random) - others * others_shift;
    const Vector prior = o.noise * o.noise * normals(j.cols(), random);
    Vector shift = Vector::Zero(j.cols());
    for (int k = 0; k < kReweightings; ++k) {
      const Vector w = weights_of(r - j * shift, o.robust_scale);
      shift = normal_matrix(j, w, o.noise).ldlt().solve(j.transpose() * w.asDiagonal() * r + prior);
    }
    draws.emplace_back(shift.data(), shift.data() + shift.size());
    draws.back().insert(draws.back().end(), others_shift.data(), others_shift.data() + others_shift.size());
  }
  return draws;
}

}  // namespace busbar
