// `calibrate` as a user runs it, and what `simulate` makes of its profiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

class CalibrateProgram : public ProgramTest {
 protected:
  // What a machine of `factor` times the predicted times would measure, with 2 % of scatter.
  std::string table(const std::string& name, double factor = 1) {
    const Outcome swept = simulate("--topology dgx1x8.json --collective all_reduce --sizes 1K:1G:2 --csv -");
    std::string text = "size_bytes,time_us\n";
    std::istringstream lines(swept.out);
    std::string line;
    std::getline(lines, line);
    for (int i = 0; std::getline(lines, line); ++i) {
      std::vector<std::string> cells;
      std::istringstream row(line);
      for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
      text += cells[1] + "," + std::to_string(std::stod(cells[7]) * factor * (1 + 0.02 * (i % 3 - 1))) + "\n";
    }
    return file(name, text);
  }
  static std::string fit(const std::string& from, const std::string& to) {
    return "--from " + from + " --collective all_reduce --ranks 8 --topology dgx1x8.json -o " + to;
  }
};

TEST_F(CalibrateProgram, FitsAndSimulateUsesTheProfile) {
  table("t.csv");
  const Outcome fitted = calibrate(fit("t.csv", "p.json"));
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_NE(fitted.out.find("hopper.links.efficiency"), std::string::npos);
  EXPECT_NE(fitted.out.find("left out of the fit, every fifth row at a time"), std::string::npos);
  EXPECT_NE(fitted.out.find("Kept at their default"), std::string::npos);
  const Outcome swept = simulate(
      "--topology dgx1x8.json --collective all_reduce --sizes 1M,64M --calibration p.json --json s.json");
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_NE(swept.out.find("from(us)"), std::string::npos);
  const JsonDocument sweep = JsonDocument::load(path("s.json").string());
  const JsonValue row = sweep.root().at("rows").items()[1];
  const std::vector<JsonValue> interval = row.at("time_interval_s").items();
  const double time = row.at("time_s").number(0, 1);
  EXPECT_LT(interval[0].number(0, 1), time);
  EXPECT_GT(interval[1].number(0, 1), time);
  const Outcome uncalibrated =
      simulate("--topology dgx1x8.json --collective all_reduce --sizes 64M --json d.json --quiet");
  ASSERT_EQ(uncalibrated.exit_code, 0);
  const JsonDocument expected = JsonDocument::load(path("d.json").string());
  EXPECT_NEAR(time / expected.root().at("rows").items()[0].at("time_s").number(0, 1), 1, 0.05);
  bool fitted_seen = false;
  for (const JsonValue& p : sweep.root().at("inputs").at("parameters").items())
    fitted_seen |= p.at("origin").string() == "fitted" && p.at("name").string().starts_with("hopper.");
  EXPECT_TRUE(fitted_seen);
}

TEST_F(CalibrateProgram, GivesAStepAnIntervalAndWarnsBeyondWhatWasMeasured) {
  table("t.csv");
  ASSERT_EQ(calibrate(fit("t.csv", "p.json") + " --quiet").exit_code, 0);
  const std::string step = "--topology dgx2x8.json --workload fsdp7b.json --calibration p.json";
  const Outcome out = simulate(step + " --json r.json");
  ASSERT_EQ(out.exit_code, 0) << out.err;
  const JsonDocument result = JsonDocument::load(path("r.json").string());
  const std::vector<JsonValue> interval = result.root().at("step_time_interval_s").items();
  const double time = result.root().at("step_time_s").number(0, 1e3);
  EXPECT_LE(interval[0].number(0, 1e3), time);
  EXPECT_GE(interval[1].number(0, 1e3), time);
  EXPECT_NE(out.out.find("between hosts, where nothing was measured"), std::string::npos) << out.out;
  const Outcome plain = simulate(step + " --no-interval --json q.json");
  ASSERT_EQ(plain.exit_code, 0);
  EXPECT_FALSE(JsonDocument::load(path("q.json").string()).root().find("step_time_interval_s").has_value());
}

