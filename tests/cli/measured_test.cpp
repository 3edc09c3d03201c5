// `simulate --measured`: a sweep beside measurements.
#include <fmt/format.h>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

const std::string kIdeal =
    "--topology star.json --collective all_reduce --calibration ideal --measured m.csv ";

// Four GPUs on one switch, 100 GB/s each, no latency: an all_reduce of S takes 1.5 S / 100 GB/s.
class Measured : public ProgramTest {
 protected:
  void SetUp() override {
    std::string devices, links;
    for (int i = 0; i < 4; ++i) {
      devices += fmt::format(R"({{"id": "g{}", "kind": "gpu", "host": "h"}}, )", i);
      links += fmt::format(R"({}{{"from": "g{}", "to": "s", "bandwidth": "100 GB/s", "latency": "0 s",
                                  "type": "nvlink"}})",
                           i == 0 ? "" : ", ", i);
    }
    file("star.json", fmt::format(R"({{"schema": "busbar.topology/1", "name": "star",
      "devices": [{}{{"id": "s", "kind": "nvswitch", "host": "h"}}], "links": [{}]}})",
                                  devices, links));
  }
  JsonValue json(const std::string& name) { return JsonDocument::load(path(name).string()).root(); }
  void expect_in(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in:\n" << text;
  }
};

// Predicted 15, 30, 60 us at 1, 2, 4 MB; measured 12, 40, 60: +25 %, -25 %, 0 %. At 512 B 0.00768 us against
// 10: -99.9 %, compared but not counted.
const std::string kTable =
    "size_bytes,time_us\n"
    "512,10\n"
    "1000000,12\n"
    "2000000,40\n"
    "4000000,60\n";

TEST_F(Measured, SweepsTheMeasuredSizesAndSumsUp) {
  file("m.csv", kTable);
  const Outcome o = simulate(kIdeal + "--json r.json --csv s.csv");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  expect_in(o.out,
            {"measured(us)  error(%)", "12.00     +25.0", "40.00     -25.0",
             "# against m.csv:2: 4 rows, median |error| 25.0 %, mean |error| 16.7 %, bias +0.0 %, worst "
             "+25.0 % at 1000000 B; without 1 below 1 KiB"});
  const JsonValue r = json("r.json");
  ASSERT_EQ(r.at("rows").items().size(), 4U);
  const JsonValue row = r.at("rows").items().at(1);
  EXPECT_EQ(row.at("size_bytes").integer(0, 1 << 30), 1000000);
  EXPECT_NEAR(row.at("measured_s").number(0, 1), 12e-6, 1e-12);
  EXPECT_NEAR(row.at("error").number(-1, 10), 0.25, 1e-6);
  const JsonValue summary = r.at("comparison");
  EXPECT_EQ(summary.at("rows").integer(0, 10), 4);
  EXPECT_EQ(summary.at("rows_below_1_KiB").integer(0, 10), 1);
  EXPECT_NEAR(summary.at("median_abs_error").number(0, 1), 0.25, 1e-6);
  EXPECT_NEAR(summary.at("mean_abs_error").number(0, 1), 0.5 / 3, 1e-6);
  EXPECT_NEAR(summary.at("bias").number(-1, 1), 0, 1e-6);
  EXPECT_EQ(summary.at("worst_size_bytes").integer(0, 1 << 30), 1000000);
  EXPECT_EQ(r.at("inputs").at("settings").at("measured").string(), "m.csv");
  EXPECT_EQ(r.at("inputs").at("settings").at("measured-digest").string().size(), 16U);
  const std::string csv = read_file(path("s.csv"));
  expect_in(csv, {"limit,measured_us,error_percent,measured_choice,choice_agrees\n", ",12,25,,\n"});
}

TEST_F(Measured, ComparesTheSizesInCommonWithSizesGiven) {
  file("m.csv", kTable);
  const Outcome o = simulate(kIdeal + "--sizes 1000000,3000000 --csv s.csv");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  expect_in(o.out, {"# against m.csv:2: 1 row, "});
  expect_in(read_file(path("s.csv")), {"all_reduce,3000000,", ",,,,\n"});
  const Outcome none = simulate(kIdeal + "--sizes 3000000");
  EXPECT_EQ(none.exit_code, 2);
  expect_in(none.err, {"m.csv", "no size in common"});
}

TEST_F(Measured, ChecksTheChoiceThatTheSourceNames) {
  file("m.json",
       R"({"schema": "busbar.measured/1", "source": "made up", "origin": "synthetic",
    "collectives": [
    {"operation": "all_reduce", "size_bytes": 1048576, "ranks": 8, "time_s": 5e-5,
     "algorithm": "ring", "protocol": "LL"},
    {"operation": "all_reduce", "size_bytes": 2097152, "ranks": 8, "time_s": 8e-5,
     "algorithm": "tree", "protocol": "LL"}]})");
  const Outcome o = simulate(
      "--topology dgx1x8.json --collective all_reduce --algorithm ring --protocol LL --measured m.json "
      "--json "
      "r.json --csv s.csv");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  expect_in(o.out, {"choice", "agrees", "measured tree/LL", "the choice agrees in 1 of 2"});
  EXPECT_FALSE(json("r.json").at("rows").items().at(1).at("choice_agrees").boolean());
  EXPECT_EQ(json("r.json").at("comparison").at("choices_agreeing").integer(0, 9), 1);
  expect_in(read_file(path("s.csv")), {",ring/LL,yes\n", ",tree/LL,no\n"});
}

// nccl-tests' own text; RCCL's is outside the model.
TEST_F(Measured, ReadsLogsAndSaysWhenTheyAreRccls) {
  const std::string table =
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw "
      "  "
      "busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s) "
      " "
      "(GB/s)\n"
      "     1048576        262144     float     sum      -1    104.8   10.01   17.51      0    100.0   10.49 "
      "  "
      "18.35      0\n";
  file("nccl.log", "# Collective test starting: all_reduce_perf\n" + table);
  file("rccl.log", "RCCL version 2.20.5+hip6.2\n# Collective test starting: all_reduce_perf\n" + table);
  const std::string sweep = "--topology dgx1x8.json --collective all_reduce --measured ";
  const Outcome nccl = simulate(sweep + "nccl.log");
  ASSERT_EQ(nccl.exit_code, 0) << nccl.err;
  expect_in(nccl.out, {"1048576", "104.80"});
  EXPECT_EQ(nccl.out.find("RCCL"), std::string::npos);
  const Outcome rccl = simulate(sweep + "rccl.log");
  ASSERT_EQ(rccl.exit_code, 0) << rccl.err;
  expect_in(rccl.out, {"# note: measured: the times are RCCL's, which is outside the model",
                       "# note: measured with NCCL 2.20.5, predicted for 2.30.0"});
}

TEST_F(Measured, NamesWhatTheFileHasInstead) {
  file("m.json",
       R"({"schema": "busbar.measured/1", "source": "made up", "origin": "synthetic",
    "collectives": [
    {"operation": "all_gather", "size_bytes": 1048576, "ranks": 16, "time_s": 5e-5}]})");
  const Outcome o = simulate("--topology dgx1x8.json --collective all_reduce --measured m.json");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  expect_in(o.err, {"m.json", "measurements of all_reduce on 8 ranks", "all_gather on 16 ranks"});
}

}  // namespace
}  // namespace busbar
