#include "reports/packed.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/inflate.h"

namespace busbar {
namespace {

Time ps(std::int64_t n) { return Time::picoseconds(n); }

nlohmann::json unpacked(const RunResult& result) {
  return nlohmann::json::parse(inflated(from_base64(packed_lists(result))));
}

TEST(PackedLists, HoldGapsWaitsAndLengthsOfEachStream) {
  RunResult result;
  result.timeline = {{.rank = 7,
                      .program = "stage",
                      .entries = {{"main", "a", "compute", "", ps(5), ps(5), ps(9)},
                                  {"dp", "g", "all_gather", "dp", ps(9), ps(20), ps(50)},
                                  {"main", "b", "compute", "", ps(11), ps(11), ps(12)}}}};
  const nlohmann::json track = unpacked(result).at("timeline").at(0);
  EXPECT_EQ(track.at("rank"), 7);
  EXPECT_EQ(track.at("streams"), (nlohmann::json{"main", "dp"}));
  EXPECT_EQ(track.at("stream"), (nlohmann::json{0, 1, 0}));
  EXPECT_EQ(track.at("gap"), (nlohmann::json{5, 9, 2}));
  EXPECT_EQ(track.at("wait"), (nlohmann::json{0, 11, 0}));
  EXPECT_EQ(track.at("length"), (nlohmann::json{4, 30, 1}));
}

TEST(PackedLists, GiveBackEveryTimeAndName) {
  std::mt19937 random(20240611);
  const auto drawn = [&](std::int64_t below) { return static_cast<std::int64_t>(random()) % below; };
  RunResult result;
  RankTimeline& track = result.timeline.emplace_back();
  std::vector<std::int64_t> ends(3);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t stream = random() % 3;
    const std::int64_t arrive = ends[stream] + drawn(1000), start = arrive + drawn(1000);
    ends[stream] = start + drawn(100000000);
    track.entries.push_back({std::to_string(stream), "op" + std::to_string(i), "what",
                             "g" + std::to_string(stream), ps(arrive), ps(start), ps(ends[stream])});
  }
  const nlohmann::json back = unpacked(result).at("timeline").at(0);
  std::map<std::string, std::int64_t> at;
  for (std::size_t i = 0; i < track.entries.size(); ++i) {
    const TimelineEntry& e = track.entries[i];
    ASSERT_EQ(back.at("streams").at(back.at("stream").at(i).get<std::size_t>()), e.stream);
    ASSERT_EQ(back.at("operation").at(i), e.operation);
    ASSERT_EQ(back.at("groups").at(back.at("group").at(i).get<std::size_t>()), e.group);
    std::int64_t& now = at[e.stream];
    ASSERT_EQ(now += back.at("gap").at(i).get<std::int64_t>(), e.arrive.ps());
    ASSERT_EQ(now += back.at("wait").at(i).get<std::int64_t>(), e.start.ps());
    ASSERT_EQ(now += back.at("length").at(i).get<std::int64_t>(), e.end.ps());
  }
}

TEST(PackedLists, LeaveOutWholeRankClassesWhereEntriesAreTooMany) {
  RunResult result;
  for (std::uint32_t rank = 0; rank < 10; ++rank) {
    RankTimeline& track =
        result.timeline.emplace_back(RankTimeline{.rank = rank, .program = "p", .entries = {}});
    for (int i = 0; i < 5; ++i)
      track.entries.push_back({"main", "a", "compute", "", ps(i), ps(i), ps(i + 1)});
  }
  const auto kept = [&](std::size_t most) {
    const auto lists = nlohmann::json::parse(inflated(from_base64(packed_lists(result, most))));
    EXPECT_EQ(lists.at("of"), 10);
    std::vector<int> ranks;
    for (const auto& track : lists.at("timeline")) {
      EXPECT_EQ(track.at("gap").size(), 5U);
      ranks.push_back(track.at("rank"));
    }
    return ranks;
  };
  EXPECT_EQ(kept(50).size(), 10U);
  const std::vector<int> three = kept(19);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three.front(), 0);
  EXPECT_EQ(three.back(), 9);
  EXPECT_EQ(kept(1), std::vector<int>{0});
}

}  // namespace
}  // namespace busbar
