// One hand-made study as text, Markdown, CSV and JSON.
#include "reports/plan_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sim/result/study_result_io.h"

namespace busbar {
namespace {

/// Two clusters: the second has no layout.
Study two_clusters() {
  Study study{
      .name = "two <clusters>", .model = "m", .inputs = {.study = "s.json", .digest = "0", .seed = 7}};
  ClusterRecord good{.name = "a", .scaling = "strong", .gpus = 16, .hosts = 2, .global_batch = 32};
  good.search.ranked = {{.layout = "tp 1 dp 16 fsdp, micro 1",
                         .expected_s = 0.9,
                         .least_s = 0.8,
                         .figures = {.step_s = 1, .compute_s = 0.75, .exposed_s = 0.25}}};
  good.search.exclusions = {{"too large", 3, "tp 1"}};
  PlanFigures figures{.step_s = 1, .tokens_per_s = 100, .tokens_per_s_gpu = 6.25};
  figures.failures = GoodputRecord{.daly_s = std::numeric_limits<double>::infinity(), .interval_s = 60};
  good.figures = {figures};
  study.clusters = {good, {.name = "b", .scaling = "strong", .gpus = 8, .why_not = "no layout fits"}};
  study.best = 0;
  study.front = {{0, 0}};
  study.changes = {"a change"};
  study.risks = {"a risk"};
  study.sensitivity = {{.parameter = "nic-bandwidth",
                        .words = "NIC bandwidth per host",
                        .value = "400 GB/s",
                        .elasticity = -0.25,
                        .up = -0.25,
                        .down = -0.25,
                        .better = -0.02}};
  study.assumptions = {{"price", "2 USD", "assumed", "the study"}};
  return study;
}

TEST(PlanReport, SaysTheSameInAllFormats) {
  const Study study = two_clusters();
  const std::string text = plan_text(study, 10), markdown = plan_markdown(study, 10),
                    json = write_study(study);
  for (const char* part : {"tp 1 dp 16 fsdp, micro 1", "a change", "a risk", "no layout fits", "too large"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
    EXPECT_NE(markdown.find(part), std::string::npos) << part;
    EXPECT_NE(json.find(part), std::string::npos) << part;
  }
  EXPECT_NE(markdown.find("NIC bandwidth per host"), std::string::npos);
  EXPECT_NE(json.find("nic-bandwidth"), std::string::npos);
  Study priced = study;
  priced.currency = "EUR";
  EXPECT_NE(plan_csv(priced).find(",gpu_hours,cost_EUR,cost_per_1e12_tokens_EUR,energy_J,"
                                  "spare_gpu_hours,spare_cost_EUR,spare_energy_J,constraint\n"),
            std::string::npos);
  EXPECT_NE(plan_csv(study).find("a,,strong,16,2,32,\"tp 1 dp 16 fsdp, micro 1\",1,0.9,0.8,100,"),
            std::string::npos)
      << plan_csv(study);
}

TEST(StudyJson, LeavesOutWhatIsNotGivenAndWhatNeverEnds) {
  const auto j = nlohmann::json::parse(write_study(two_clusters()));
  EXPECT_EQ(j.at("schema"), "busbar.study-result/1");
  EXPECT_EQ(j.at("name"), "two <clusters>");
  EXPECT_EQ(j.at("best"), 0);
  const auto& first = j.at("clusters").at(0);
  EXPECT_EQ(first.at("candidates").at(0).at("exposed_communication_s"), 0.25);
  EXPECT_EQ(first.at("failures").at("interval_s"), 60);
  for (const char* key : {"tokens", "currency", "runner_up"}) EXPECT_FALSE(j.contains(key)) << key;
  for (const char* key : {"mfu", "cost", "train_s", "energy_J"})
    EXPECT_FALSE(first.at("candidates").at(0).contains(key)) << key;
  for (const char* key : {"mtbf_s", "interval_by_daly_s"}) EXPECT_FALSE(first.at("failures").contains(key));
  EXPECT_TRUE(j.at("clusters").at(1).at("candidates").empty());
  EXPECT_EQ(j.at("sensitivity").at(0).at("change_10_percent_better"), -0.02);
  EXPECT_EQ(j.at("inputs").at("seed"), 7);
}

}  // namespace
}  // namespace busbar
