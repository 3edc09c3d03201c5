// `simulate` as a user calls it.
#include <fmt/format.h>

#include <cstring>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

class Simulate : public ProgramTest {
 protected:
  JsonValue json(const std::string& name) { return JsonDocument::load(path(name).string()).root(); }
};

const std::string kMain = "--topology dgx2x8.json --workload fsdp7b.json ";

double number(const JsonValue& v, std::string_view key) { return v.at(key).number(0, 1e18); }

TEST_F(Simulate, PredictsAStepFromTheCatalogueAndPrintsWhereItGoes) {
  const Outcome o = simulate(kMain);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part : {"step time", "compute", "all_gather", "reduce_scatter", "Busiest links",
                           "What would help", "Assumptions", "topologies/catalogue/dgx2x8.json"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
  EXPECT_EQ(o.err, "");
}

TEST_F(Simulate, WritesJsonWhosePartsAddUp) {
  ASSERT_EQ(simulate(kMain + "--json r.json --quiet").exit_code, 0);
  const JsonValue r = json("r.json");
  EXPECT_EQ(r.at("schema").string(), "busbar.result/1");
  const double parts = number(r, "compute_s") + number(r, "exposed_communication_s") + number(r, "bubble_s") +
                       number(r, "straggler_wait_s") + number(r, "idle_s");
  EXPECT_NEAR(parts, number(r, "step_time_s"), 1e-12);
  EXPECT_GT(number(r, "mfu"), 0.2);
  EXPECT_LT(number(r, "mfu"), 0.8);
  EXPECT_TRUE(r.at("memory").at("fits").boolean());
  EXPECT_EQ(r.at("inputs").at("settings").at("fsdp.prefetch").string(), "1");
}

TEST_F(Simulate, IsIdenticalForIdenticalInputButForEngine) {
  ASSERT_EQ(simulate(kMain + "--json a.json --quiet").exit_code, 0);
  ASSERT_EQ(simulate(kMain + "--json b.json --quiet").exit_code, 0);
  const auto without_engine = [](const std::string& text) { return text.substr(0, text.find("\"engine\"")); };
  EXPECT_EQ(without_engine(read_file(path("a.json"))), without_engine(read_file(path("b.json"))));
}

TEST_F(Simulate, PutsJsonAloneOnStandardOutput) {
  const Outcome o = simulate(kMain + "--json -");
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(JsonDocument::parse(o.out, "out").root().at("schema").string(), "busbar.result/1");
}

TEST_F(Simulate, ChangesAnyKeyAndComparesWithBefore) {
  ASSERT_EQ(simulate(kMain + "--set hosts.nic='50 Gb/s' --set fabric.nic='50 Gb/s' --json slow.json --quiet")
                .exit_code,
            0);
  const Outcome o = simulate(kMain + "--json fast.json --compare slow.json");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("Compared with 2 x DGX H100"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("(slow.json)"), std::string::npos);
  const JsonValue other = json("fast.json").at("compared").items().at(0);
  EXPECT_EQ(number(other, "step_time_s"), number(json("slow.json"), "step_time_s"));
  EXPECT_NE(simulate(kMain + "--compare slow.json fast.json --md -").out.find("### Compared with"),
            std::string::npos);
  const std::string csv = simulate(kMain + "--compare slow.json fast.json --csv -").out;
  EXPECT_NE(csv.find("\ncompared_1,step_time_s,change,share,-0."), std::string::npos) << csv;
  EXPECT_NE(csv.find("\ncompared_2,step_time_s,change,share,0\n"), std::string::npos) << csv;
  EXPECT_GT(number(json("slow.json"), "step_time_s"), number(json("fast.json"), "step_time_s"));
}

TEST_F(Simulate, DumpsATraceThatRunsToTheSameResult) {
  ASSERT_EQ(simulate(kMain + "--dump-trace t.json --json a.json --quiet").exit_code, 0);
  ASSERT_EQ(simulate("--topology dgx2x8.json --workload t.json --json b.json --quiet").exit_code, 0);
  EXPECT_EQ(number(json("a.json"), "step_time_s"), number(json("b.json"), "step_time_s"));
  EXPECT_EQ(number(json("a.json"), "mfu"), number(json("b.json"), "mfu"));
}

TEST_F(Simulate, DumpsJitterAndStaggeredStagesToo) {
  for (const char* workload : {"jitter7b", "zb-2p-13b"}) {
    const std::string on = "--topology dgx2x8.json --workload ";
    ASSERT_EQ(simulate(on + workload + ".json --seed 5 --dump-trace t.json --json a.json --quiet").exit_code,
              0);
    ASSERT_EQ(simulate(on + "t.json --json b.json --quiet").exit_code, 0);
    for (const char* figure : {"step_time_s", "bubble_s", "hfu", "compute_imbalance"})
      EXPECT_EQ(number(json("a.json"), figure), number(json("b.json"), figure)) << workload << " " << figure;
  }
}

TEST_F(Simulate, DrawsJitterFromTheSeed) {
  const auto step = [&](const std::string& options) {
    EXPECT_EQ(simulate("--topology dgx2x8.json --workload jitter7b.json --json r.json --quiet " + options)
                  .exit_code,
              0);
    return number(json("r.json"), "step_time_s");
  };
  const double five = step("--seed 5");
  EXPECT_EQ(json("r.json").at("inputs").at("seed").integer(0, 100), 5);
  EXPECT_EQ(step("--seed 5"), five);
  EXPECT_NE(step("--seed 6"), five);
}

// With recomputation kernels do more than the model asks for; the bubble over the rest is larger than over
// all.
TEST_F(Simulate, WritesHardwareFlopsAndBothBubbles) {
  ASSERT_EQ(
      simulate("--topology dgx2x8.json --workload zb-h1-13b.json --set recompute=full --json r.json --quiet")
          .exit_code,
      0);
  const JsonValue r = json("r.json");
  EXPECT_GT(number(r, "hfu"), 1.25 * number(r, "mfu"));
  EXPECT_NEAR(number(r, "hfu") / number(r, "mfu"),
              number(r, "hardware_flops_per_s_per_gpu") / number(r, "model_flops_per_s_per_gpu"), 1e-12);
  const double of_step = number(r, "bubble_of_step");
  EXPECT_NEAR(number(r, "bubble_of_ideal"), of_step / (1 - of_step), 1e-12);
  EXPECT_EQ(r.at("roles").items().size(), 8U);
}

TEST_F(Simulate, DumpsATopologyThatRunsToTheSameResult) {
  ASSERT_EQ(simulate(kMain + "--dump-topology t.json --json a.json --quiet").exit_code, 0);
  ASSERT_EQ(simulate("--topology t.json --workload fsdp7b.json --json b.json --quiet").exit_code, 0);
  EXPECT_EQ(number(json("a.json"), "step_time_s"), number(json("b.json"), "step_time_s"));
}

TEST_F(Simulate, SweepsACollectiveInNcclTestsColumns) {
  const Outcome o = simulate(
      "--topology dgx1x8.json --collective all_reduce --sizes 1G:1G:2 --calibration ideal --csv s.csv --json "
      "s.json");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* column : {"size(B)", "count", "redop", "time(us)", "algbw(GB/s)", "busbw(GB/s)", "limit"})
    EXPECT_NE(o.out.find(column), std::string::npos) << column;
  const JsonValue row = json("s.json").at("rows").items().front();
  EXPECT_NEAR(number(row, "busbw_Bps"), 450e9, 1e3);  // NVLink 4: 450 GB/s each way
  EXPECT_NE(read_file(path("s.csv")).find("all_reduce,1073741824,268435456,fp32,sum,-1,8,"),
            std::string::npos);
  const Outcome again = simulate(
      "--topology dgx1x8.json --collective all_reduce --sizes 1G:1G:2 --compare s.json --json t.json");
  EXPECT_NE(again.out.find("time[1](us)"), std::string::npos) << again.out;
  const JsonValue now = json("t.json").at("rows").items().front();
  const std::string change =
      fmt::format("{:+.1f}\n", 100 * (number(now, "time_s") / number(row, "time_s") - 1));
  EXPECT_NE(again.out.find(change), std::string::npos) << again.out;
}

