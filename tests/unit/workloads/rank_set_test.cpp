#include "workloads/rank_set.h"

#include <gtest/gtest.h>

#include "workload_helpers.h"

namespace busbar {
namespace {

using test::error_of;

std::vector<RankRange> ranks_of(const std::string& json) {
  return read_rank_set(JsonDocument::parse(json, "r").root());
}

std::vector<std::uint32_t> expanded(const std::string& json) { return expand(ranks_of(json)); }

using Ranks = std::vector<std::uint32_t>;

TEST(RankSet, ReadsRangesStridesAndLists) {
  EXPECT_EQ(expanded(R"("0-3")"), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(expanded(R"("1-8:3")"), (Ranks{1, 4, 7}));
  EXPECT_EQ(expanded(R"("5-5")"), (Ranks{5}));
  EXPECT_EQ(expanded(R"([3, 1, "8-12:2"])"), (Ranks{3, 1, 8, 10, 12}));
}

TEST(RankSet, KeepsAListAsTheFewRangesThatItIs) {
  EXPECT_EQ(ranks_of("[0, 1, 2, 3]").size(), 1U);
  EXPECT_EQ(ranks_of("[0, 8, 16, 24]").size(), 1U);
  EXPECT_EQ(ranks_of("[0, 1, 4, 5]").size(), 2U);
  EXPECT_EQ(ranks_of("[3, 2, 1]").size(), 3U);  // strides are positive; the order of members counts
}

TEST(RankSet, HoldsTheLargestJobWithoutExpandingIt) {
  const std::vector<RankRange> all = ranks_of(R"("0-16777215")");
  EXPECT_EQ(all.size(), 1U);
  EXPECT_EQ(count(all), std::uint64_t{1} << 24);
}

TEST(RankSet, IsWrittenAsItIsRead) {
  for (const char* text : {"0-7", "0-14:2", "3-9:3"}) EXPECT_EQ(to_text(*parse_rank_range(text)), text);
  EXPECT_EQ(to_text(*parse_rank_range("0-7:2")), "0-6:2");
}

TEST(RankSet, RefusesWhatIsNoSet) {
  for (const char* text : {"", "7", "-3", "3-", "a-b", "3-1", "0-7:0", "0-7:", "0-7:1x", " 0-7",
                           "0-4294967295", "0-99999999999"})
    EXPECT_FALSE(parse_rank_range(text)) << text;
  EXPECT_NE(error_of([] { static_cast<void>(ranks_of("[]")); }).find("at least one rank"), std::string::npos);
  EXPECT_NE(error_of([] { static_cast<void>(ranks_of("{}")); }).find("0-15:2"), std::string::npos);
  EXPECT_NE(error_of([] { static_cast<void>(ranks_of(R"("0-16777216")")); }).find("below 16777216"),
            std::string::npos);
  EXPECT_NE(error_of([] { static_cast<void>(ranks_of("[16777216]")); }).find("16777216"), std::string::npos);
  EXPECT_NE(
      error_of([] { static_cast<void>(ranks_of(R"(["0-16777215", 3])")); }).find("more than 16777216 ranks"),
      std::string::npos);
}

}  // namespace
}  // namespace busbar