TEST_F(CalibrateProgram, TheSameInputGivesTheSameProfile) {
  table("t.csv");
  ASSERT_EQ(calibrate(fit("t.csv", "a.json") + " --quiet --no-cross-validation").exit_code, 0);
  ASSERT_EQ(calibrate(fit("t.csv", "b.json") + " --quiet --no-cross-validation").exit_code, 0);
  EXPECT_EQ(read_file(path("a.json")), read_file(path("b.json")));
}

// A job with NCCL_ALGO=RING, measured: told so, the fit finds the machine; not told, it takes rings for what
// NCCL would have chosen.
TEST_F(CalibrateProgram, TakesNcclsSettings) {
  file("nccl.env", "NCCL_ALGO=RING\n");
  const Outcome swept = simulate(
      "--topology dgx1x8.json --collective all_reduce --sizes 1K:1G:2 --env nccl.env --csv rings.csv");
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  std::istringstream lines(read_file(path("rings.csv")));
  std::string text = "size_bytes,time_us\n", line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    text += cells[1] + "," + cells[7] + "\n";
  }
  file("t.csv", text);
  const auto mean_before = [&](const std::string& more) {
    const Outcome o =
        calibrate(fit("t.csv", "p.json") + " --json r.json --quiet --no-cross-validation " + more);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return JsonDocument::load(path("r.json").string())
        .root()
        .at("errors")
        .at("before")
        .at("mean_abs_error")
        .number(0, 10);
  };
  EXPECT_LT(mean_before("--env nccl.env"), 1e-3);
  EXPECT_GT(mean_before(""), 0.03);
  EXPECT_NE(read_file(path("p.json")).find("calibrate --from t.csv"), std::string::npos);
  EXPECT_EQ(calibrate(fit("t.csv", "p.json") + " --threads 2 --env nccl.env").exit_code, 0);
  EXPECT_NE(read_file(path("p.json")).find("--env nccl.env"), std::string::npos);
  EXPECT_EQ(calibrate("--show p.json --env nccl.env").exit_code, 2);
  EXPECT_EQ(calibrate(fit("t.csv", "p.json") + " --env nowhere.env").exit_code, 2);
}

TEST_F(CalibrateProgram, ShowsAndCompares) {
  table("t.csv");
  table("u.csv", 1.5);
  ASSERT_EQ(calibrate(fit("t.csv", "p.json") + " --quiet").exit_code, 0);
  ASSERT_EQ(calibrate(fit("u.csv", "q.json") + " --quiet").exit_code, 0);
  const Outcome shown = calibrate("--show p.json");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("measured: all_reduce on 8 ranks"), std::string::npos) << shown.out;
  EXPECT_EQ(calibrate("--show p.json --compare p.json").exit_code, 0);
  const Outcome changed = calibrate("--show q.json --compare p.json");
  EXPECT_EQ(changed.exit_code, 1) << changed.out << changed.err;
  EXPECT_NE(changed.out.find("CHANGED"), std::string::npos);
  for (const std::string form : {"--json", "--csv", "--md"}) {
    const Outcome piped = calibrate("--show q.json --compare p.json " + form + " -");
    EXPECT_EQ(piped.exit_code, 1);
    EXPECT_FALSE(piped.out.empty()) << form;
  }
}

TEST_F(CalibrateProgram, ChecksHealth) {
  file("m.json", R"({"schema": "busbar.measured/1", "kernels": [
      {"kind": "copy", "rank": 0, "bytes": 1073741824, "time_s": 0.75e-3},
      {"kind": "copy", "rank": 1, "bytes": 1073741824, "time_s": 0.75e-3},
      {"kind": "copy", "rank": 2, "bytes": 1073741824, "time_s": 0.75e-3},
      {"kind": "copy", "rank": 3, "bytes": 1073741824, "time_s": 1.50e-3}]})");
  const Outcome sick = calibrate("--check --from m.json --topology dgx1x8.json --json h.json");
  EXPECT_EQ(sick.exit_code, 1) << sick.err;
  EXPECT_NE(sick.out.find("rank 3 (h0.gpu3): 1.43 of 2.86 TB/s"), std::string::npos) << sick.out;
  EXPECT_FALSE(JsonDocument::load(path("h.json").string()).root().at("healthy").boolean());
  EXPECT_EQ(calibrate("--check --from m.json --topology dgx1x8.json --tolerance 60% --quiet").exit_code, 0);
}

