// A parameter found from many times at once.
#include "sim/study/solve_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace busbar {
namespace {

StudyParameter nics() {
  return {.kind = StudyParameter::Kind::kBandwidth,
          .name = "nic-bandwidth",
          .words = "NIC bandwidth per host",
          .link_class = "nic",
          .value_Bps = 400e9};
}

/// Sizes that take a latency alone, both, and nearly the transfer alone.
std::vector<double> times(const Scales& scales) {
  const double f = scales.bandwidth_of("nic");
  return {1e-5, 1e-5 + 1e-5 / f, 1e-5 + 1e-4 / f, 1e-5 + 1e-3 / f, 1e-5 + 1e-2 / f};
}

TEST(SolveRows, FindTheFactorThatTheyWereMadeWith) {
  const Solution s = solve_rows({times(nics().at(0.7)), times}, nics());
  ASSERT_TRUE(s.factor);
  EXPECT_NEAR(*s.factor, 0.7, 1e-4);
  EXPECT_EQ(s.value, "280 GB/s");
  EXPECT_EQ(s.value_now, "400 GB/s");
}

// ln T = ln T(f) + noise of 3 %: the interval of 95 % holds the factor that often.
TEST(SolveRows, HoldTheFactorInTheirInterval) {
  std::size_t held = 0;
  constexpr std::size_t kDraws = 100;
  for (std::uint32_t seed = 1; seed <= kDraws; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.03);
    std::vector<double> measured = times(nics().at(0.7));
    for (double& t : measured) t *= std::exp(noise(random));
    const Solution s = solve_rows({measured, times}, nics());
    ASSERT_TRUE(s.factor) << "seed " << seed;
    if (*s.low <= 0.7 && 0.7 <= *s.high) ++held;
  }
  EXPECT_GE(held, kDraws * 88 / 100);  // 95 less three standard deviations of a count
}

TEST(SolveRows, FindNothingInTimesThatDoNotDependOnIt) {
  const auto latency = [](const Scales&) { return std::vector<double>{1e-5, 2e-5}; };
  EXPECT_FALSE(solve_rows({{2e-5, 3e-5}, latency}, nics()).factor);
  // Faster than any bandwidth makes them: the best lies at the end of the range.
  EXPECT_FALSE(solve_rows({{5e-6, 5e-6, 5e-6, 5e-6, 5e-6}, times}, nics()).factor);
}

}  // namespace
}  // namespace busbar
