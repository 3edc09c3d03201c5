// Explanations, held against what can be worked out by hand.
#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

std::vector<Explanation> explained(const Topology& topology, const std::string& trace) {
  return simulate(topology, trace_from(trace), ideal_profile(), {.explain = true}).explanations;
}

TEST(Explain, IsLeftOutUnlessAskedFor) {
  EXPECT_TRUE(simulate_ideal(star(2, "100 GB/s"), trace_from(one_program(2, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "200 MB"})")))
                  .explanations.empty());
}

// 4 ranks at 100 GB/s, 1 us a link: 6 steps of 2 us, and 6/4 x 400 MB over each hop: 6 ms.
TEST(Explain, SplitsTheTimeOfALoneRing) {
  const auto list = explained(star(4, "100 GB/s", "1 us"), one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"})"));
  ASSERT_EQ(list.size(), 1U);
  const Explanation& e = list[0];
  EXPECT_EQ(e.latency, Time::from_microseconds(12));
  EXPECT_EQ(e.transfer, Time::from_seconds(0.006));
  EXPECT_EQ(e.alone, e.time);
  EXPECT_EQ(e.count, 1);
  EXPECT_EQ(e.limit.what, "nvlink");
  EXPECT_EQ(e.limit.flows, 1.0);
  EXPECT_EQ(e.limit.capacity_Bps, 100e9);
  EXPECT_EQ(e.limit.next, "latency");  // nothing but links holds an ideal ring
  EXPECT_NEAR(e.limit.lifted.seconds(), 12e-6, 1e-7);
  ASSERT_EQ(e.crosses.size(), 1U);
  EXPECT_EQ(e.crosses[0].links, 8U);
  EXPECT_EQ(e.crosses[0].bytes, 8 * 600e6);
  EXPECT_EQ(e.crosses[0].bytes_per_gpu, 2 * 600e6);  // once out, once in
  EXPECT_EQ(e.crosses[0].busiest_share, 1.0);
  EXPECT_EQ(e.waited, Time::zero());
}

// A slow link in the middle, ten times slower than the others' class: lifting it leaves the others.
TEST(Explain, NamesTheNextLimit) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "devices": [{"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"},
                {"id": "p", "kind": "pcie-switch", "host": "h"}],
    "links": [{"from": "g0", "to": "p", "bandwidth": "100 GB/s", "type": "nvlink", "latency": "0 s"},
              {"from": "p", "to": "g1", "bandwidth": "10 GB/s", "type": "pcie", "latency": "0 s"}]})");
  const auto list = explained(topology, one_program(2, R"(
      {"id": "r", "op": "all_gather", "stream": "dp", "group": "all", "bytes": "200 MB"})"));
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].limit.what, "pcie");
  EXPECT_EQ(list[0].time, Time::from_seconds(0.010));
  EXPECT_EQ(list[0].limit.lifted, Time::from_seconds(0.001));
  EXPECT_EQ(list[0].limit.next, "nvlink");
}

// Rank 1 waits 2 ms for rank 0, whose compute lets it arrive.
TEST(Explain, NamesWhomAndWhatItWaitedFor) {
  const auto list = explained(star(2, "100 GB/s"), R"({"schema": "busbar.trace/1", "name": "t",
    "groups": {"all": "0-1"},
    "programs": {
      "slow": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "3 ms", "phase": "forward"},
                       {"id": "r", "op": "all_reduce", "stream": "main", "group": "all", "bytes": "200 MB"}]},
      "fast": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "1 ms"},
                       {"id": "r", "op": "all_reduce", "stream": "main", "group": "all", "bytes": "200 MB"}]}},
    "bindings": [{"ranks": [0], "program": "slow", "groups": {"all": "all"}},
                 {"ranks": [1], "program": "fast", "groups": {"all": "all"}}]})");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].waited, Time::from_seconds(0.001));  // mean over both members
  ASSERT_EQ(list[0].waited_for.size(), 1U);
  EXPECT_EQ(list[0].waited_for[0].rank, 0U);
  EXPECT_EQ(list[0].waited_for[0].caused, Time::from_seconds(0.002));
  ASSERT_EQ(list[0].started_by.size(), 1U);
  EXPECT_EQ(list[0].started_by[0].what, "forward compute");
}

// Two rings on the same links take twice as long as either alone.
TEST(Explain, TellsSharingFromBeingAlone) {
  const auto list = explained(star(4, "100 GB/s"), R"({"schema": "busbar.trace/1", "name": "t",
    "groups": {"a": "0-3", "b": "0-3"},
    "programs": {"p": {"ops": [
      {"id": "x", "op": "all_reduce", "stream": "one", "group": "a", "bytes": "400 MB"},
      {"id": "y", "op": "all_reduce", "stream": "two", "group": "b", "bytes": "400 MB"}]}},
    "bindings": [{"ranks": "0-3", "program": "p", "groups": {"a": "a", "b": "b"}}]})");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].alone, Time::from_seconds(0.006));
  EXPECT_EQ(list[0].time, Time::from_seconds(0.012));
}

TEST(Explain, ListsTheStepsOfASmallGroupByRank) {
  const Sweep s = sweep(star(4, "100 GB/s"),
                        {.operation = CollectiveKind::kAllGather, .ranks = {3, 1, 2}, .sizes = {Bytes(48)}},
                        ideal_profile(), {.explain = true});
  ASSERT_EQ(s.explanations.size(), 1U);
  const Explanation& e = s.explanations[0];
  EXPECT_EQ(e.chunk_bytes, 16.0);
  ASSERT_EQ(e.rounds.size(), 2U);
  ASSERT_EQ(e.rounds[0].sends.size(), 3U);
  EXPECT_EQ(e.rounds[0].sends[0].from, 3U);
  EXPECT_EQ(e.rounds[0].sends[0].to, 1U);
  EXPECT_EQ(e.rounds[0].sends[0].chunk, 0U);
  EXPECT_FALSE(e.rounds[0].sends[0].reduce);
  EXPECT_EQ(e.rounds[1].sends[0].chunk, 2U);  // what rank 2 gave rank 3
}

// The last reducing round leaves each chunk with everybody's part.
TEST(Explain, SaysWhatARankHoldsAfterEachReduction) {
  const Sweep s = sweep(star(4, "100 GB/s"), {.operation = CollectiveKind::kAllReduce, .sizes = {Bytes(64)}},
                        ideal_profile(), {.explain = true});
  ASSERT_EQ(s.explanations.at(0).rounds.size(), 6U);
  for (const ExplainedSend& send : s.explanations[0].rounds[2].sends) {
    EXPECT_TRUE(send.reduce);
    EXPECT_EQ(send.holds, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  }
}

TEST(Explain, AcceptsTeachingSizesOfOneElementPerRank) {
  const Sweep s = sweep(star(4, "100 GB/s"), {.operation = CollectiveKind::kAllGather, .sizes = {Bytes(16)}},
                        ideal_profile(), {});
  ASSERT_EQ(s.rows.size(), 1U);
  EXPECT_EQ(s.rows[0].size, Bytes(16));
}

}  // namespace
}  // namespace busbar
