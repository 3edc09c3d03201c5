// simulate --sensitivity and validate --solve as a user runs them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

constexpr const char* kJob = "--topology dgx2x8.json --workload fsdp7b.json ";

class SolveProgram : public ProgramTest {
 protected:
  JsonValue json(const std::string& name) { return JsonDocument::load(path(name).string()).root(); }
  /// Of the first step of a file that --solve wrote.
  std::vector<JsonValue> solutions(const std::string& name) {
    return json(name).at("steps").items().front().at("solutions").items();
  }
  static double number(const JsonValue& object, const char* key) {
    return object.at(key).number(-1e18, 1e18);
  }
  /// The predicted step on the cluster as it is, with more of the command line.
  double step_s(const std::string& more = "") {
    EXPECT_EQ(simulate(kJob + more + " --json step.json --quiet").exit_code, 0);
    return number(json("step.json"), "step_time_s");
  }
};

TEST_F(SolveProgram, SensitivityPrintsWhatHelpsMostAndFillsTheResult) {
  const Outcome run = simulate(std::string(kJob) + "--sensitivity --json r.json --csv r.csv --md r.md");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("What would help most: 10 % more speed of kernels"), std::string::npos) << run.out;
  const std::vector<JsonValue> records = json("r.json").at("sensitivity").items();
  ASSERT_GT(records.size(), 8U);
  EXPECT_EQ(records[0].at("parameter").string(), "compute-efficiency");
  double sum = 0;
  for (const JsonValue& r : records) {
    const std::string name = r.at("parameter").string();
    const bool is_time = name.ends_with("-latency") || name == "launch-cost";
    if (name != "global-batch") sum += (is_time ? -1 : 1) * number(r, "elasticity");
  }
  EXPECT_NEAR(sum, -1, 0.01);  // homogeneity, as in docs/sensitivity.md
  // Beside the step's own tables.
  const std::string csv = read_file(path("r.csv")), markdown = read_file(path("r.md"));
  for (const char* part : {"\nsplit,compute,time,s,", "\nsensitivity,compute-efficiency,elasticity,,",
                           "\nsensitivity,compute-efficiency,10 % better,share,"})
    EXPECT_NE(csv.find(part), std::string::npos) << part;
  for (const char* part : {"### Where it went", "### Collectives", "| parameter |", "What would help most: "})
    EXPECT_NE(markdown.find(part), std::string::npos) << part;
  EXPECT_FALSE(step_s() == 0);
  EXPECT_FALSE(json("step.json").find("sensitivity").has_value());  // only where asked for
}

TEST_F(SolveProgram, SensitivityBelongsToSteps) {
  EXPECT_EQ(simulate("--topology dgx1x8.json --collective all_reduce --sensitivity").exit_code, 2);
  // Without it --csv and --md have the step's own tables.
  const std::string csv = simulate(std::string(kJob) + "--csv -").out;
  EXPECT_TRUE(csv.starts_with("table,row,figure,unit,value\n"));
  EXPECT_NE(csv, simulate(std::string(kJob) + "--sensitivity --csv -").out);
}

TEST_F(SolveProgram, SolveFindsWhatAFileOfMeasuredStepsWasMadeWith) {
  // 20 % slower kernels: their share of the step is nearly all of it.
  const double measured = 1.25 * step_s();
  file("run.json", R"({"schema": "busbar.measured/1", "origin": "synthetic", "steps": [{"step_time_s": )" +
                       std::to_string(measured) + "}]}");
  const Outcome run = validate(std::string(kJob) +
                               "--measured run.json --solve compute-efficiency -o mine.json --json s.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("speed of kernels: x 0."), std::string::npos) << run.out;
  const JsonValue solution = solutions("s.json").front();
  EXPECT_NEAR(number(solution, "factor"), 0.8, 0.02);
  EXPECT_NEAR(step_s("--calibration mine.json --no-interval") / measured, 1, 2e-3);
}

TEST_F(SolveProgram, SolveTakesAStepTimeOrARateAndSeveralParameters) {
  const double now = step_s();
  const double rate = number(json("step.json"), "tokens_per_s_per_gpu");
  const std::string time = std::to_string(2 * now) + " s", half = std::to_string(rate / 2);
  EXPECT_EQ(validate(std::string(kJob) + "--step-time \"" + time +
                     "\" --solve nic-bandwidth,compute-efficiency --json a.json --quiet")
                .exit_code,
            0);
  EXPECT_EQ(validate(std::string(kJob) + "--tokens-per-gpu " + half +
                     " --solve nic-bandwidth,compute-efficiency --json b.json --quiet")
                .exit_code,
            0);
  const std::vector<JsonValue> a = solutions("a.json"), b = solutions("b.json");
  ASSERT_EQ(a.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(number(a[i], "factor") / number(b[i], "factor"), 1, 1e-4);
  // A fifth more: kernels that much slower come before a network that is broken.
  const Outcome all = validate(kJob + fmt::format("--step-time \"{} s\" --solve all", 1.2 * now));
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_LT(all.out.find("speed of kernels"), all.out.find("NIC bandwidth per host")) << all.out;
}

TEST_F(SolveProgram, SolveSaysThatNothingExplainsAStepShorterThanItsKernels) {
  const Outcome run = validate(std::string(kJob) + "--step-time \"1 ms\" --solve nic-bandwidth");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("no value from 0.001 to 100 times 400 GB/s explains it"), std::string::npos)
      << run.out;
}

// A table made by the program itself on a machine with NVLink at 80 %, all links alike.
TEST_F(SolveProgram, SolveFindsABandwidthFromMeasuredCollectives) {
  std::string faults;
  for (int g = 0; g < 8; ++g)
    faults += (g == 0 ? "" : ", ") + std::string(R"({"link": "h0.gpu)") + std::to_string(g) +
              R"(--h0.nvs", "bandwidth": "80%"})";
  file("slow.json", R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 1, "type": "dgx-h100"},
    "fabric": {"family": "none"}, "faults": [)" +
                        faults + "]}");
  const Outcome made = simulate(
      "--topology slow.json --collective all_reduce --sizes 64K:4G:4 --json slow-sweep.json --quiet");
  ASSERT_EQ(made.exit_code, 0);
  std::string rows;
  for (const JsonValue& row : json("slow-sweep.json").at("rows").items())
    rows += fmt::format(R"({}{{"operation": "all_reduce", "size_bytes": {}, "ranks": 8, "type": "float",
                            "time_s": {}}})",
                        rows.empty() ? "" : ", ", row.at("size_bytes").integer(1, INT64_MAX),
                        number(row, "time_s"));
  file("measured.json", R"({"schema": "busbar.measured/1", "collectives": [)" + rows + "]}");
  const Outcome run =
      validate("--topology dgx1x8.json --measured measured.json --solve nvlink-bandwidth --json s.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const JsonValue solution = solutions("s.json").front();
  EXPECT_NEAR(number(solution, "factor"), 0.8, 0.016) << run.out;
}