TEST_F(CalibrateProgram, RefusesWhatMakesNoSense) {
  table("t.csv");
  file("bad.json", R"({"schema": "busbar.profile/1", "parameters": [{"name": "hopper.links.eficiency",
    "value": 0.8, "origin": "default"}]})");
  file("unit.json", R"({"schema": "busbar.profile/1", "parameters": [{"name": "hopper.nvls.base_latency",
    "value": 13, "origin": "default"}]})");
  file("draws.json", R"({"schema": "busbar.profile/1", "parameters": [{"name": "hopper.links.efficiency",
    "value": 0.8, "interval": [0.7, 0.9], "origin": "fitted", "rows": 3}], "draws": [[1, 1]]})");
  file("outside.json", R"({"schema": "busbar.profile/1", "parameters": [{"name": "hopper.links.efficiency",
    "value": 0.8, "interval": [0.85, 0.9], "origin": "fitted", "rows": 3}]})");
  for (const auto& [line, needle] :
       {std::pair<std::string, std::string>{"", "--from FILE or --show PROFILE is missing"},
        {"--from t.csv", "--topology FILE is missing"},
        {"--from t.csv --topology dgx1x8.json", "operation"},
        {"--from t.csv --collective all_reduce --topology dgx1x8.json", "give --ranks"},
        {"--from t.csv --collective all_reduce --ranks 16 --topology dgx1x8.json", "at most the 8 ranks"},
        {"--from t.csv --collective all_reduc --topology dgx1x8.json", "did you mean 'all_reduce'"},
        {"--show bad.json", "did you mean 'hopper.links.efficiency'"},
        {"--show unit.json", "unit.json#/parameters/0/value"},
        {"--show draws.json", "draws.json#/draws/0"},
        {"--show outside.json", "an interval that holds the value"},
        {"--compare bad.json --from t.csv", "--compare belongs to --show"},
        {"--check --from t.csv --topology dgx1x8.json -o p.json", "leave out -o"},
        {"--check --from t.csv --topology dgx1x8.json --tolerance 15", "such as 15%"}}) {
    const Outcome out = calibrate(line);
    EXPECT_EQ(out.exit_code, 2) << line;
    EXPECT_NE(out.err.find(needle), std::string::npos) << line << ": " << out.err;
    EXPECT_TRUE(out.out.empty()) << line;
  }
}

TEST_F(CalibrateProgram, WritesOverNoneOfItsInputs) {
  table("t.csv");
  file("nccl.env", "NCCL_ALGO=Ring\n");
  ASSERT_EQ(calibrate(fit("t.csv", "p.json")).exit_code, 0);
  const std::string out = " --from t.csv --collective all_reduce --ranks 8 --topology dgx1x8.json ";
  for (const std::string& line :
       {out + "--env nccl.env --csv nccl.env", out + "--calibration p.json --md p.json",
        std::string("--show p.json --json p.json")}) {
    const Outcome o = calibrate(line);
    EXPECT_EQ(o.exit_code, 2) << line;
    EXPECT_NE(o.err.find("is an input and an output"), std::string::npos) << o.err;
  }
}

TEST_F(CalibrateProgram, SaysWhenNothingIsPinned) {
  file("one.json", R"({"schema": "busbar.measured/1", "collectives": [
      {"operation": "all_reduce", "size_bytes": 1048576, "ranks": 1, "time_s": 1e-5}]})");
  const Outcome out = calibrate("--from one.json --topology dgx1x8.json -o p.json");
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_NE(out.err.find("pin no number"), std::string::npos) << out.err;
  EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1);
  EXPECT_EQ(files(), 1U);  // nothing was written
}

}  // namespace
}  // namespace busbar
