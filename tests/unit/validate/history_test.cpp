// The figures that suites reached, version by version: none gets worse in silence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/result/version.h"
#include "validate/csv_table.h"
#include "validate/recorded.h"
#include "validate/run_suites.h"

namespace busbar {
namespace {

constexpr std::array<std::string_view, 4> kHistory = {"model_version", "suite", "figure", "value"};

struct FigureStep {
  std::string suite, figure, version;
  double before = 0, after = 0;
};

/// Where a figure of one version is more than half a point worse than that of the version before.
std::vector<FigureStep> worse_steps(const std::string& table) {
  const CsvTable csv(table, "recorded.csv", kHistory);
  std::map<std::pair<std::string, std::string>, double> last;
  std::vector<FigureStep> steps;
  for (const CsvRow& row : csv.rows()) {
    const std::string &suite = row.needed_text("suite"), &figure = row.needed_text("figure");
    const double value = row.needed_number("value");
    const auto [known, added] = last.try_emplace({suite, figure}, value);
    const double rise = figure == "right" ? known->second - value : value - known->second;
    if (!added && rise > kRecordedSlack)
      steps.push_back({suite, figure, row.needed_text("model_version"), known->second, value});
    known->second = value;
  }
  return steps;
}

/// Whether a line under "Predictions changed" names the suite and the version: "Suite `steps`, model version
/// 3: ...".
bool is_explained(const FigureStep& step, const std::string& changelog) {
  bool inside = false;
  LineScanner lines(changelog);
  while (lines.next()) {
    if (lines.line().starts_with("#"))
      inside = lines.line().find("Predictions changed") != std::string_view::npos;
    const bool names =
        lines.line().find(fmt::format("`{}`", step.suite)) != std::string_view::npos &&
        lines.line().find(fmt::format("odel version {}", step.version)) != std::string_view::npos;
    if (inside && names) return true;
  }
  return false;
}

std::string source(const std::string& path) { return load_text(std::string(BUSBAR_SOURCE_DIR) + "/" + path); }

TEST(History, NoFigureGetsWorseWithoutAReasonInTheChangelog) {
  const std::string changelog = source("CHANGELOG.md");
  for (const FigureStep& step : worse_steps(source("validate/data/recorded.csv")))
    EXPECT_TRUE(is_explained(step, changelog))
        << step.suite << " " << step.figure << ": " << step.before << " -> " << step.after
        << " in model version " << step.version << ": say why under \"Predictions changed\" in CHANGELOG.md";
}

TEST(History, EverySuiteHasFiguresOfThisVersion) {
  const CsvTable csv(source("validate/data/recorded.csv"), "recorded.csv", kHistory);
  std::set<std::string> now;
  for (const CsvRow& row : csv.rows())
    if (row.needed_text("model_version") == kModelVersion)
      now.insert(row.needed_text("suite") + " " + row.needed_text("figure"));
  for (const Suite& suite : suites())
    for (const std::string figure : {"median", "p90"})
      EXPECT_TRUE(now.contains(std::string(suite.name) + " " + figure)) << suite.name << " " << figure;
}

TEST(History, ARiseBeyondHalfAPointWantsALineOfItsSuiteAndVersion) {
  const std::string table =
      "model_version,suite,figure,value\n"
      "2,steps,median,0.069\n2,memory,right,0.982\n3,steps,median,0.073\n3,memory,right,0.970\n4,steps,"
      "median,0.080\n";
  const std::vector<FigureStep> steps = worse_steps(table);
  ASSERT_EQ(steps.size(), 2U);  // 0.4 points in version 3 are allowed
  EXPECT_EQ(steps[0].suite, "memory");
  EXPECT_EQ(steps[1].version, "4");
  EXPECT_FALSE(is_explained(steps[1], "### Predictions changed\n- Suite `steps`, model version 3: x\n"));
  EXPECT_FALSE(is_explained(steps[1], "### Added\n- Suite `steps`, model version 4: x\n"));
  EXPECT_TRUE(is_explained(steps[1], "### Predictions changed\n- Suite `steps`, model version 4: x\n"));
}

}  // namespace
}  // namespace busbar
