// Streams, dependencies, communicators and sharing, each on a case small enough to work by hand.
#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

double step_seconds(const Topology& topology, const std::string& trace) {
  return simulate_ideal(topology, trace_from(trace)).step_time.seconds();
}

TEST(Replay, RunsOneStreamInOrder) {
  EXPECT_EQ(step_seconds(star(1, "100 GB/s"), one_program(1, R"(
      {"id": "a", "op": "compute", "stream": "main", "duration": "2 ms"},
      {"id": "b", "op": "compute", "stream": "main", "duration": "3 ms"})")),
            0.005);
}

// Two streams of duration kernels share the SMs: 2 ms and 3 ms together take 5 ms of SM time.
TEST(Replay, SharesTheGpuBetweenStreams) {
  EXPECT_DOUBLE_EQ(step_seconds(star(1, "100 GB/s"), one_program(1, R"(
      {"id": "a", "op": "compute", "stream": "main", "duration": "2 ms"},
      {"id": "b", "op": "compute", "stream": "side", "duration": "3 ms"})")),
                   0.005);
}

// All-reduce of 400 MB on 4 GPUs at 100 GB/s: 2 x 3/4 x 4 ms = 6 ms, beside 4 ms of compute, then 1 ms.
TEST(Replay, OverlapsCommunicationWithComputeAndWaitsForBoth) {
  EXPECT_DOUBLE_EQ(step_seconds(star(4, "100 GB/s"), one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"},
      {"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"},
      {"id": "d", "op": "compute", "stream": "main", "duration": "1 ms", "after": ["r"]})")),
                   0.007);
}

// One communicator: the second starts when the first has ended, though they are on two streams.
TEST(Replay, RunsOperationsOfOneCommunicatorInIssueOrder) {
  EXPECT_DOUBLE_EQ(step_seconds(star(4, "100 GB/s"), one_program(4, R"(
      {"id": "a", "op": "all_reduce", "stream": "one", "group": "all", "bytes": "400 MB"},
      {"id": "b", "op": "all_reduce", "stream": "two", "group": "all", "bytes": "400 MB"})")),
                   0.012);
}

// Two communicators over the same links: both at half speed, so both end after 12 ms.
TEST(Replay, SharesLinksBetweenCommunicators) {
  const std::string trace = R"({"schema": "busbar.trace/1", "name": "t", "groups": {"a": "0-3", "b": "0-3"},
    "programs": {"p": {"ops": [
      {"id": "x", "op": "all_reduce", "stream": "one", "group": "a", "bytes": "400 MB"},
      {"id": "y", "op": "all_reduce", "stream": "two", "group": "b", "bytes": "400 MB"}]}},
    "bindings": [{"ranks": "0-3", "program": "p", "groups": {"a": "a", "b": "b"}}]})";
  const RunResult result = simulate_ideal(star(4, "100 GB/s"), trace_from(trace));
  EXPECT_DOUBLE_EQ(result.step_time.seconds(), 0.012);
  ASSERT_EQ(result.collectives.size(), 2U);
  EXPECT_DOUBLE_EQ(result.collectives[0].time.seconds(), 0.012);
}

// Counting volume per flow: a send of 600 MB and an all-reduce share the sender's link in halves. The ring
// needs 600 MB a flow too (2 x 3/4 x 400 MB), so both end at 12 ms.
TEST(Replay, GivesASendAndARingOnOneLinkEqualHalves) {
  const std::string trace = R"({"schema": "busbar.trace/1", "name": "t", "groups": {"all": "0-3"},
    "programs": {
      "first": {"ops": [{"id": "s", "op": "send", "stream": "pp", "to": "next", "bytes": "600 MB"},
                        {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"}]},
      "second": {"ops": [{"id": "s", "op": "recv", "stream": "pp", "from": "previous", "bytes": "600 MB"},
                         {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"}]},
      "others": {"ops": [{"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"}]}},
    "bindings": [{"ranks": [0], "program": "first", "groups": {"all": "all"}, "peers": {"next": "+1"}},
                 {"ranks": [1], "program": "second", "groups": {"all": "all"}, "peers": {"previous": "-1"}},
                 {"ranks": "2-3", "program": "others", "groups": {"all": "all"}}]})";
  EXPECT_DOUBLE_EQ(step_seconds(star(4, "100 GB/s"), trace), 0.012);
}

TEST(Replay, LeavesAGroupOfOneRankFree) {
  const RunResult result =
      simulate_ideal(star(2, "100 GB/s"), trace_from(R"({"schema": "busbar.trace/1", "name": "t",
    "groups": {"a": [0], "b": [1]},
    "programs": {"p": {"ops": [{"id": "r", "op": "all_reduce", "stream": "dp", "group": "g", "bytes": "1 GB"}]}},
    "bindings": [{"ranks": [0], "program": "p", "groups": {"g": "a"}}, {"ranks": [1], "program": "p", "groups": {"g": "b"}}]})"));
  EXPECT_EQ(result.step_time, Time::zero());
  EXPECT_TRUE(result.links.empty());
}

// Sends of one ordered pair are matched first-in-first-out; the other direction is independent.
TEST(Replay, MatchesSendsAndReceivesInOrderPerDirection) {
  const std::string trace = R"({"schema": "busbar.trace/1", "name": "t", "groups": {},
    "programs": {
      "a": {"ops": [{"id": "s1", "op": "send", "stream": "out", "to": "peer", "bytes": "100 MB"},
                    {"id": "s2", "op": "send", "stream": "out", "to": "peer", "bytes": "200 MB"},
                    {"id": "r", "op": "recv", "stream": "in", "from": "peer", "bytes": "50 MB"}]},
      "b": {"ops": [{"id": "r1", "op": "recv", "stream": "in", "from": "peer", "bytes": "100 MB"},
                    {"id": "r2", "op": "recv", "stream": "in", "from": "peer", "bytes": "200 MB"},
                    {"id": "s", "op": "send", "stream": "out", "to": "peer", "bytes": "50 MB"}]}},
    "bindings": [{"ranks": [0], "program": "a", "peers": {"peer": 1}}, {"ranks": [1], "program": "b", "peers": {"peer": 0}}]})";
  EXPECT_DOUBLE_EQ(step_seconds(star(2, "100 GB/s"), trace), 0.003);  // 300 MB one way; full duplex
}

// Both ranks send and then receive: in separate operations on one stream that deadlocks, in one batch it does
// not.
TEST(Replay, RunsABatchOfSendsAndReceivesAsOne) {
  const std::string trace = R"({"schema": "busbar.trace/1", "name": "t", "groups": {},
    "programs": {"p": {"ops": [{"id": "b", "op": "batch", "stream": "pp", "ops": [
      {"op": "send", "to": "peer", "bytes": "100 MB"}, {"op": "recv", "from": "peer", "bytes": "100 MB"}]}]}},
    "bindings": [{"ranks": [0], "program": "p", "peers": {"peer": 1}}, {"ranks": [1], "program": "p", "peers": {"peer": 0}}]})";
  EXPECT_DOUBLE_EQ(step_seconds(star(2, "100 GB/s"), trace), 0.001);
}

TEST(Replay, RepeatsTheStep) {
  std::string trace = one_program(4, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB", "after": ["c"]})");
  trace.insert(trace.rfind('}'), R"(, "repeat": 3)");
  EXPECT_DOUBLE_EQ(step_seconds(star(4, "100 GB/s"), trace), 0.030);
}

// Row = sender: rank 0 sends 100 MB to 1 and 300 MB to 2; rank 1 sends 100 MB to 0 and keeps 500 MB, which
// touch no link; rank 2 sends nothing. Rank 0's 400 MB at 100 GB/s decide: 4 ms. A link carries what its rank
// sends or takes.
TEST(Replay, SplitsAnUnevenAllToAll) {
  const RunResult r = simulate_ideal(
      star(3, "100 GB/s"), trace_from(R"({"schema": "busbar.trace/1", "name": "t", "groups": {"all": "0-2"},
    "matrices": {"route": [["0 B", "100 MB", "300 MB"], ["100 MB", "500 MB", "0 B"], ["0 B", "0 B", "0 B"]]},
    "programs": {"p": {"ops": [{"id": "x", "op": "all_to_all", "stream": "ep", "group": "all", "splits": "route"}]}},
    "bindings": [{"ranks": "0-2", "program": "p", "groups": {"all": "all"}}]})"));
  EXPECT_NEAR(r.step_time.seconds(), 0.004, 1e-8);  // weights are fixed-point: a millionth
  double total = 0;
  for (const LinkRecord& l : r.links) total += l.bytes * static_cast<double>(l.members);
  EXPECT_NEAR(total, 2 * 500e6, 1e3);  // each byte goes up one link and down another
}

TEST(Replay, AddsLatencyOncePerStepOfTheRing) {
  // Each hop crosses two links of 1 us; 6 steps on 4 ranks.
  EXPECT_DOUBLE_EQ(step_seconds(star(4, "100 GB/s", "1 us"), one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"})")),
                   0.006 + 12e-6);
}

