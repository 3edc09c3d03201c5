// Where the time goes: every picosecond in exactly one place.
#include <gtest/gtest.h>

#include "tests/support/inline.h"
#include "tests/support/seeded.h"

namespace busbar {
namespace {

TEST(Accounting, SplitsAStepIntoComputeAndExposedCommunication) {
  // 6 ms of all-reduce beside 4 ms of compute: 2 ms exposed.
  const RunResult r = simulate_ideal(star(4, "100 GB/s"), trace_from(one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB", "kind": "data"},
      {"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"})")));
  EXPECT_EQ(r.split.compute, Time::from_seconds(0.004));
  EXPECT_EQ(r.split.exposed, Time::from_seconds(0.002));
  EXPECT_EQ(r.split.communication, Time::from_seconds(0.006));
  EXPECT_EQ(r.split.exposed_by_group.at("data"), Time::from_seconds(0.002));
  EXPECT_EQ(unaccounted(r.split), Time::zero());
  ASSERT_EQ(r.collectives.size(), 1U);
  EXPECT_EQ(r.collectives[0].exposed, Time::from_seconds(0.002));
  EXPECT_NEAR(r.collectives[0].busbw_Bps, 100e9, 1);
}

// Rank 1 computes 1 ms, rank 0 3 ms; then an all-reduce of 2 ms. Rank 1 waits 2 ms for rank 0.
const char* const kStraggler = R"({"schema": "busbar.trace/1", "name": "t", "groups": {"all": "0-1"},
    "programs": {
      "slow": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "3 ms"},
                       {"id": "r", "op": "all_reduce", "stream": "main", "group": "all", "bytes": "200 MB"}]},
      "fast": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "1 ms"},
                       {"id": "r", "op": "all_reduce", "stream": "main", "group": "all", "bytes": "200 MB"},
                       {"id": "d", "op": "compute", "stream": "main", "duration": "1 ms"}]}},
    "bindings": [{"ranks": [0], "program": "slow", "groups": {"all": "all"}},
                 {"ranks": [1], "program": "fast", "groups": {"all": "all"}}]})";

TEST(Accounting, CallsWaitingForAMemberStragglerWait) {
  const RunResult r = simulate_ideal(star(2, "100 GB/s"), trace_from(kStraggler));
  EXPECT_EQ(r.last_rank, 1U);
  EXPECT_EQ(r.split.compute, Time::from_seconds(0.002));
  EXPECT_EQ(r.split.straggler_wait, Time::from_seconds(0.002));
  EXPECT_EQ(r.split.exposed, Time::from_seconds(0.002));
  EXPECT_EQ(unaccounted(r.split), Time::zero());
}

TEST(Accounting, LeadsTheCriticalPathThroughTheLatestMember) {
  const RunResult r = simulate_ideal(star(2, "100 GB/s"), trace_from(kStraggler));
  ASSERT_EQ(r.critical_path.size(), 3U);
  EXPECT_EQ(r.critical_path[0].rank, 0U);  // the slow one
  EXPECT_EQ(r.critical_path[0].waits_for, "the start");
  EXPECT_EQ(r.critical_path[1].what, "all_reduce");
  EXPECT_EQ(r.critical_path[1].waits_for, "rank 0 c");
  EXPECT_EQ(r.critical_path[2].operation, "d");
}

// Stage 1 waits 2 ms for stage 0's output: a bubble.
TEST(Accounting, CallsWaitingForAPipelinePeerABubble) {
  const RunResult r = simulate_ideal(star(2, "100 GB/s"),
                                     trace_from(R"({"schema": "busbar.trace/1", "name": "t", "groups": {},
    "programs": {
      "first": {"ops": [{"id": "f", "op": "compute", "stream": "main", "duration": "2 ms"},
                        {"id": "s", "op": "send", "stream": "main", "to": "next", "bytes": "100 MB"}]},
      "second": {"ops": [{"id": "r", "op": "recv", "stream": "main", "from": "previous", "bytes": "100 MB"},
                         {"id": "f", "op": "compute", "stream": "main", "duration": "2 ms"}]}},
    "bindings": [{"ranks": [0], "program": "first", "peers": {"next": "+1"}},
                 {"ranks": [1], "program": "second", "peers": {"previous": "-1"}}]})"));
  EXPECT_EQ(r.split.bubble, Time::from_seconds(0.002));
  EXPECT_EQ(r.split.exposed, Time::from_seconds(0.001));
  EXPECT_EQ(r.split.compute, Time::from_seconds(0.002));
  EXPECT_EQ(r.split.exposed_by_group.at("pp"), Time::from_seconds(0.001));
}

TEST(Accounting, CountsBytesOnLinksExactly) {
  // A ring's flow crosses each GPU's link once out and once in: 2 x 3/4 x 400 MB each.
  const RunResult r = simulate_ideal(star(4, "100 GB/s"), trace_from(one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"})")));
  ASSERT_EQ(r.links.size(), 1U);  // all eight directions are alike
  EXPECT_EQ(r.links[0].members, 8U);
  EXPECT_EQ(r.links[0].bytes, 600e6);
  EXPECT_DOUBLE_EQ(r.links[0].busy_fraction, 1.0);
  EXPECT_DOUBLE_EQ(r.links[0].peak_fraction, 1.0);
}

// Random steps of computes, collectives on two overlapping groups, and ring sends: the parts add up on every
// run, the critical path is contiguous from 0 to the end, and nothing takes less time than the longest stream
// alone.
TEST(Accounting, AddsUpExactlyInRandomSteps) {
  Seeded random(77);
  for (int trial = 0; trial < 150; ++trial) {
    std::string ops;
    const int count = static_cast<int>(random.integer(3, 14));
    for (int i = 0; i < count; ++i) {
      const std::string after =
          i > 0 && random.one_in(2) ? fmt::format(R"(, "after": ["o{}"])", random.integer(0, i - 1)) : "";
      if (i > 0) ops += ", ";
      switch (random.integer(0, 2)) {
        case 0:
          ops += fmt::format(R"({{"id": "o{}", "op": "compute", "stream": "s{}", "duration": "{} us"{}}})", i,
                             random.integer(0, 2), random.integer(0, 900), after);
          break;
        case 1:
          ops += fmt::format(
              R"({{"id": "o{}", "op": "all_reduce", "stream": "s{}", "group": "all", "bytes": "{} kB"{}}})",
              i, random.integer(0, 2), 4 * random.integer(0, 9000), after);
          break;
        default:
          ops += fmt::format(
              R"({{"id": "o{}", "op": "all_gather", "stream": "s{}", "group": "all", "bytes": "{} kB"{}}})",
              i, random.integer(0, 2), 4 * random.integer(0, 9000), after);
      }
    }
    const RunResult r =
        simulate(star(4, "50 GB/s", "2 us"), trace_from(one_program(4, ops)), default_profile(), {});
    ASSERT_EQ(unaccounted(r.split), Time::zero()) << "seed 77, trial " << trial;
    Time at;
    for (const CriticalSegment& s : r.critical_path) {
      ASSERT_EQ(s.start, at) << "seed 77, trial " << trial << ", " << s.operation;
      at = s.end;
    }
    ASSERT_EQ(at, r.step_time) << "seed 77, trial " << trial;
    Time by_group;
    for (const auto& [group, time] : r.split.exposed_by_group) by_group += time;
    ASSERT_EQ(by_group, r.split.exposed) << "seed 77, trial " << trial;
  }
}

}  // namespace
}  // namespace busbar
