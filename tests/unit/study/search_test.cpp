// The search against exhaustive simulation of small cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/base/error.h"
#include "sim/study/search_screen.h"
#include "sim/study/sensitivity.h"
#include "sim/study/short_steps.h"
#include "tests/support/sanitized.h"
#include "tests/unit/study/study_jobs.h"

namespace busbar {
namespace {

struct Case {
  const char* name;
  std::string model, batch, more, type, fabric;
  int hosts;
};

std::vector<Case> cases() {
  const std::string rails = R"("family": "rail-optimized")";
  return {
      {"dense", kSmallModel, R"({"sequence": 1024, "global": 16})", "", "dgx-h100", rails, 1},
      {"two hosts", kSmallModel, R"({"sequence": 1024, "global": 16})", "", "dgx-h100", rails, 2},
      {"Megatron", kSmallModel, R"({"sequence": 2048, "global": 16})",
       R"(, "framework": "megatron-core", "overlap": {"tp": true})", "dgx-a100", rails, 2},
      {"experts", kSmallExperts, R"({"sequence": 512, "global": 16})", "", "dgx-h100", rails, 1},
      {"launches", kSmallModel, R"({"sequence": 512, "global": 16})",
       R"(, "framework": "nanotron", "launch": {"member": "20 us", "message": "200 us"})", "dgx-h100", rails,
       1},
      {"slow network", kSmallModel, R"({"sequence": 1024, "global": 32})", "", "hgx-h100-4",
       R"("family": "leaf-spine", "hosts_per_leaf": 1, "oversubscription": 4, "nic": "100 Gb/s")", 4},
  };
}

/// Every n-th candidate, so that all dimensions are met in seconds.
std::vector<Candidate> some_of(const std::vector<Candidate>& all, std::size_t most) {
  if (kSanitized) most /= 10;
  std::vector<Candidate> some;
  const std::size_t step = std::max<std::size_t>(1, all.size() / most);
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

TEST(SearchBounds, NoSimulatedStepIsShorterThanItsBound) {
  const Profile profile = default_profile();
  for (const Case& c : cases()) {
    const Topology topology = hosts_of(c.type, c.hosts, c.fabric);
    const SearchProblem problem = problem_of(topology, profile, job_of(c.model, c.batch, c.more));
    Screener screener(problem.base, topology, profile);
    const auto gpus = static_cast<std::int64_t>(topology.ranks().size());
    const Enumeration found =
        enumerate(problem.base, whole_space(), gpus, problem.base.parallel.host_ranks.value_or(1));
    EXPECT_GT(found.candidates.size(), 100U) << c.name;
    for (const Candidate& candidate : some_of(found.candidates, 250)) {
      const StepFigures step = simulate_candidate(problem, candidate);
      ASSERT_EQ(step.failure, "") << c.name << ": " << text_of(candidate);
      EXPECT_LE(screener.screen(candidate).least_s, step.step_s) << c.name << ": " << text_of(candidate);
    }
  }
}

// The slow twin: every microbatch.
TEST(SearchRounds, StepsOfManyMicrobatchesAreWhatTheWholeStepIs) {
  constexpr double kClose = 1e-4;  // of the step; rounds are taken for equal from 1e-6 on
  const Profile profile = default_profile();
  for (const Case& c : cases()) {
    const Topology topology = hosts_of(c.type, c.hosts, c.fabric);
    SearchProblem problem = problem_of(topology, profile, job_of(c.model, c.batch, c.more));
    problem.base.batch.global = 256 + 32;  // a rest beyond whole rounds
    const auto gpus = static_cast<std::int64_t>(topology.ranks().size());
    const Enumeration found =
        enumerate(problem.base, whole_space(), gpus, problem.base.parallel.host_ranks.value_or(1));
    for (const Candidate& candidate : some_of(found.candidates, 60)) {
      if (problem.base.batch.global / (candidate.micro * candidate.dp) < 32) continue;
      const StepFigures some = simulate_candidate(problem, candidate);
      const StepFigures whole = whole_step(topology, profile, workload_of(problem.base, candidate));
      for (const auto number : kStepNumbers)
        EXPECT_NEAR(some.*number, whole.*number, kClose * std::max(whole.step_s, whole.*number))
            << c.name << ": " << text_of(candidate);
    }
  }
}

TEST(SearchRounds, SensitivitiesAreThoseOfTheWholeStep) {
  constexpr double kClose = 1e-3;  // of an elasticity: its step of 1 % multiplies the rounds' differences
  const Profile profile = default_profile();
  const Topology topology = hosts_of("dgx-h100", 2);
  SearchProblem problem =
      problem_of(topology, profile, job_of(kSmallModel, R"({"sequence": 1024, "global": 264})"));
  const Candidate candidate{.tp = 4, .dp = 1, .pp = 4, .micro = 1};
  const Workload workload = workload_of(problem.base, candidate);
  const auto steps = short_steps(topology, profile, workload);
  ASSERT_TRUE(steps);
  EXPECT_LT(steps->last.batch.global, 264 / 2);
  const StepTrace whole = expand(workload), before = expand(steps->before), last = expand(steps->last);
  const auto expected = sensitivity(
      {.topology = &topology, .trace = &whole, .profile = &profile, .options = {}, .workload = &workload});
  const auto given =
      sensitivity({.topology = &topology,
                   .trace = &last,
                   .profile = &profile,
                   .options = {},
                   .workload = &steps->last,
                   .repeated = {.shorter = &before, .rounds = steps->rounds, .global_batch = 264}});
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto like = std::find_if(expected.begin(), expected.end(),
                                   [&](const auto& e) { return e.parameter == given[i].parameter; });
    ASSERT_NE(like, expected.end());
    EXPECT_NEAR(given[i].elasticity, like->elasticity, kClose) << given[i].parameter;
    EXPECT_EQ(given[i].value, like->value);
  }
}

TEST(SearchBounds, TheBestOfAllLayoutsIsFoundAndProven) {
  const Profile profile = default_profile();
  const Topology topology = hosts_of("dgx-h100", 1);
  SearchProblem problem =
      problem_of(topology, profile, job_of(kSmallModel, R"({"sequence": 1024, "global": 16})"));
  problem.space.recompute = {Recompute::kNone};
  problem.space.least_context_tokens = 256;
  const Enumeration found = enumerate(problem.base, problem.space, 8, 8);
  double best = HUGE_VAL;
  std::string layout;
  for (const Candidate& candidate : found.candidates) {
    const StepFigures step = simulate_candidate(problem, candidate);
    if (step.step_s >= best) continue;
    best = step.step_s;
    layout = text_of(candidate);
  }
  const SearchOptions options{.simulate = found.candidates.size()};
  const SearchRecord record = run_search(problem, options, on_threads(problem, 2));
  ASSERT_FALSE(record.ranked.empty());
  EXPECT_EQ(record.ranked.front().figures.step_s, best) << "exhaustively: " << layout;
  EXPECT_LT(record.simulated, static_cast<std::int64_t>(found.candidates.size()));  // bounds left some out
  EXPECT_EQ(record.enumerated, record.excluded + record.simulated);
}

TEST(Search, DoesNotDependOnTheNumberOfThreads) {
  const Profile profile = default_profile();
  const Topology topology = hosts_of("dgx-h100", 1);
  const SearchProblem problem =
      problem_of(topology, profile, job_of(kSmallModel, R"({"sequence": 1024, "global": 16})"));
  const auto run = [&](std::size_t threads) {
    return run_search(problem, {.simulate = 20, .threads = threads}, on_threads(problem, threads));
  };
  const SearchRecord one = run(1), three = run(3);
  ASSERT_EQ(one.ranked.size(), three.ranked.size());
  for (std::size_t i = 0; i < one.ranked.size(); ++i) {
    EXPECT_EQ(one.ranked[i].layout, three.ranked[i].layout);
    EXPECT_EQ(one.ranked[i].figures.step_s, three.ranked[i].figures.step_s);
    EXPECT_EQ(one.ranked[i].expected_s, three.ranked[i].expected_s);
  }
  EXPECT_EQ(one.open, three.open);
}

TEST(SearchMemory, IsWhatTheExpandedStepSays) {
  for (const std::string& model : {kSmallModel, kSmallExperts})
    for (const char* framework : {"megatron-core", "nanotron", "torchtitan"}) {
      const Workload base = job_of(model, R"({"sequence": 512, "global": 32})",
                                   fmt::format(R"(, "framework": "{}")", framework));
      LayerSizes sizes(base);
      const Enumeration found = enumerate(base, whole_space(), 16, 8);
      for (const Candidate& candidate : some_of(found.candidates, 150)) {
        const Workload w = workload_of(base, candidate);
        Bytes most;
        for (const Program& program : expand(w).programs) most = std::max(most, program.memory->total());
        EXPECT_EQ(fullest_stage(w, candidate, sizes).total(), most)
            << framework << ": " << text_of(candidate);
      }
    }
}

TEST(SearchSpace, HasEveryDivisionOfTheGpusOnceAndNoOther) {
  const Workload base = job_of(kSmallModel, R"({"sequence": 1024, "global": 16})");
  const Enumeration found = enumerate(base, whole_space(), 16, 8);
  std::set<Candidate> seen;
  for (const Candidate& c : found.candidates) {
    EXPECT_EQ(c.gpus(), 16);
    EXPECT_TRUE(seen.insert(c).second) << text_of(c);
    EXPECT_NO_THROW(check_layout(workload_of(base, c))) << text_of(c);
  }
  // Heads 8 and 8 blocks: tp up to 8, pp up to 8; each with the rest as dp.
  const auto has = [&](std::int64_t tp, std::int64_t pp) {
    return std::any_of(seen.begin(), seen.end(), [&](const Candidate& c) {
      return c.tp == tp && c.pp == pp && c.cp == 1 && c.dp == 16 / tp / pp;
    });
  };
  for (const std::int64_t tp : {1, 2, 4, 8})
    for (const std::int64_t pp : {1, 2, 4, 8}) EXPECT_EQ(has(tp, pp), tp * pp <= 16) << tp << " " << pp;
}

// What workloads refuse is what the enumeration leaves out: all combinations of a small space, one by one.
TEST(SearchSpace, LeavesOutWhatWorkloadsRefuse) {
  const Workload base = job_of(kSmallModel, R"({"sequence": 1024, "global": 12})");
  SearchSpace space;
  space.sharding = {Sharding::kNone};
  space.recompute = {Recompute::kNone};
  space.stages_outside = {true};
  space.schedules = {PipelineSchedule::k1f1b};
  std::set<Candidate> expected;
  for (const std::int64_t tp : divisors_of(24))
    for (const std::int64_t cp : divisors_of(24 / tp))
      for (const std::int64_t pp : divisors_of(24 / tp / cp))
        for (const std::int64_t micro : divisors_of(12)) {
          const Candidate c{.tp = tp, .cp = cp, .dp = 24 / tp / cp / pp, .pp = pp, .micro = micro};
          if (cp > 1 && 1024 / cp < space.least_context_tokens) continue;
          try {
            check_layout(workload_of(base, c));
            expected.insert(c);
          } catch (const Error&) {
          }
        }
  const Enumeration found = enumerate(base, space, 24, 8);
  EXPECT_EQ(std::set<Candidate>(found.candidates.begin(), found.candidates.end()), expected);
  EXPECT_FALSE(expected.empty());
}

TEST(Candidate, IsTheSameAfterItsNumbers) {
  const Candidate c{.tp = 2,
                    .cp = 3,
                    .dp = 4,
                    .pp = 5,
                    .ep = 6,
                    .virtual_stages = 7,
                    .micro = 8,
                    .sharding = Sharding::kHsdp,
                    .shard_size = 9,
                    .schedule = PipelineSchedule::kInterleaved,
                    .recompute = Recompute::kFull,
                    .stages_outside = false};
  EXPECT_EQ(candidate_of(numbers_of(c)), c);
}

}  // namespace
}  // namespace busbar
