// What a timeline keeps: slices that follow each other and add up to the accounts, messages, loads, bounds.
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/replay/recorder.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

// Rank 1 computes 1 ms, rank 0 3 ms; then an all-reduce of 2 ms.
const char* const kStraggler = R"({"schema": "busbar.trace/1", "name": "t", "groups": {"all": "0-1"},
    "programs": {
      "slow": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "3 ms"},
                       {"id": "r", "op": "all_reduce", "stream": "main", "group": "all", "bytes": "200 MB"}]},
      "fast": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "1 ms"},
                       {"id": "r", "op": "all_reduce", "stream": "main", "group": "all", "bytes": "200 MB"},
                       {"id": "d", "op": "compute", "stream": "main", "duration": "1 ms"}]}},
    "bindings": [{"ranks": [0], "program": "slow", "groups": {"all": "all"}},
                 {"ranks": [1], "program": "fast", "groups": {"all": "all"}}]})";

RunResult traced(const Topology& topology, const std::string& trace, std::vector<std::uint32_t> ranks = {}) {
  return simulate(topology, trace_from(trace), ideal_profile(), {.timeline = TimelineRequest{ranks}});
}

TEST(Timeline, IsNotKeptUnlessAskedFor) {
  EXPECT_FALSE(simulate_ideal(star(2, "100 GB/s"), trace_from(kStraggler)).full_timeline);
}

TEST(Timeline, ShowsWaitingApartAndForWhom) {
  const RunResult r = traced(star(2, "100 GB/s"), kStraggler);
  ASSERT_EQ(r.full_timeline->tracks.size(), 2U);
  const TimelineTrack& fast = r.full_timeline->tracks[1];
  ASSERT_EQ(fast.slices.size(), 3U);
  EXPECT_EQ(fast.slices[1].arrive, Time::from_seconds(0.001));
  EXPECT_EQ(fast.slices[1].start, Time::from_seconds(0.003));
  EXPECT_EQ(fast.slices[1].end, Time::from_seconds(0.005));
  EXPECT_EQ(fast.slices[1].last_rank, 0U);
  EXPECT_EQ(fast.slices[0].cause.rank, TimelineSlice::kNone);  // the start
  EXPECT_EQ(fast.slices[1].cause.operation, 0U);               // its own compute
  EXPECT_EQ(fast.slices[1].start - fast.slices[1].arrive, r.split.straggler_wait);
}

TEST(Timeline, AddsUpToTheAccounts) {
  const RunResult r = traced(star(4, "100 GB/s"), one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"},
      {"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"},
      {"id": "d", "op": "compute", "stream": "main", "duration": "1 ms", "after": ["r"]})"));
  ASSERT_EQ(r.full_timeline->tracks.size(), 1U);  // one rank speaks for four
  const TimelineTrack& track = r.full_timeline->tracks[0];
  EXPECT_EQ(track.alike, 4U);
  Time compute;
  Time communication;
  std::vector<Time> free(2);
  for (const TimelineSlice& s : track.slices) {
    const TimelineOperation& o = r.full_timeline->programs[track.program].operations[s.operation];
    (o.what == "compute" ? compute : communication) += s.end - s.start;
    EXPECT_LE(free[o.stream], s.arrive);  // slices of a stream follow each other
    EXPECT_LE(s.arrive, s.start);
    free[o.stream] = s.end;
  }
  EXPECT_EQ(compute, r.split.compute);
  EXPECT_EQ(communication, r.split.communication);
}

TEST(Timeline, KeepsTheRanksThatWereNamed) {
  const std::string trace =
      one_program(4, R"({"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"})");
  const RunResult r = traced(star(4, "100 GB/s"), trace, {3, 1});
  ASSERT_EQ(r.full_timeline->tracks.size(), 2U);
  EXPECT_EQ(r.full_timeline->tracks[0].rank, 1U);
  EXPECT_EQ(r.full_timeline->tracks[1].rank, 3U);
  EXPECT_THROW(static_cast<void>(traced(star(4, "100 GB/s"), trace, {4})), Error);
}

TEST(Timeline, JoinsMatchedSendsAndReceives) {
  const RunResult r = traced(star(2, "100 GB/s"), R"({"schema": "busbar.trace/1", "name": "t", "groups": {},
    "programs": {
      "a": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "1 ms"},
                    {"id": "s", "op": "send", "stream": "out", "to": "peer", "bytes": "100 MB", "after": ["c"]}]},
      "b": {"ops": [{"id": "r", "op": "recv", "stream": "in", "from": "peer", "bytes": "100 MB"}]}},
    "bindings": [{"ranks": [0], "program": "a", "peers": {"peer": 1}}, {"ranks": [1], "program": "b", "peers": {"peer": 0}}]})");
  ASSERT_EQ(r.full_timeline->messages.size(), 1U);
  const TimelineMessage& m = r.full_timeline->messages[0];
  EXPECT_EQ(m.from, 0U);
  EXPECT_EQ(m.from_stream, 1U);
  EXPECT_EQ(m.to, 1U);
  EXPECT_EQ(m.to_stream, 0U);
  EXPECT_EQ(m.start, Time::from_seconds(0.001));
  EXPECT_EQ(m.end, Time::from_seconds(0.002));
}

// The ring fills its links from 0 to 6 ms; then nothing.
TEST(Timeline, SamplesTheLoadOfTheBusiestLink) {
  const RunResult r = traced(star(4, "100 GB/s"), one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"},
      {"id": "c", "op": "compute", "stream": "dp", "duration": "1 ms"})"));
  ASSERT_EQ(r.full_timeline->counters.size(), 1U);
  const auto& samples = r.full_timeline->counters[0].samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].at, Time::zero());
  EXPECT_DOUBLE_EQ(samples[0].share, 1.0);
  EXPECT_EQ(samples[1].at, Time::from_seconds(0.006));
  EXPECT_EQ(samples[1].share, 0.0);
}

TEST(LoadCurve, StaysBoundedAndKeepsItsArea) {
  LoadCurve curve;
  const std::int64_t count = 5 * static_cast<std::int64_t>(LoadCurve::kMost);
  double area = 0;  // share x ps
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i % 7 + 1) / 8;
    curve.add(Time::picoseconds(10 * i), share);
    area += 10 * share;
  }
  const std::vector<LoadSample> samples = curve.take();
  EXPECT_LT(samples.size(), LoadCurve::kMost);
  double kept = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t end = i + 1 < samples.size() ? samples[i + 1].at.ps() : 10 * count;
    kept += samples[i].share * static_cast<double>(end - samples[i].at.ps());
  }
  EXPECT_NEAR(kept, area, 1e-9 * area);
}

TEST(Timeline, RefusesWhatNoViewerOpens) {
  // 2 operations x 2 slices x 500 B x 10^6 passes: 2 GB.
  std::string trace = one_program(1, R"({"id": "c", "op": "compute", "stream": "main", "duration": "1 us"},
                                        {"id": "d", "op": "compute", "stream": "main", "duration": "1 us"})");
  trace.insert(trace.rfind('}'), R"(, "repeat": 1000000)");
  try {
    static_cast<void>(traced(star(1, "100 GB/s"), trace));
    FAIL() << "1 GB was not refused";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("--trace-ranks"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace busbar