TEST_F(Simulate, FailsTheJobWithExitCodeFour) {
  file("w.json", R"({"schema": "busbar.trace/1", "name": "t", "groups": {"dp": "0-1"},
    "programs": {"a": {"ops": [{"id": "x", "op": "all_reduce", "stream": "s", "group": "dp", "bytes": "8 MB"}]},
                 "b": {"ops": [{"id": "c", "op": "compute", "stream": "s", "duration": "1 ms"}]}},
    "bindings": [{"ranks": [0], "program": "a", "groups": {"dp": "dp"}}, {"ranks": [1], "program": "b"}]})");
  const Outcome o = simulate("--topology dgx1x8.json --workload w.json --json r.json");
  EXPECT_EQ(o.exit_code, 4);
  EXPECT_NE(o.err.find("group 'dp', operation 0"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("rank 1"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
}

TEST_F(Simulate, ListsItsTables) {
  for (const char* table : {"hosts", "fabrics", "models", "strategies", "algorithms", "formats", "frameworks",
                            "gpus", "presets"}) {
    const Outcome o = simulate(std::string("--list ") + table);
    EXPECT_EQ(o.exit_code, 0) << table;
    EXPECT_GE(std::count(o.out.begin(), o.out.end(), '\n'), std::strcmp(table, "models") == 0 ? 1 : 2)
        << o.out;
  }
}

TEST_F(Simulate, ListsEveryAlgorithmOfNccl) {
  const Outcome o = simulate("--list algorithms");
  for (const char* name : {"tree", "nvls", "nvls-tree", "collnet-direct", "collnet-chain", "pat"})
    EXPECT_NE(o.out.find(std::string("  ") + name + "  "), std::string::npos) << name << " in\n" << o.out;
}

TEST_F(Simulate, ExplainsNcclsTableAndTheSwitches) {
  const Outcome o =
      simulate("--topology dgx1x8.json --collective all_reduce --sizes 1G --explain --json r.json");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part : {"chosen by  NCCL 2.30.0", " * ", "collnet-chain", "talk       in a host by nvlink",
                           "rank 0 -> switch 0: chunk 0 (reduce)", "B share / m"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
  const JsonValue e = json("r.json").at("explanations").items().front();
  EXPECT_EQ(e.at("nccl_choice").at("table").items().size(), 21U);
  EXPECT_EQ(e.at("transports").items().front().at("transport").string(), "nvlink");
  const JsonValue send = e.at("rounds").items().front().items().front();
  EXPECT_EQ(send.at("from").integer(0, 7), 0);
  EXPECT_EQ(send.at("to").string(), "switch 0");
}

TEST_F(Simulate, NotesBusbwAboveTheLineRate) {
  const Outcome o = simulate("--topology dgx2x8.json --collective all_reduce --sizes 8G --json r.json");
  EXPECT_NE(o.out.find("# note: nvls-tree: two hosts"), std::string::npos) << o.out;
  EXPECT_EQ(json("r.json").at("notes").items().size(), 1U);
}

TEST_F(Simulate, HelpsWithExamples) {
  const Outcome o = simulate("--help");
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.out.find("simulate --topology dgx2x8.json --workload fsdp7b.json"), std::string::npos);
  EXPECT_EQ(simulate("--version").exit_code, 0);
}

}  // namespace
}  // namespace busbar
