// How much slower the slowest of many GPUs is than the slowest of a few.
#pragma once

#include <cstdint>

namespace busbar {

/// Standard deviation of the logarithm of the speed of GPUs of one model, as far as steps show it. From weak
/// scaling: the same job per GPU on 16 to 1,024 H100 (NVIDIA/dgxc-benchmarking, nine families without
/// pipelines, 52 steps) takes 1.8 % longer for each standard deviation that the slowest GPU lies further out,
/// with everything that is simulated taken off; the median of the families, of which each takes longer on
/// more (tests/regress/weak_scaling_test.cpp makes the fit). It agrees with what was measured of the GPUs
/// themselves: 8 % between the fastest and the slowest of a cluster (Sinha et al., Not All GPUs Are Created
/// Equal, SC 2022), about four standard deviations.
inline constexpr double kSpeedSpread = 0.018;

/// The mean of the largest of n draws from the standard normal distribution:
///   E = integral over x > 0 of (1 - F(x)^n - F(-x)^n), F its distribution function.
/// Requires: n >= 1.      Cost: some thousand evaluations of F.
[[nodiscard]] double mean_largest_of(std::int64_t n);

/// A step waits for its slowest GPU. How many times as long kernels take on `gpus` as on `measured_on`:
///   exp(kSpeedSpread (mean_largest_of(gpus) - mean_largest_of(measured_on))).
[[nodiscard]] double slowest_of(std::int64_t gpus, std::int64_t measured_on);

}  // namespace busbar
