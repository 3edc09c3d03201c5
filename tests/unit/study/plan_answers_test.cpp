// What a plan says where nothing fits, what stands by, what is alike, and what may not be written.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "sim/study/cost.h"
#include "sim/study/database.h"
#include "sim/study/study.h"
#include "sim/study/study_summary.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/study/study_jobs.h"

namespace busbar {
namespace {

JsonDocument study_of(const std::string& batch, const std::string& more) {
  return JsonDocument::parse(
      fmt::format(R"({{"schema": "busbar.study/1", "name": "small", "model": {}, "batch": {},
    "tokens": "1e9 tokens",
    "clusters": [{{"name": "A", "topology": {{"hosts": {{"type": "dgx-h100"}}, "fabric": {{"family": "rail-optimized"}}}},
                  "gpus": 16, "price": "2 USD/GPU-hour", "power": "10 kW/host"}}]{}}})",
                  kSmallModel, batch, more),
      "study");
}

Study answer_to(const JsonDocument& document) {
  const Profile profile = default_profile();
  const StudySpec spec = read_study(document);
  const std::vector<Cell> cells = cells_of(document, spec, profile, "default");
  return run_study(spec, cells, 2, tasks_on_threads(cells, 2), {});
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
}

// 16 GPUs without tp, cp and pp are 16 replicas, which a batch of 8 samples cannot feed.
TEST(WhyNot, NamesTheRuleThatNothingDividesBy) {
  const Study study = answer_to(
      study_of(R"({"sequence": 512, "global": 8})", R"(, "search": {"tp": [1], "cp": [1], "pp": [1]})"));
  EXPECT_FALSE(study.best);
  expect_parts(study.clusters.front().why_not,
               {"no layout divides", "micro x dp does not divide the global batch", "change batch.global"});
}

TEST(WhyNot, SaysHowMuchTheSmallestLayoutNeeds) {
  const JsonDocument document = study_of(R"({"sequence": 1024, "global": 16})",
                                         R"(, "constraints": {"memory": "0.1%"}, "search": {"simulate": 1})");
  const Study study = answer_to(document);
  EXPECT_FALSE(study.best);
  const SearchRecord& search = study.clusters.front().search;
  EXPECT_NEAR(search.usable_bytes, 80e6, 1);
  EXPECT_GT(search.least_bytes, search.usable_bytes);
  expect_parts(study.clusters.front().why_not,
               {"no layout fits", fmt::format("{:.1f} GB", search.least_bytes / 1e9), "constraints.memory"});
}

TEST(WhyNot, EveryReasonOfTheSearchHasAdvice) {
  for (const char* why : {reason::kCut, reason::kBatch, reason::kChunks, reason::kSchedule, reason::kMicro,
                          reason::kContext, reason::kMemory})
    EXPECT_NE(advice_for(why), "") << why;
  EXPECT_EQ(advice_for("cannot run: x"), "");
}