// 2 ms of kernels and 100 MB over 100 GB/s, measured as 4 ms: the links at half their rate.
TEST_F(SolveProgram, ValidateNamesTheChangeThatClosesAGap) {
  file("pair.json", R"({"schema": "busbar.topology/1", "name": "pair",
    "devices": [{"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"},
                {"id": "s", "kind": "nvswitch", "host": "h"}],
    "links": [{"from": "g0", "to": "s", "bandwidth": "100 GB/s", "latency": "0 s", "type": "nvlink"},
              {"from": "g1", "to": "s", "bandwidth": "100 GB/s", "latency": "0 s", "type": "nvlink"}]})");
  file("step.json", R"({"schema": "busbar.trace/1", "name": "step", "groups": {"all": "0-1"},
    "programs": {"p": {"ops": [
      {"id": "c", "op": "compute", "stream": "main", "duration": "2 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "100 MB", "after": ["c"]}]}},
    "bindings": [{"ranks": "0-1", "program": "p", "groups": {"all": "all"}}]})");
  file("slow.json", R"({"schema": "busbar.measured/1", "steps": [{"step_time_s": 4e-3}]})");
  file("usual.json", R"({"schema": "busbar.measured/1", "steps": [{"step_time_s": 3.03e-3}]})");
  const std::string line = "--topology pair.json --workload step.json --calibration ideal --measured ";
  const Outcome slow = validate(line + "slow.json --json v.json");
  EXPECT_NE(slow.out.find("NVLink bandwidth per link x 0.5 would close it (50 GB/s instead of 100 GB/s)"),
            std::string::npos)
      << slow.out << slow.err;
  EXPECT_TRUE(json("v.json").find("closing_change").has_value());
  EXPECT_EQ(validate(line + "usual.json").out.find("would close it ("), std::string::npos);  // 1 % is no gap
}

// A training log, as any other measured step.
TEST_F(SolveProgram, SolveReadsTrainingLogs) {
  std::string log;
  for (int i = 1; i <= 8; ++i)
    log += fmt::format(
        " iteration {:8}/    100 | consumed samples: {:12} | elapsed time per iteration (ms): 858.0 | "
        "learning rate: "
        "1.0E-04 | global batch size:    16 | lm loss: 5.0E+00 |\n",
        i, 16 * i);
  file("train.log", log);
  const Outcome run =
      validate(std::string(kJob) + "--measured train.log --solve compute-efficiency --json s.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NEAR(number(solutions("s.json").front(), "measured_s"), 0.858, 1e-9);
}

TEST_F(SolveProgram, SolveRefusesLinesThatMakeNoSense) {
  const auto refused = [&](const std::string& line, const std::string& says) {
    const Outcome run = validate(line);
    EXPECT_EQ(run.exit_code, 2) << line;
    EXPECT_NE(run.err.find(says), std::string::npos) << run.err;
  };
  refused(std::string(kJob) + "--solve nic-bandwidth", "one of --measured, --step-time and --tokens-per-gpu");
  refused(std::string(kJob) + "--solve nic-bandwith --step-time \"1 s\"", "did you mean 'nic-bandwidth'");
  refused(std::string(kJob) + "--solve nic-bandwidth --step-time 12", "--step-time");
  refused(std::string(kJob) + "--solve nic-bandwidth --step-time \"1 s\" -o p.json",
          "compute-efficiency alone");
  refused("--topology dgx2x8.json --solve nic-bandwidth --step-time \"1 s\"", "--workload");
  EXPECT_FALSE(std::filesystem::exists(path("p.json")));
}

}  // namespace
}  // namespace busbar
