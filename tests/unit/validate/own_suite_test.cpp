#include "validate/own_suite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sim/base/error.h"
#include "sim/replay/simulate.h"
#include "tests/support/errors.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

constexpr const char* kTopology =
    R"({"schema": "busbar.topology/1", "name": "one host", "hosts": {"count": 1, "type": "dgx-h100"},
        "fabric": {"family": "none"}})";
// A rank computes 2 ms; 1,000 tokens a step over 8 ranks.
constexpr const char* kTrace =
    R"({"schema": "busbar.trace/1", "name": "two ms", "tokens": 1000, "groups": {"all": "0-7"},
        "programs": {"p": {"ops": [{"id": "c", "op": "compute", "stream": "main", "duration": "2 ms"}]}},
        "bindings": [{"ranks": "0-7", "program": "p"}]})";

class OwnSuiteFile : public testing::Test {
 protected:
  void SetUp() override {
    write("host.json", kTopology);
    write("step.json", kTrace);
    write("ar.csv", "size_bytes,time_us\n1048576,40\n16777216,160\n");
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
  }
  /// With schema and name around the rest.
  [[nodiscard]] OwnSuite read(const std::string& rest, const std::string& name = "mine") {
    write("s.json", fmt::format(R"({{"schema": "busbar.suite/1", "name": "{}", {}}})", name, rest));
    return read_own_suite(folder_.file("s.json"), find_nothing);
  }
  std::string refusal(const std::string& rest) {
    std::string text = error_of([&] { (void)read(rest); });
    const std::string folder = folder_.path().string() + "/";
    for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    return text;
  }
  static std::string find_nothing(const std::string& name, std::string_view) {
    throw Error({.where = name, .message = "nothing there", .suggestion = "try another"});
  }
  static constexpr const char* kTable =
      R"("tables": [{"file": "ar.csv", "operation": "all_reduce", "members": 8, "topology": "host.json"}])";
  static constexpr const char* kRun =
      R"("runs": [{"name": "r", "topology": "host.json", "workload": "step.json", "step_time": "4 ms"}])";

 private:
  TemporaryFolder folder_;
};

TEST_F(OwnSuiteFile, PredictsRunsByTheirFiles) {
  const OwnSuite suite = read(kRun);
  EXPECT_EQ(kinds_of(suite), std::vector<std::string_view>{"steps"});
  const Validation v = run_own_suite(suite, "steps", default_profile(), {});
  ASSERT_EQ(v.rows.size(), 1U);
  EXPECT_EQ(v.collection, "mine");
  EXPECT_EQ(v.rows[0].system, "mine");
  EXPECT_EQ(v.rows[0].gpus, 8);
  EXPECT_DOUBLE_EQ(v.rows[0].measured, 4e-3);
  EXPECT_DOUBLE_EQ(v.rows[0].predicted, 2e-3);  // nothing but its kernel
  EXPECT_DOUBLE_EQ(v.overall.median, 0.5);
}

TEST_F(OwnSuiteFile, TurnsRatesAndLogsIntoSteps) {
  const OwnSuite rate = read(
      R"("runs": [{"name": "r", "topology": "host.json", "workload": "step.json", "tokens_per_gpu": 25000}])");
  EXPECT_DOUBLE_EQ(rate.steps[0].measured_s, 1000.0 / 25000 / 8);
  write("m.json", R"({"schema": "busbar.measured/1", "source": "x", "origin": "measured-here",
                      "steps": [{"step_time_s": 0.003}]})");
  const OwnSuite log = read(
      R"("runs": [{"name": "r", "topology": "host.json", "workload": "step.json", "measured": ["m.json"]}])");
  EXPECT_DOUBLE_EQ(log.steps[0].measured_s, 0.003);
}

