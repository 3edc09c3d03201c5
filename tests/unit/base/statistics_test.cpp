#include "sim/base/statistics.h"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(Quantile, IsTheSmallestValueThatTheShareDoesNotExceed) {
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2);  // two of four are at most 2
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.51), 3);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.9), 4);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({7}, 0.9), 7);
}

TEST(Median, IsTheMeanOfTheMiddleTwoOfAnEvenNumber) {
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median_of({5, 1, 3}), 3);
  EXPECT_EQ(median_of({7}), 7);
}

// Source: Abramowitz & Stegun, table 26.10.
TEST(Student, HasTheTablesQuantiles) {
  EXPECT_NEAR(student_95(3), 3.182, 5e-4);
  EXPECT_NEAR(student_95(8), 2.306, 5e-4);
  EXPECT_NEAR(student_95(120), 1.980, 5e-4);
}

}  // namespace
}  // namespace busbar