TEST(Replay, IsTheSameTwiceInOneProcessInterleaved) {
  const Topology topology = star(4, "100 GB/s");
  const StepTrace trace = trace_from(one_program(4, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"})"));
  const RunResult first = simulate_ideal(topology, trace);
  static_cast<void>(simulate(topology, trace, default_profile(), {}));
  const RunResult second = simulate_ideal(topology, trace);
  EXPECT_EQ(first.step_time, second.step_time);
  EXPECT_EQ(first.events, second.events);
}

// Under the default profile a collective holds SMs from its arrival on, so the kernel beside it takes longer.
TEST(Replay, SlowsKernelsByTheSmsThatChannelsHold) {
  const Topology topology = topology_from(
      R"({"schema": "busbar.topology/1", "name": "one", "hosts": {"count": 1, "type": "dgx-h100"},
                                              "fabric": {"family": "none"}})");
  const StepTrace alone =
      trace_from(one_program(8, R"({"id": "c", "op": "compute", "stream": "main", "duration": "10 ms"})"));
  const StepTrace beside = trace_from(one_program(8, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "8 GB"},
      {"id": "c", "op": "compute", "stream": "main", "duration": "10 ms"},
      {"id": "end", "op": "compute", "stream": "main", "duration": "0 s"})"));
  EXPECT_EQ(simulate(topology, alone, default_profile(), {}).step_time, Time::from_seconds(0.010));
  const RunResult result =
      simulate(topology, beside, default_profile(), {.overrides = {.algorithm = "ring", .channels = 24}});
  // 24 channels hold 24 of the 132 SMs for longer than the kernel runs: 10 ms x 132 / 108.
  EXPECT_NEAR(result.split.compute.seconds(), 0.010 * 132 / 108, 1e-9);
}

}  // namespace
}  // namespace busbar
