#include "sim/replay/half_bandwidth.h"

#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

std::vector<std::string> texts(const RunResult& result, const std::string& code) {
  std::vector<std::string> found;
  for (const Warning& warning : result.warnings)
    if (warning.code == code) found.push_back(warning.text);
  return found;
}

std::string all_reduce(const std::string& id, const std::string& bytes, const std::string& kind) {
  return R"({"id": ")" + id +
         R"(", "op": "all_reduce", "stream": "s", "group": "all", "type": "fp32", "bytes": ")" + bytes +
         R"(", "kind": ")" + kind + "\"}";
}

std::string three(const std::string& kind) {
  return one_program(4, all_reduce("a", "512 KiB", kind) + ", " + all_reduce("b", "1 MiB", kind) + ", " +
                            all_reduce("c", "1 MiB", kind));
}

// Latency 2 (n - 1) = 6 steps of 2 us, data 2 (3/4) S / (100 GB/s): equal at S = 800 kB.
const char* const kHalf = "800 kB";

TEST(HalfBandwidth, WarningsNameTheBucketsBelowIt) {
  const RunResult r = simulate_ideal(star(4, "100 GB/s", "1 us"), trace_from(three("dp")));
  EXPECT_EQ(texts(r, "small-buckets"),
            std::vector<std::string>{std::string("1 of 3 buckets is below the half-bandwidth size of dp (") +
                                     kHalf + "): larger buckets would use the links better"});
}

TEST(HalfBandwidth, WarningsNameOtherOperationsThatTakeTime) {
  const RunResult r = simulate_ideal(star(4, "100 GB/s", "1 us"), trace_from(three("tp")));
  EXPECT_TRUE(texts(r, "small-buckets").empty());
  EXPECT_EQ(texts(r, "latency-bound"),
            std::vector<std::string>{
                std::string("1 of 3 all_reduce operations is below the half-bandwidth size of tp (") + kHalf +
                "): larger messages would use the links better"});
}

// The same, beside a kernel of a second: 19 us are not worth a word.
TEST(HalfBandwidth, WarningsLeaveOutOtherOperationsThatTakeNoTime) {
  const std::string ops = R"({"id": "k", "op": "compute", "stream": "main", "duration": "1 s"}, )" +
                          all_reduce("a", "512 KiB", "tp");
  const RunResult r = simulate_ideal(star(4, "100 GB/s", "1 us"), trace_from(one_program(4, ops)));
  EXPECT_TRUE(texts(r, "latency-bound").empty());
}

TEST(HalfBandwidth, WithoutLatencyNoMessageIsTooSmall) {
  const RunResult r = simulate_ideal(star(4, "100 GB/s"), trace_from(three("dp")));
  EXPECT_TRUE(r.warnings.empty());
}

TEST(HalfBandwidth, CoversTransfersBetweenTwoRanks) {
  // One hop of 2 us; data S / (100 GB/s): equal at 200 kB.
  const StepTrace trace = trace_from(R"({"schema": "busbar.trace/1", "programs": {
      "s": {"ops": [{"id": "s", "op": "send", "stream": "pp", "to": "+1", "bytes": "100 kB"}]},
      "r": {"ops": [{"id": "r", "op": "recv", "stream": "pp", "from": "-1", "bytes": "100 kB"}]}},
    "bindings": [{"ranks": [0], "program": "s"}, {"ranks": [1], "program": "r"}]})");
  const std::vector<std::string> found =
      texts(simulate_ideal(star(2, "100 GB/s", "1 us"), trace), "latency-bound");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("(200 kB)"), std::string::npos) << found[0];
}

// Strands of 1 and 3 bytes share 2 bytes/s: 1 each for a second; then 2 more bytes at 2 bytes/s.
TEST(LoneTime, LetsStrandsShareAndEndOneByOne) {
  const std::vector<ResourceUse> link = {{ResourceId(0), kOneFlow}};
  const Plan plan{.phases = {{.latency = Time::from_seconds(0.25),
                              .strands = {{.volume = 1, .usage = link}, {.volume = 3, .usage = link}}}},
                  .tail = Time::from_seconds(0.5)};
  MaxMinSolver solver({2.0});
  EXPECT_DOUBLE_EQ(lone_seconds(plan, solver), 0.25 + 2 + 0.5);
}

}  // namespace
}  // namespace busbar
