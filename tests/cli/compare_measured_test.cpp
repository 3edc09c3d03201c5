// `validate --measured`: a user's steps and collectives beside their predictions.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

// Two GPUs on one switch, 100 GB/s each, no latency: an all_reduce of S takes S / 100 GB/s. The step computes
// for 2 ms, then reduces 100 MB in 1 ms: 3 ms.
class CompareMeasured : public ProgramTest {
 protected:
  void SetUp() override {
    file("pair.json", R"({"schema": "busbar.topology/1", "name": "pair",
      "devices": [{"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"},
                  {"id": "s", "kind": "nvswitch", "host": "h"}],
      "links": [{"from": "g0", "to": "s", "bandwidth": "100 GB/s", "latency": "0 s", "type": "nvlink"},
                {"from": "g1", "to": "s", "bandwidth": "100 GB/s", "latency": "0 s", "type": "nvlink"}]})");
    file("step.json",
         R"({"schema": "busbar.trace/1", "name": "step", "tokens": 6000, "groups": {"all": "0-1"},
      "programs": {"p": {"ops": [
        {"id": "c", "op": "compute", "stream": "main", "duration": "2 ms"},
        {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "100 MB", "type": "fp32",
         "kind": "dp", "after": ["c"]}]}},
      "bindings": [{"ranks": "0-1", "program": "p", "groups": {"all": "all"}}]})");
  }
  void measured(const std::string& step) {
    file("m.json", R"({"schema": "busbar.measured/1", "origin": "synthetic", "steps": [)" + step + "]}");
  }
  // The trace of a rank whose kernel lasts `compute_us` of 4000, and whose call begins then and ends at
  // `end_us`.
  void rank(int number, double compute_us, double end_us) {
    const auto event = [](const char* category, const char* name, double begin, double end,
                          const std::string& arguments) {
      return fmt::format(
          R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": {}, "args": {{{}}}}})",
          category, name, begin, end - begin, arguments);
    };
    file(
        fmt::format("rank{}.json", number),
        fmt::format(
            R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [{}, {}, {}]}})", number,
            event("user_annotation", "ProfilerStep#5", 0, 4000, ""),
            event("kernel", "gemm", 0, compute_us, ""),
            event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", compute_us, end_us,
                  R"("Collective name": "allreduce", "In msg nelems": 25000000, "Out msg nelems": 25000000, )"
                  R"("Group size": 2, "dtype": "Float", "Process Group Name": "0", )"
                  R"("Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]")")));
  }
  Outcome compare(const std::string& arguments) {
    return validate("--topology pair.json --calibration ideal --workload step.json --measured " + arguments);
  }
  // Columns are one blank apart here.
  void expect_in(std::string text, const std::vector<std::string>& parts) {
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
               text.end());
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in:\n" << text;
  }
};

TEST_F(CompareMeasured, TheToleranceIsOfTheStepTime) {
  measured(R"({"step_time_s": 0.0032})");  // 3 / 3.2 - 1 = -6.25 %
  Outcome o = compare("m.json --tolerance 10%");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_in(
      o.out,
      {"step time 3.2 ms 3 ms -6.2 %", "compute 2 ms not in the measurement",
       "verdict: 1 row, median |error| 6.2 %, mean |error| 6.2 %, bias -6.2 %, worst -6.2 % (step time); "
       "step time -6.2 %, tolerance 10 %: within"});
  o = compare("m.json --tolerance 6%");
  EXPECT_EQ(o.exit_code, 1);
  expect_in(o.out, {"tolerance 6 %: BEYOND"});
}

// Rank 0 waits from 2000 to 2500 us for rank 1, both transfer until 3500: the transfer is 1000 us as
// predicted.
TEST_F(CompareMeasured, TracesOfAllRanksTellWaitingFromTransfer) {
  rank(0, 2000, 3500);
  rank(1, 2500, 3500);
  const Outcome o = compare("rank0.json rank1.json --json v.json");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const JsonValue v = JsonDocument::load(path("v.json").string()).root();
  const auto row = [&](const std::string& what) {
    for (const JsonValue& r : v.at("rows").items())
      if (r.at("what").string() == what) return r.at("error").number(-2, 2);
    ADD_FAILURE() << "no row " << what << " in\n" << o.out;
    return 9.0;
  };
  EXPECT_NEAR(row("step time"), 3.0 / 4 - 1, 1e-9);
  EXPECT_NEAR(row("compute"), 2.0 / 2.25 - 1, 1e-9);  // of 2000 and 2500
  EXPECT_NEAR(row("communication"), 0, 1e-9);
  EXPECT_NEAR(row("exposed communication"), 0, 1e-9);
  EXPECT_NEAR(row("exposed dp"), 0, 1e-9);
  EXPECT_NEAR(row("waiting for stragglers"), -1, 1e-9);  // 250 us on average, none predicted
  EXPECT_NEAR(row("all_reduce 100 MB, dp"), 0, 1e-9);
  EXPECT_EQ(v.at("verdict").at("judged").string(), "step time");
  expect_in(o.out, {"Measured, by rank", "0 4 ms 2 ms 1 ms 1 ms 500 us 0 ps 500 us"});
  EXPECT_NEAR(v.at("measured_ranks").items().at(1).at("compute_s").number(0, 1), 2.5e-3, 1e-12);
  // Idle is 500 us on both ranks, compute 250 us too short.
  expect_in(o.out, {"largest disagreement: idle, 500 us too short where the step is 1 ms too short"});
}

