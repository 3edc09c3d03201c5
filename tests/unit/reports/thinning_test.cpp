#include "reports/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace busbar {
namespace {

TEST(Thinning, TakesAllWhereTheyAreFew) {
  EXPECT_EQ(thinned(3, 3, {}), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(thinned(0, 3, {}), std::vector<std::size_t>{});
}

TEST(Thinning, TakesWhatIsWantedAndSpreadsTheRest) {
  for (const std::size_t count : {11U, 100U, 15001U})
    for (const std::size_t most : {5U, 10U}) {
      const std::vector<std::size_t> wanted{count - 1, 0, 0, 3};
      const std::vector<std::size_t> numbers = thinned(count, most, wanted);
      ASSERT_EQ(numbers.size(), most);
      EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
      for (const std::size_t i : wanted) EXPECT_TRUE(std::binary_search(numbers.begin(), numbers.end(), i));
      // The others lie no further apart than twice their share of the list.
      for (std::size_t i = 1; i < numbers.size(); ++i)
        EXPECT_LE(numbers[i] - numbers[i - 1], 2 * count / (most - 3) + 1) << count << " " << most;
    }
}

TEST(Thinning, TakesTheFirstWantedWhereTheyAreTooMany) {
  const std::vector<std::size_t> wanted{7, 5, 3, 1};
  EXPECT_EQ(thinned(9, 2, wanted), (std::vector<std::size_t>{5, 7}));
}

TEST(Thinning, KeepsTheWorstAndTheEndsOfAValidationAndItsSummary) {
  Validation v{.suite = "s", .quantity = "q", .unit = "s", .calibration = "c"};
  for (int i = 0; i < 15000; ++i)
    v.rows.push_back({.id = std::to_string(i), .gpus = 1 + i, .measured = 1.0 + i, .predicted = 1.0 + i});
  v.rows[777].predicted *= 3;
  v.overall.rows = v.rows.size();
  const Validation small = thinned(v, 100);
  ASSERT_EQ(small.rows.size(), 100U);
  ASSERT_TRUE(small.rows_excerpt.has_value());
  EXPECT_EQ(small.rows_excerpt->of, 15000U);
  EXPECT_EQ(small.overall.rows, 15000U);
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(small.rows[i].id, v.rows[small.rows_excerpt->numbers[i]].id);
  for (const char* id : {"0", "777", "14999"})
    EXPECT_TRUE(std::any_of(small.rows.begin(), small.rows.end(), [&](const ValidationRow& r) {
      return r.id == id;
    })) << id;
  EXPECT_FALSE(thinned(v, 15000).rows_excerpt.has_value());
}

TEST(Thinning, KeepsWhereTheChoiceOfASweepChanges) {
  Sweep s;
  for (int i = 0; i < 4000; ++i)
    s.rows.push_back({.size = Bytes(i + 1),
                      .busbw_Bps = i == 1234 ? 9e9 : 1e9,
                      .algorithm = i < 1000 ? "tree" : "ring",
                      .protocol = "LL"});
  const std::vector<std::size_t> numbers = thinned(s, 50).rows_excerpt->numbers;
  for (const std::size_t i : {0U, 999U, 1000U, 1234U, 3999U})
    EXPECT_TRUE(std::binary_search(numbers.begin(), numbers.end(), i)) << i;
}

TEST(Thinning, KeepsEachClustersBestAndTheFrontOfAStudy) {
  Study study;
  for (const std::size_t layouts : {2U, 500U, 600U}) {
    ClusterRecord c;
    for (std::size_t i = 0; i < layouts; ++i) {
      c.search.ranked.push_back({.layout = std::to_string(i)});
      c.figures.push_back({.step_s = static_cast<double>(i)});
    }
    study.clusters.push_back(std::move(c));
  }
  study.front = {{2, 431}};
  const Study small = thinned(study, 100);
  std::size_t all = 0;
  for (const ClusterRecord& c : small.clusters) {
    all += c.search.ranked.size();
    ASSERT_EQ(c.search.ranked.size(), c.figures.size());
    EXPECT_EQ(c.search.ranked.front().layout, "0");
    for (std::size_t i = 0; i < c.figures.size(); ++i)
      EXPECT_EQ(std::to_string(static_cast<int>(c.figures[i].step_s)), c.search.ranked[i].layout);
  }
  EXPECT_LE(all, 100U);
  EXPECT_GE(all, 98U);
  EXPECT_EQ(small.clusters[0].search.ranked.size(), 2U);
  const auto& last = small.clusters[2];
  EXPECT_TRUE(
      std::binary_search(last.ranked_excerpt->numbers.begin(), last.ranked_excerpt->numbers.end(), 431U));
}

}  // namespace
}  // namespace busbar
