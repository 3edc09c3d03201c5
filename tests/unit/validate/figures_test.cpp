#include "validate/figures.h"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(Figures, TakeSizesOfErrorsAndKeepTheSignOfBiasAndWorst) {
  const std::vector<double> errors = {-0.4, 0.1, -0.2, 0.1, -0.1};
  const ErrorFigures f = figures_of(errors);
  EXPECT_EQ(f.rows, 5U);
  EXPECT_EQ(f.median, 0.1);  // of .1 .1 .1 .2 .4
  EXPECT_NEAR(f.mean, (0.4 + 0.1 + 0.2 + 0.1 + 0.1) / 5, 1e-15);
  EXPECT_EQ(f.p90, 0.4);    // 90 % of 5 is 4.5: all five
  EXPECT_EQ(f.bias, -0.1);  // of -.4 -.2 -.1 .1 .1
  EXPECT_EQ(f.worst, -0.4);
}

// As the mean of the middle two where their number is even, like every median here.
TEST(Figures, TakeTheMiddleOfTwo) {
  const std::vector<double> errors = {-0.4, 0.1, -0.2, 0.3};
  EXPECT_NEAR(figures_of(errors).median, 0.25, 1e-15);
  EXPECT_NEAR(figures_of(errors).bias, -0.05, 1e-15);
}

TEST(Figures, AreZeroWithoutErrors) { EXPECT_EQ(figures_of({}).rows, 0U); }

TEST(SumUp, GroupsRowsBySystem) {
  Validation v;
  v.rows = {{.system = "b", .measured = 2, .predicted = 3},
            {.system = "a", .measured = 4, .predicted = 2},
            {.system = "b", .measured = 1, .predicted = 1}};
  sum_up(v);
  EXPECT_EQ(v.overall.rows, 3U);
  ASSERT_EQ(v.groups.size(), 2U);
  EXPECT_EQ(v.groups[0].name, "a");
  EXPECT_EQ(v.groups[0].figures.worst, -0.5);  // 2 / 4 - 1
  EXPECT_EQ(v.groups[1].figures.rows, 2U);
  EXPECT_EQ(v.groups[1].figures.worst, 0.5);  // 3 / 2 - 1
}

}  // namespace
}  // namespace busbar