TEST_F(OwnSuiteFile, TakesFromATablesFileWhatItsEntryLeavesOut) {
  write("both.json",
        R"({"schema": "busbar.measured/1", "source": "x", "origin": "measured-here", "collectives": [
      {"operation": "all_gather", "size_bytes": 1048576, "members": "0-3", "time_s": 30e-6, "type": "bf16"},
      {"operation": "all_reduce", "size_bytes": 1048576, "members": "0-7", "time_s": 40e-6}]})");
  const OwnSuite suite = read(R"("tables": [{"file": "both.json", "topology": "host.json", "system": "A"}])");
  ASSERT_EQ(suite.tables.size(), 2U);
  EXPECT_EQ(suite.tables[0].operation, CollectiveKind::kAllGather);
  EXPECT_EQ(suite.tables[0].ranks, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(suite.tables[0].type, DataType::kBf16);
  EXPECT_EQ(suite.tables[1].members, 8);
  EXPECT_EQ(suite.tables[1].type, DataType::kFp32);
  EXPECT_TRUE(suite.tables[1].in_model);
  const Validation v = run_own_suite(suite, "collectives", default_profile(), {});
  EXPECT_EQ(v.rows.size(), 2U);
  ASSERT_EQ(v.groups.size(), 1U);
  EXPECT_EQ(v.groups[0].name, "A, own");
}

TEST_F(OwnSuiteFile, HoldsWhatItRecords) {
  const OwnSuite met = read(std::string(kRun) + R"(, "recorded": {"steps": {"median": 0.497}})");
  EXPECT_TRUE(run_own_suite(met, "steps", default_profile(), {}).all_held());  // 50 %, half a point allowed
  const OwnSuite lost = read(std::string(kRun) + R"(, "recorded": {"steps": {"median": 0.494}})");
  EXPECT_FALSE(run_own_suite(lost, "steps", default_profile(), {}).all_held());
  // A part of it is not held.
  EXPECT_TRUE(run_own_suite(lost, "steps", default_profile(), {.most_gpus = 8}).held.empty());
}

TEST_F(OwnSuiteFile, ReadsTablesOfRunsWithTheColumnsTheyNeed) {
  write(
      "runs.csv",
      "id,gpu,host,hosts,gpus_per_host,fabric,framework,model,preset,sequence,global,dp,sharding,measured_s,"
      "measured\n"
      "a,H100,dgx-h100,1,8,none,pytorch,7B,llama-2-7b,4096,8,8,fsdp,1.0,here\n");
  const OwnSuite suite = read(R"("steps": ["runs.csv"])");
  ASSERT_EQ(suite.steps.size(), 1U);
  const Validation v = run_own_suite(suite, "steps", default_profile(), {});
  const RunRow& run = suite.steps[0].run;
  const Topology topology = topology_of(run);
  EXPECT_DOUBLE_EQ(v.rows.at(0).predicted,
                   simulate(topology, expand(workload_of(run)), default_profile(), {}).step_time.seconds());
}

TEST_F(OwnSuiteFile, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(refusal(R"("table": [])"), "s.json: unknown key 'table'; did you mean 'tables'?");
  EXPECT_EQ(refusal(R"("tables": [])").substr(0, 23), "s.json: no measurement:");
  EXPECT_EQ(refusal(R"("tables": [{"file": "no.csv", "topology": "host.json"}])"),
            "s.json#/tables/0/file: expected a file in the suite's folder, 'no.csv', got 'no.csv'");
  EXPECT_EQ(
      refusal(R"("tables": [{"file": "ar.csv", "topology": "hots.json"}])"),
      "s.json#/tables/0/topology: expected a file in the suite's folder or of the topologies catalogue, "
      "got 'hots.json'; try another");
  EXPECT_NE(refusal(R"("tables": [{"file": "../ar.csv", "topology": "host.json"}])").find("without '..'"),
            std::string::npos);
  EXPECT_EQ(refusal(R"("runs": [{"name": "r", "topology": "host.json", "workload": "step.json"}])"),
            "s.json#/runs/0: expected one of step_time, tokens_per_gpu or measured");
  EXPECT_EQ(refusal(std::string(kRun) + R"(, "recorded": {"memory": {"median": 0.1}})"),
            "s.json#/recorded/memory: this file has no rows of a suite 'memory'");
  EXPECT_NE(refusal(std::string(kRun) + R"(, "recorded": {"steps": {"right": 0.1}})")
                .find("s.json#/recorded/steps: unknown key 'right'"),
            std::string::npos);
  write("runs.csv", "id,gpu\na,H100\n");
  EXPECT_EQ(refusal(R"("steps": ["runs.csv"])"), "runs.csv:1: missing column 'host'");
  write("ar.csv", "size_bytes,time_us\n1048576,forty\n");
  EXPECT_EQ(refusal(kTable).substr(0, 9), "ar.csv:2:") << refusal(kTable);
}

}  // namespace
}  // namespace busbar
