// The figures that suites reached, version by version: none gets worse in silence. What these tests read is
// the tree: whether a line was changed since it was recorded is for `.ci/recorded_history`, which reads git's
// history and is tested here too; whether figures of earlier versions were reached, nothing can tell but
// their own programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/result/version.h"
#include "tests/support/temporary_folder.h"
#include "validate/csv_table.h"
#include "validate/recorded.h"
#include "validate/run_suites.h"

namespace busbar {
namespace {

constexpr std::array<std::string_view, 4> kHistory = {"model_version", "suite", "figure", "value"};

using Figure = std::pair<std::string, std::string>;  // suite, "median"

struct FigureStep {
  std::string suite, figure, version;
  double before = 0, after = 0;
};

/// Where a figure of one version is more than half a point worse than that of the version before.
std::vector<FigureStep> worse_steps(const std::string& table) {
  const CsvTable csv(table, "recorded.csv", kHistory);
  std::map<Figure, double> last;
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

std::int64_t number_of(const std::string& version) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  return error == std::errc() && end == version.data() + version.size() ? number : -1;
}

/// What is wrong with the order and the completeness of a history: "" if nothing is.
std::string disorder_of(const std::string& table) {
  const CsvTable csv(table, "recorded.csv", kHistory);
  std::map<std::int64_t, std::set<Figure>> versions;
  for (const CsvRow& row : csv.rows()) {
    const std::int64_t version = number_of(row.needed_text("model_version"));
    if (version < 0) return row.where() + ": no version";
    if (!versions.empty() && version < versions.rbegin()->first)
      return row.where() + ": a version stands below a later one";
    if (!versions[version].emplace(row.needed_text("suite"), row.needed_text("figure")).second)
      return row.where() + ": stands here twice";
  }
  const std::set<Figure>* before = nullptr;
  for (const auto& [version, figures] : versions) {
    for (const Figure& figure : before != nullptr ? *before : figures)
      if (!figures.contains(figure))
        return fmt::format("version {} has no {} of {}", version, figure.second, figure.first);
    before = &figures;
  }
  return "";
}

bool begins(std::string_view line, std::string_view with) { return line.starts_with(with); }

/// Whether a line under "Predictions changed" names the suite and the version: "Suite `steps`, model version
/// 3: ...". Of the newest version it must stand in the uppermost section that says anything: that of what is
/// not released, or else of the release it came with.
bool is_explained(const FigureStep& step, const std::string& changelog, bool newest) {
  bool inside = false, top = true, has_text = false;
  LineScanner lines(changelog);
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (begins(line, "## ")) {
      if (has_text) top = false;
      inside = false;
    } else if (begins(line, "#")) {
      inside = line.find("Predictions changed") != std::string_view::npos;
    } else if (line.find("`" + step.suite + "`") != std::string_view::npos &&
               line.find(fmt::format("odel version {}:", step.version)) != std::string_view::npos && inside &&
               (top || !newest)) {
      return true;
    }
    has_text = has_text || begins(line, "- ");
  }
  return false;
}

std::string source(const std::string& path) { return load_text(std::string(BUSBAR_SOURCE_DIR) + "/" + path); }

TEST(History, NoFigureGetsWorseWithoutAReasonInTheChangelog) {
  const std::string changelog = source("CHANGELOG.md");
  for (const FigureStep& step : worse_steps(source("validate/data/recorded.csv")))
    EXPECT_TRUE(is_explained(step, changelog, step.version == kModelVersion))
        << step.suite << " " << step.figure << ": " << step.before << " -> " << step.after
        << " in model version " << step.version << ": say why under \"Predictions changed\" in CHANGELOG.md";
}

TEST(History, IsInOrderAndWhole) { EXPECT_EQ(disorder_of(source("validate/data/recorded.csv")), ""); }

TEST(History, EverySuiteHasFiguresOfThisVersionAndNoneOfALaterOne) {
  const CsvTable csv(source("validate/data/recorded.csv"), "recorded.csv", kHistory);
  std::set<std::string> now;
  for (const CsvRow& row : csv.rows()) {
    EXPECT_LE(number_of(row.needed_text("model_version")), number_of(std::string(kModelVersion)))
        << row.where();
    if (row.needed_text("model_version") == kModelVersion)
      now.insert(row.needed_text("suite") + " " + row.needed_text("figure"));
  }
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
  const FigureStep& step = steps[1];
  const std::string line = "### Predictions changed\n- Suite `steps`, model version 4: x\n";
  EXPECT_FALSE(is_explained(step, "### Predictions changed\n- Suite `steps`, model version 3: x\n", false));
  EXPECT_FALSE(is_explained(step, "### Predictions changed\n- Suite `steps`, model version 40: x\n", false));
  EXPECT_FALSE(is_explained(step, "### Added\n- Suite `steps`, model version 4: x\n", false));
  EXPECT_TRUE(is_explained(step, line, false));
  EXPECT_TRUE(is_explained(step, "# Changelog\n\n## Unreleased\n\n" + line, true));
  EXPECT_TRUE(is_explained(step, "# Changelog\n\n## Unreleased\n\n## 0.2.0\n\n" + line, true));
  const std::string older = "# Changelog\n\n## Unreleased\n\n### Added\n\n- y\n\n## 0.2.0\n\n" + line;
  EXPECT_FALSE(is_explained(step, older, true));
  EXPECT_TRUE(is_explained(step, older, false));
}

TEST(History, KnowsWhatIsOutOfOrder) {
  const std::string header = "model_version,suite,figure,value\n";
  EXPECT_EQ(disorder_of(header + "2,steps,p90,0.2\n10,steps,p90,0.2\n"), "");
  EXPECT_NE(disorder_of(header + "3,steps,p90,0.2\n2,steps,p90,0.2\n"), "");
  EXPECT_NE(disorder_of(header + "2,steps,p90,0.2\n2,steps,p90,0.3\n"), "");
  EXPECT_NE(disorder_of(header + "2,steps,p90,0.2\n2,steps,median,0.3\n3,steps,p90,0.2\n"), "");
  EXPECT_NE(disorder_of(header + "two,steps,p90,0.2\n"), "");
}

/// A repository of its own in which one table changes.
class RecordedHistory : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs git";
    std::filesystem::create_directories(folder_.path() / "validate/data");
    ASSERT_EQ(git("init -q"), 0);
    write(kFirst);
    commit();
  }
  void write(const std::string& rows) {
    std::ofstream(folder_.path() / "validate/data/recorded.csv", std::ios::binary)
        << "# figures\nmodel_version,suite,figure,value\n"
        << rows;
  }
  void commit() {
    ASSERT_EQ(git("add -A"), 0);
    ASSERT_EQ(git("-c user.name=t -c user.email=t@t commit -q -m t"), 0);
  }
  [[nodiscard]] bool passes() const {
    return std::system(fmt::format("'{}/.ci/recorded_history' '{}' >/dev/null", BUSBAR_SOURCE_DIR,
                                   folder_.path().string())
                           .c_str()) == 0;
  }
  static constexpr const char* kFirst = "2,steps,median,0.069\n2,steps,p90,0.240\n";

 private:
  [[nodiscard]] int git(const std::string& arguments) const {
    return std::system(fmt::format("git -C '{}' {}", folder_.path().string(), arguments).c_str());
  }
  TemporaryFolder folder_;
};

TEST_F(RecordedHistory, TakesLinesAddedAtTheEnd) {
  EXPECT_TRUE(passes());
  write(std::string(kFirst) + "3,steps,median,0.070\n");
  EXPECT_TRUE(passes());
  commit();
  EXPECT_TRUE(passes());
}

TEST_F(RecordedHistory, FindsALineThatWasEditedInPlace) {
  write("2,steps,median,0.073\n2,steps,p90,0.240\n");
  EXPECT_FALSE(passes());  // in the working tree
  commit();
  EXPECT_FALSE(passes());  // and once it is committed,
  write("2,steps,median,0.073\n2,steps,p90,0.240\n3,steps,median,0.073\n");
  commit();
  EXPECT_FALSE(passes());  // for good
}

TEST_F(RecordedHistory, FindsALineThatWasTakenOutOrLengthened) {
  write("2,steps,median,0.069\n");
  EXPECT_FALSE(passes());
  write("2,steps,median,0.069\n2,steps,p90,0.2401\n");
  EXPECT_FALSE(passes());
  write("2,steps,median,0.069\n1,steps,p90,0.3\n2,steps,p90,0.240\n");
  EXPECT_FALSE(passes());
}

}  // namespace
}  // namespace busbar
