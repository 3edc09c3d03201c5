#include "sim/cost/slowest_gpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace busbar {
namespace {

// The means of the largest of two and of three normal draws have closed forms; those of 8 and 100 are in
// tables of order statistics (Harter, Expected values of normal order statistics, Biometrika 48, 1961).
TEST(MeanLargest, AgreesWithClosedFormsAndTables) {
  const double root = std::sqrt(std::numbers::pi);
  EXPECT_NEAR(mean_largest_of(1), 0, 1e-12);
  EXPECT_NEAR(mean_largest_of(2), 1 / root, 1e-6);
  EXPECT_NEAR(mean_largest_of(3), 1.5 / root, 1e-6);
  EXPECT_NEAR(mean_largest_of(8), 1.42360, 1e-5);
  EXPECT_NEAR(mean_largest_of(100), 2.50759, 1e-5);
}

TEST(SlowestGpu, IsSlowerOfMoreAndTheSameOfAsMany) {
  EXPECT_EQ(slowest_of(64, 64), 1);
  EXPECT_NEAR(slowest_of(128, 8) * slowest_of(8, 128), 1, 1e-12);
  EXPECT_NEAR(std::log(slowest_of(2, 1)), kSpeedSpread / std::sqrt(std::numbers::pi), 1e-8);
  double before = 1;
  for (std::int64_t n = 16; n <= 131'072; n *= 2) {
    EXPECT_GT(slowest_of(n, 8), before);
    before = slowest_of(n, 8);
  }
  EXPECT_LT(before, 1.06);  // 4.4 standard deviations of 1.7 % less 1.4
}

}  // namespace
}  // namespace busbar
