#include <gtest/gtest.h>

#include "reports/validation_report.h"
#include "sim/base/json_reader.h"
#include "sim/result/validation_io.h"
#include "validate/figures.h"

namespace busbar {
namespace {

Validation two_rows() {
  Validation v{.suite = "steps", .quantity = "step time", .unit = "s", .calibration = "default"};
  v.rows = {{.id = "a",
             .what = "model | x",
             .system = "s1",
             .source = "s",
             .gpu = "H100",
             .gpus = 8,
             .measured = 2,
             .predicted = 3,
             .shares = StepShares{.compute = 0.9, .bubble = 0.1}},
            {.id = "=b", .what = "y", .system = "s2", .measured = 4, .predicted = 3}};
  v.not_simulated = {{"c", "s1", "steps/x.csv:7#/parallel: too many"},
                     {"d", "s1", "steps/x.csv:9#/parallel: too many"}};
  v.held = {{.name = "median", .value = 0.25, .recorded = 0.2, .met = false}};
  sum_up(v);
  return v;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ValidationReport, ShowsSystemsTheWholeTheWorstFirstAndWhatIsMissing) {
  const std::string text = validation_text(two_rows(), 1);
  EXPECT_TRUE(has(text, "steps: step time, 2 rows, 2 not simulated; calibration default")) << text;
  EXPECT_TRUE(has(text, "s1         1  50.0 %")) << text;
  EXPECT_TRUE(has(text, "all        2  37.5 %")) << text;  // between 25 and 50
  EXPECT_TRUE(has(text, "+50.0 %  a")) << text;            // the worst
  EXPECT_FALSE(has(text, "=b")) << text;                   // the other is not listed
  EXPECT_TRUE(has(text, "90 / 0 / 10")) << text;
  EXPECT_TRUE(has(text, "2  c")) << text;  // two rows with one reason
  EXPECT_TRUE(has(text, "WORSE")) << text;
}

TEST(ValidationReport, EscapesMarkdownAndCsv) {
  EXPECT_TRUE(has(validation_markdown(two_rows(), 2), "model \\| x"));
  const std::vector<Validation> suites = {two_rows()};
  const std::string csv = validation_csv(suites);
  EXPECT_TRUE(has(csv, "steps,a,model | x,s1,s,,H100,8,s,2,3,0.50000,0.9000,0.0000,0.1000,\n")) << csv;
  EXPECT_TRUE(has(csv, "steps,'=b,y,s2,")) << csv;
}

TEST(ValidationJson, HasOneSuiteAtTheTopAndSeveralInAList) {
  std::vector<Validation> suites = {two_rows()};
  const JsonValue one = JsonDocument::parse(write_validation(suites), "one").root();
  EXPECT_EQ(one.at("schema").string(), "busbar.validation/1");
  EXPECT_EQ(one.at("rows").items().size(), 2U);
  EXPECT_EQ(one.at("rows").items()[0].at("measured_s").number(0, 10), 2);
  EXPECT_EQ(one.at("summary").at("median_abs_error").number(0, 1), 0.375);
  EXPECT_EQ(one.at("largest_disagreement").at("id").string(), "a");
  EXPECT_FALSE(one.at("recorded").items()[0].at("met").boolean());
  suites.push_back(two_rows());
  suites.back().unit = "bytes";
  suites.back().fits = FitVerdicts{.fits_right = 3, .oom_wrong = 1};
  const JsonValue both = JsonDocument::parse(write_validation(suites), "both").root();
  const JsonValue memory = both.at("suites").items()[1];
  EXPECT_EQ(memory.at("rows").items()[0].at("measured_bytes").number(0, 10), 2);
  EXPECT_EQ(memory.at("summary").at("fits").at("right").number(0, 1), 0.75);
}

}  // namespace
}  // namespace busbar