// Two hosts train, one stands by: half as much again of everything that hosts cost.
TEST(SpareHosts, CostWhatTheOthersCost) {
  const StepFigures step{.step_s = 1, .tokens = 1e6};
  FigureInputs inputs{
      .size = {.gpus = 16, .hosts = 2, .ports = 40},
      .prices = {.currency = "USD", .gpu_hour = 2, .port = 100, .electricity_kwh = 0.1, .host_watts = 10'000},
      .failures = {.spares = 0},
      .tokens = 1e9};
  const PlanFigures alone = plan_figures(step, inputs, std::nullopt);
  inputs.failures.spares = 1;
  const PlanFigures with = plan_figures(step, inputs, std::nullopt);
  EXPECT_EQ(*with.train_s, *alone.train_s);
  EXPECT_EQ(*with.gpu_hours, *alone.gpu_hours);  // those that train
  EXPECT_NEAR(*with.spare_gpu_hours, *alone.gpu_hours / 2, 1e-9);
  EXPECT_NEAR(*with.cost, 1.5 * *alone.cost, 1e-9);
  EXPECT_NEAR(*with.spare_cost, 0.5 * *alone.cost, 1e-9);
  EXPECT_NEAR(*with.energy_j, 1.5 * *alone.energy_j, 1e-3);
  EXPECT_NEAR(*with.spare_energy_j, 0.5 * *alone.energy_j, 1e-3);
  EXPECT_NEAR(*with.cost_per_1e12_tokens, 1.5 * *alone.cost_per_1e12_tokens, 1e-6);
  EXPECT_FALSE(alone.spare_gpu_hours);
}

// A second point that differs by less than one run does from the next is no other choice.
TEST(ParetoFront, HasAlikePointsOnceAndCountsThem) {
  const auto figures = [](double tokens_per_s, double memory) {
    return PlanFigures{
        .tokens_per_s = tokens_per_s, .memory_bytes = memory, .cost_per_1e12_tokens = 1 / tokens_per_s};
  };
  ClusterRecord cluster{.gpus = 8};
  cluster.figures = {figures(100, 50e9), figures(100, 50e9), figures(99.99, 49.99e9), figures(90, 20e9),
                     figures(80, 30e9)};
  cluster.search.ranked.resize(cluster.figures.size());
  const std::vector<FrontPoint> front = pareto_front({cluster});
  ASSERT_EQ(front.size(), 2U);
  EXPECT_EQ(front[0].layout, 0U);
  EXPECT_EQ(front[0].alike, 2);
  EXPECT_EQ(front[1].layout, 3U);
  EXPECT_EQ(front[1].alike, 0);
}

// With an allowance of n, n layouts are simulated though some before them are ruled out by their bounds.
TEST(Search, AnAllowanceIsSpentOnLayoutsThatTheirBoundsDoNotRuleOut) {
  const Profile profile = default_profile();
  const Topology topology = hosts_of("dgx-h100", 1);
  const SearchProblem problem =
      problem_of(topology, profile, job_of(kSmallModel, R"({"sequence": 1024, "global": 16})"));
  for (const std::size_t allowance : {std::size_t{5}, std::size_t{40}}) {
    Search search(problem, {.simulate = allowance, .batch = 1, .threads = 1});
    search.screen();
    std::size_t asked = 0;
    for (auto some = search.next(); !some.empty(); some = search.next()) {
      asked += some.size();
      search.take(std::vector<StepFigures>(some.size(), {.step_s = 1e-9}));  // rules all others out
    }
    // One for its speed; the others are those on the front of memory and the other order of ranks.
    EXPECT_LT(asked, 16U);
    const SearchRecord all =
        run_search(problem, {.simulate = allowance, .threads = 1}, on_threads(problem, 2));
    EXPECT_TRUE(all.simulated >= static_cast<std::int64_t>(allowance) || all.open == 0) << all.simulated;
  }
}

// 16 and 48 GPUs are listed, and the goal lies at 24 or 32.
TEST(Goal, IsLookedForBetweenTheListedSizes) {
  const std::string batch = R"({"sequence": 512, "global": 96})",
                    search = R"(, "search": {"simulate": 3, "cp": [1]})";
  const auto with = [&](const std::string& gpus, const std::string& more) {
    return study_of(batch, search + more).with("clusters.0.gpus", gpus);
  };
  const Study all = answer_to(with("[16, 24, 32, 48]", ""));
  const auto time = [&](std::size_t i) { return *all.clusters[i].figures.front().train_s; };
  for (std::size_t i = 1; i < all.clusters.size(); ++i) ASSERT_LT(time(i), time(i - 1)) << i;
  for (const std::size_t wanted : {std::size_t{1}, std::size_t{2}}) {
    const double deadline = (time(wanted) + time(wanted - 1)) / 2;
    const Study goal =
        answer_to(with("[16, 48]", fmt::format(R"(, "constraints": {{"deadline": "{:.9f} s"}})", deadline)));
    ASSERT_TRUE(goal.best);
    const ClusterRecord& best = goal.clusters[*goal.best];
    EXPECT_EQ(best.gpus, all.clusters[wanted].gpus);
    EXPECT_TRUE(best.between);
    // The next smaller size was tried and misses it.
    EXPECT_NE(goal.clusters[*goal.best - 1].why_not, "");
    for (const ScalingCurve& curve : goal.curves) EXPECT_EQ(curve.points.size(), 2U);
  }
}

TEST(SearchSpace, TellsSizesThatDivideEvenly) {
  // 8 blocks, 8 heads, 512 tokens and a batch of 96: 24 = 3 x 8 replicas, 40 has a factor 5.
  const Workload job = job_of(kSmallModel, R"({"sequence": 512, "global": 96})");
  for (const std::int64_t gpus : {8, 24, 48, 96}) EXPECT_TRUE(divides_evenly(job, {}, gpus)) << gpus;
  for (const std::int64_t gpus : {40, 72, 56}) EXPECT_FALSE(divides_evenly(job, {}, gpus)) << gpus;
}

/// Root may write everything: somebody else for a while.
class AsNobody {
 public:
  AsNobody() : was_(::geteuid()) {
    if (was_ == 0) is_ = ::seteuid(65534) == 0;
  }
  ~AsNobody() {
    if (is_) static_cast<void>(!::seteuid(was_));
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  uid_t was_;
  bool is_ = false;
};

TEST(ResultsFile, ThatMayNotBeWrittenServesWhatItHas) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string path = folder.file("r#1 %.sqlite");
  ResultsFile(path).add("k", "tp 1", {.step_s = 3});
  EXPECT_FALSE(may_only_be_read(path));
  EXPECT_FALSE(may_only_be_read(folder.file("none.sqlite")));
  const fs::perms read = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  const fs::perms search = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(path, read);
  fs::permissions(folder.path(), read | search);
  {
    const AsNobody nobody;
    EXPECT_TRUE(may_only_be_read(path));
    ResultsFile file(path);
    EXPECT_TRUE(file.is_read_only());
    const auto kept = file.find("k");
    EXPECT_TRUE(kept && kept->step_s == 3);
    file.add("new", "tp 2", {.step_s = 4});
    EXPECT_FALSE(file.find("new"));
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace busbar
