// --html of all programs, as a user calls it. What the pages show is tested in tests/web.
#include "reports/web_bundle.h"
#include "tests/support/program.h"

namespace busbar {
namespace {

class Html : public ProgramTest {};

const std::string kStep =
    "--topology dgx1x8.json --workload ddp7b.json --set parallel.dp=8 --set batch.global=8 ";

TEST_F(Html, IsOnePageBesideTheOtherOutputs) {
  if (!web_bundle().missing.empty()) GTEST_SKIP() << web_bundle().missing;
  ASSERT_EQ(simulate(kStep + "--html p.html --json r.json --quiet").exit_code, 0);
  const std::string page = read_file(path("p.html"));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("\"schema\": \"busbar.result/1\""), std::string::npos);
  EXPECT_EQ(files(), 2U);
}

TEST_F(Html, OfTwoOutputsOnlyOneCanBeStandardOutput) {
  const Outcome two = simulate(kStep + "--html - --json -");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_NE(two.err.find("only one of"), std::string::npos);
  EXPECT_EQ(validate("--suite steps --html - --csv -").exit_code, 2);
  EXPECT_EQ(calibrate("--show x.json --html - --md -").exit_code, 2);
}

TEST_F(Html, TablesOfAStepAreCsvAndMarkdown) {
  const Outcome csv = simulate(kStep + "--csv -");
  EXPECT_EQ(csv.exit_code, 0);
  EXPECT_TRUE(csv.out.starts_with("table,row,figure,unit,value\nstep,step_time_s,value,,"));
  EXPECT_NE(csv.out.find("\nsplit,compute,time,s,"), std::string::npos);
  const Outcome markdown = simulate(kStep + "--md -");
  EXPECT_TRUE(markdown.out.starts_with("## Llama 2 7B"));
  EXPECT_NE(markdown.out.find("### Collectives"), std::string::npos);
  const Outcome sweep = simulate("--topology dgx1x8.json --collective all_reduce --sizes 1M --md -");
  EXPECT_NE(sweep.out.find("| size(B) | count |"), std::string::npos) << sweep.out;
}

TEST_F(Html, AloneOnStandardOutputWithoutText) {
  if (!web_bundle().missing.empty()) GTEST_SKIP() << web_bundle().missing;
  const Outcome page = simulate("--topology dgx1x8.json --collective all_reduce --sizes 1M --html -");
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_TRUE(page.out.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.out.ends_with("</html>\n"));
}

TEST_F(Html, WithoutPagesSaysWhatIsMissingAndWritesNothing) {
  if (web_bundle().missing.empty()) GTEST_SKIP() << "built with its pages";
  for (const Outcome& o :
       {simulate(kStep + "--html p.html --json r.json"), validate("--suite steps --html p.html"),
        calibrate("--show p.json --html p.html"),
        plan("--model gpt2 --host-type dgx-a100 --gpus 8 --global-batch 32 --sequence 1024 -o p.html")}) {
    EXPECT_EQ(o.exit_code, 3);
    EXPECT_NE(o.err.find(web_bundle().missing), std::string::npos) << o.err;
  }
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace busbar
