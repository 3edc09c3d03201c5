#include "validate/recorded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "sim/result/version.h"
#include "tests/support/errors.h"

namespace busbar {
namespace {

Validation steps(double median, double p90) {
  return {.suite = "steps", .calibration = "default", .overall = {.rows = 1, .median = median, .p90 = p90}};
}

TEST(Recorded, HoldsASuiteUpToHalfAPoint) {
  const std::string table = "suite,figure,value\nsteps,median,0.10\nsteps,p90,0.30\nmemory,right,0.95\n";
  Validation v = steps(0.104, 0.31);  // 0.4 points worse is held, 1 point is not
  hold_recorded(v, table, "r.csv");
  ASSERT_EQ(v.held.size(), 2U);
  EXPECT_TRUE(v.held[0].met);
  EXPECT_FALSE(v.held[1].met);
  EXPECT_FALSE(v.all_held());
}

// The version that runs predicts what was recorded of it, but for rounding; else half a point within a
// version and half a point from version to version would let a whole one pass.
TEST(Recorded, HoldsTheRunningVersionToItsOwnFigures) {
  const std::string before =
      fmt::format("model_version,suite,figure,value\n{}0,steps,median,0.10\n", kModelVersion);
  const std::string own =
      fmt::format("model_version,suite,figure,value\n{},steps,median,0.10\n", kModelVersion);
  for (const auto& [table, value, met] :
       std::vector<std::tuple<std::string, double, bool>>{{own, 0.1009, true},
                                                          {own, 0.104, false},
                                                          {own, 0.05, true},
                                                          {before, 0.104, true},
                                                          {before, 0.106, false}}) {
    Validation v = steps(value, 0.3);
    hold_recorded(v, table, "r.csv");
    EXPECT_EQ(v.all_held(), met) << value << " against " << table;
  }
}

TEST(Recorded, HoldsNothingOfASuiteWithoutARow) {
  Validation v = steps(0, 0);
  v.overall.rows = 0;
  hold_recorded(v, "suite,figure,value\nsteps,median,0.10\n", "r.csv");
  EXPECT_FALSE(v.all_held());
}

TEST(Recorded, HoldsTheLastLineOfAFigure) {
  const std::string table =
      "model_version,suite,figure,value\n0,steps,median,0.20\n0,steps,p90,0.40\n1,steps,median,0.10\n";
  Validation v = steps(0.15, 0.30);
  hold_recorded(v, table, "r.csv");
  ASSERT_EQ(v.held.size(), 2U);
  EXPECT_TRUE(v.held[0].met);  // p90: version 1 has none
  EXPECT_EQ(v.held[1].recorded, 0.10);
  EXPECT_FALSE(v.held[1].met);
}

TEST(Recorded, WantsAsManyJobsRight) {
  Validation v{
      .suite = "memory", .calibration = "default", .fits = FitVerdicts{.fits_right = 94, .oom_wrong = 6}};
  hold_recorded(v, "suite,figure,value\nmemory,right,0.95\n", "r.csv");
  EXPECT_FALSE(v.all_held());  // 94 % against 95 - 0.5 %
  v.held.clear();
  hold_recorded(v, "suite,figure,value\nmemory,right,0.942\n", "r.csv");
  EXPECT_TRUE(v.all_held());
}

TEST(Recorded, LeavesPartsOfASuiteAndOtherCalibrationsAlone) {
  const std::string table = "suite,figure,value\nsteps,median,0.10\n";
  Validation part = steps(0.5, 0.5);
  part.filters = {"gpu=H100"};
  hold_recorded(part, table, "r.csv");
  EXPECT_TRUE(part.held.empty());
  Validation ideal = steps(0.5, 0.5);
  ideal.calibration = "ideal";
  hold_recorded(ideal, table, "r.csv");
  EXPECT_TRUE(ideal.held.empty());
}

TEST(Recorded, RefusesUnknownSuitesAndFigures) {
  Validation v = steps(0.1, 0.1);
  EXPECT_EQ(error_of([&] { hold_recorded(v, "suite,figure,value\nstep,median,0.1\n", "r.csv"); }),
            "r.csv:2, column suite: expected a suite, got 'step'");
  EXPECT_EQ(error_of([&] { hold_recorded(v, "suite,figure,value\nsteps,right,0.1\n", "r.csv"); }),
            "r.csv:2, column figure: expected median or p90, got 'right'");
}

}  // namespace
}  // namespace busbar