TEST_F(CompareMeasured, OneTraceAloneComparesWaitingAndTransferTogether) {
  rank(0, 2000, 3500);
  const Outcome o = compare("rank0.json");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  expect_in(o.out, {"exposed communication, waiting and bubble 1.5 ms 1 ms -33.3 %",
                    "all_reduce 100 MB, dp, waiting included 1.5 ms 1 ms",
                    "the measurement does not tell waiting from transfer",
                    "note: 1 rank read: waiting for other members counts as communication"});
}

TEST_F(CompareMeasured, SettingsThatContradictTheWorkloadAreTold) {
  measured(R"({"step_time_s": 0.003, "settings": {"gpus": 4}})");
  expect_in(
      compare("m.json").out,
      {"CONTRADICTION: gpus is 4 in the measurement (m.json#/steps/0/settings/gpus), 2 in the prediction"});
}

// 6000 tokens on 2 GPUs at 1,000,000 tokens/s each: 3 ms.
TEST_F(CompareMeasured, TokensPerSecondBecomeAStepTime) {
  file("titan.log",
       "step: 1  loss: 12.0  tps: 10  mfu: 1%\nstep: 10  loss: 11.0  tps: 1,000,000  mfu: 40%\n");
  expect_in(compare("titan.log").out, {"step time 3 ms 3 ms +0.0 %", "over the measured tokens/s"});
}

// An all_reduce of 2 MB takes 20 us, of 4 MB 40 us.
TEST_F(CompareMeasured, CollectivesNeedNoWorkload) {
  file("t.csv", "operation,size_bytes,ranks,time_us\nall_reduce,2000000,2,25\nall_reduce,4000000,2,50\n");
  const Outcome o = validate(
      "--topology pair.json --calibration ideal --measured t.csv --tolerance 19% --csv v.csv --md v.md");
  EXPECT_EQ(o.exit_code, 1) << o.err;
  expect_in(o.out, {"all_reduce 2000000 B, 2 ranks", "-20.0 %", "median of absolute errors +20.0 %"});
  expect_in(read_file(path("v.csv")), {"operations,"});
  expect_in(read_file(path("v.md")), {"### Measured and predicted", "- verdict: 2 rows"});
}

TEST_F(CompareMeasured, TablesThatDoNotSayTakeOperationAndRanksFromTheLine) {
  file("t.csv", "size_bytes,time_us\n2000000,20\n");
  const Outcome o = validate(
      "--topology pair.json --calibration ideal --measured t.csv --collective all_reduce --ranks 2 "
      "--tolerance 1%");
  EXPECT_EQ(o.exit_code, 0) << o.err << o.out;
  EXPECT_EQ(validate("--topology pair.json --measured t.csv --collective all_reduced").exit_code, 2);
}

TEST_F(CompareMeasured, AStepNeedsItsWorkloadAndNoSuite) {
  measured(R"({"step_time_s": 0.003})");
  EXPECT_EQ(
      validate("--topology pair.json --measured m.json").err,
      "validate: m.json#/steps/0: a measured step needs the workload that it is of; give --workload FILE\n");
  EXPECT_EQ(validate("--measured m.json").err,
            "validate: command line: --measured needs the --topology it was measured on\n");
  EXPECT_EQ(validate("--measured m.json --topology pair.json --suite steps").exit_code, 2);
  EXPECT_EQ(validate("--suite steps --tolerance 10%").exit_code, 2);
  EXPECT_EQ(compare("m.json --tolerance ten").err,
            "validate: --tolerance: expected a percentage such as 10%, got 'ten'\n");
}

}  // namespace
}  // namespace busbar
