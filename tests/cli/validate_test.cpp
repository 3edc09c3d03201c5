// `validate` as a user calls it.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "sim/base/json_reader.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

class Validate : public ProgramTest {
 protected:
  /// A folder "data" with one table of two kernels.
  void SetUp() override {
    std::filesystem::create_directories(path("data/kernels"));
    table("kernels/a100-sxm-matmul.csv",
          "dtype,m,n,k,time_us\nbfloat16,4096,4096,4096,600\nint8,4096,4096,4096,300\n");
  }
  void table(const std::string& name, const std::string& text) {
    std::ofstream(path("data/" + name), std::ios::binary) << text;
  }
};

const std::string kKernels = "--data data --suite kernels ";

TEST_F(Validate, ComparesATableAndListsWhatItLeavesOut) {
  const Outcome o = validate(kKernels);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  for (const char* part : {"kernels: kernel time, 1 rows, 1 not simulated", "A100-SXM4-80GB, matmul bfloat16",
                           "Furthest off", "600.00 us", "no model of int8 kernels"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
  EXPECT_EQ(o.err, "");
}

TEST_F(Validate, WritesJsonCsvAndMarkdown) {
  ASSERT_EQ(validate(kKernels + "--json v.json --csv v.csv --md v.md --quiet").exit_code, 0);
  const JsonValue v = JsonDocument::load(path("v.json").string()).root();
  EXPECT_EQ(v.at("schema").string(), "busbar.validation/1");
  EXPECT_EQ(v.at("suite").string(), "kernels");
  EXPECT_DOUBLE_EQ(v.at("rows").items()[0].at("measured_s").number(0, 1), 600e-6);
  EXPECT_EQ(v.at("summary").at("rows").number(0, 10), 1);
  EXPECT_NE(read_file(path("v.csv")).find("kernels,matmul bfloat16 4096 x 4096 x 4096,"), std::string::npos);
  EXPECT_NE(read_file(path("v.md")).find("| system | rows |"), std::string::npos);
}

// ceil(N / 20) and ceil(N / 40) of N tables.
TEST_F(Validate, EveryThinsTheTablesThatCalibrationPredicts) {
  const auto tables = [&](int every) {
    EXPECT_EQ(validate(fmt::format("--suite calibration --every {} --json c.json --quiet", every)).exit_code,
              0);
    std::set<std::string> names;
    for (const JsonValue& row : JsonDocument::load(path("c.json").string()).root().at("rows").items())
      names.insert(row.at("system").string() +
                   row.at("what").string().substr(row.at("what").string().find(',')) +
                   row.at("id").string().substr(0, row.at("id").string().rfind(':')));
    return names.size();
  };
  const std::size_t few = tables(40), twice = tables(20);
  EXPECT_GE(few, 1U);
  EXPECT_LE(few, 6U);
  EXPECT_TRUE(twice == 2 * few || twice == 2 * few - 1) << few << ", " << twice;
}

TEST_F(Validate, PutsJsonAloneOnStandardOutput) {
  const Outcome o = validate(kKernels + "--json -");
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(JsonDocument::parse(o.out, "out").root().at("suite").string(), "kernels");
}

TEST_F(Validate, FailsWithOneWhereASuiteIsWorseThanRecorded) {
  table("recorded.csv", "suite,figure,value\nkernels,median,0.9\n");
  EXPECT_EQ(validate(kKernels).exit_code, 0);
  table("recorded.csv", "suite,figure,value\nkernels,median,0.001\n");
  const Outcome o = validate(kKernels);
  EXPECT_EQ(o.exit_code, 1) << o.out;
  EXPECT_NE(o.out.find("WORSE"), std::string::npos) << o.out;
  EXPECT_EQ(validate(kKernels + "--filter gpu=A100-SXM4-80GB").exit_code, 0);  // a part is not held
}

TEST_F(Validate, PredictsPublishedStepsFromTheInstalledTables) {
  const Outcome o = validate("--suite steps --filter source=torchtitan --most-gpus 8 --worst 2");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("torchtitan, H100"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("source=torchtitan; at most 8 GPUs"), std::string::npos) << o.out;
}

// The text of the first fenced block of a kind in docs/validate.md.
std::string documented(const std::string& kind) {
  const std::string page = read_file(std::string(BUSBAR_SOURCE_DIR) + "/docs/validate.md");
  const std::string fence = "```" + kind + "\n";
  const std::size_t begin = page.find(fence);
  EXPECT_NE(begin, std::string::npos);
  const std::size_t text = begin + fence.size();
  return page.substr(text, page.find("```", text) - text);
}

TEST_F(Validate, PredictsTheDocumentedSuiteOfOnesOwn) {
  file("mine.json", documented("json"));
  file("all_reduce.csv", documented("csv"));
  const Outcome o = validate("--suite mine.json --json v.json");
  EXPECT_EQ(o.exit_code, 0) << o.err << o.out;
  for (const char* part : {"our cluster, collectives: time of a collective, 4 rows", "pod A, own",
                           "our cluster, steps: step time, 1 rows", "7B on two hosts", "held"})
    EXPECT_NE(o.out.find(part), std::string::npos) << part << " is missing from:\n" << o.out;
  const JsonValue v = JsonDocument::load(path("v.json").string()).root();
  EXPECT_EQ(v.at("suites").items()[1].at("collection").string(), "our cluster");
  EXPECT_EQ(validate("--suite mine.json --filter system=x").exit_code, 2);  // steps have no such column
  const Outcome data = validate("--suite mine.json --data data");
  EXPECT_EQ(data.err, "validate: command line: --data does not go with a suite file of your own\n");
}

TEST_F(Validate, CrossValidatesCollectivesAlone) {
  EXPECT_EQ(validate("--suite steps --cross-validate").exit_code, 2);
  EXPECT_EQ(validate("--suite collectives --cross-validate --calibration ideal").exit_code, 2);
  const Outcome o =
      validate("--suite collectives --cross-validate --filter class=nvlink-rack --worst 0 --json v.json");
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("seen: median"), std::string::npos) << o.out;
  const JsonValue v = JsonDocument::load(path("v.json").string()).root();
  EXPECT_TRUE(v.at("cross_validated").boolean());
  EXPECT_EQ(v.at("summary").at("plain").at("rows").number(0, 1e6), v.at("summary").at("rows").number(0, 1e6));
  EXPECT_GT(v.at("rows").items()[0].at("predicted_plain_s").number(0, 1e6), 0);
}

struct BadCall {
  const char *arguments, *line;
};

class ValidateRefuses : public Validate, public testing::WithParamInterface<BadCall> {};

TEST_P(ValidateRefuses, WithOneLine) {
  const Outcome o = validate(GetParam().arguments);
  EXPECT_EQ(o.exit_code, 2) << o.out;
  EXPECT_EQ(o.err, std::string("validate: ") + GetParam().line + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Calls, ValidateRefuses,
    testing::Values(
        BadCall{"", "command line: --measured FILE or --suite NAME is missing; see --help for examples"},
        BadCall{"--suite step",
                "--suite: expected collectives, calibration, kernels, steps, sweeps, memory or "
                "all (or a busbar.suite/1 file), got 'step'; did you mean 'steps'?"},
        BadCall{"--suite kernels --filter source=x",
                "--filter: expected of the suite kernels gpu, kind or type, got 'source'"},
        BadCall{"--suite kernels --data data --filter gpu=none", "suite kernels: the filters leave no row"},
        BadCall{"--suite kernels --data data --calibration mine",
                "--calibration: expected default, ideal or a busbar.profile/1 file, got 'mine'"},
        BadCall{"--suite kernels --json - --csv -",
                "command line: only one of --json, --html, --csv and --md can go to standard output"}),
    [](const auto& m) { return fmt::format("call{}", m.index); });

// A typing error must cost a second, not the minutes of a whole suite.
TEST_F(Validate, RefusesOutputsThatCannotBeWrittenBeforeItRuns) {
  const Outcome nowhere = validate(kKernels + "--json v.json --csv nowhere/v.csv");
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_EQ(nowhere.err, "validate: nowhere/v.csv: cannot write: no folder 'nowhere'\n");
  EXPECT_EQ(nowhere.out, "");
  EXPECT_FALSE(std::filesystem::exists(path("v.json")));
  const Outcome folder = validate(kKernels + "--md data");
  EXPECT_EQ(folder.exit_code, 3);
  EXPECT_EQ(folder.err, "validate: data: cannot write: it is a folder\n");
  const Outcome twice = validate(kKernels + "--csv v --md ./v");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_EQ(twice.err, "validate: command line: './v' is the place of two outputs\n");
}

TEST_F(Validate, RefusesTypesThatNoKernelHas) {
  table("kernels/a100-sxm-matmul.csv", "dtype,m,n,k,time_us\nbfloat61,4096,4096,4096,600\n");
  const Outcome o = validate(kKernels);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("a100-sxm-matmul.csv:2, column dtype: expected"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("did you mean 'bfloat16'?"), std::string::npos) << o.err;
}

TEST_F(Validate, NamesFileAndLineOfABadTable) {
  table("kernels/a100-sxm-matmul.csv", "dtype,m,n,k,time_us\nbfloat16,4096,x,4096,600\n");
  const Outcome o = validate(kKernels);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_EQ(o.err,
            "validate: data/kernels/a100-sxm-matmul.csv:2, column n: expected a whole number, got 'x'\n");
  EXPECT_EQ(validate("--data nowhere --suite kernels").exit_code, 3);
}

}  // namespace
}  // namespace busbar
