// busbar.study/1: what it says, what it refuses, and what its figures are.
#include "sim/study/study.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/study/cost.h"
#include "sim/study/database.h"
#include "sim/study/study_quantities.h"
#include "sim/study/study_summary.h"
#include "sim/study/sweep.h"
#include "tests/support/errors.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

JsonDocument study_with(const std::string& more = "") {
  return JsonDocument::parse(R"({"schema": "busbar.study/1", "name": "small",
    "model": {"layers": 4, "hidden": 512, "ffn_hidden": 2048, "heads": 8, "kv_heads": 8, "head_dim": 64, "vocab": 32000},
    "batch": {"sequence": 512, "global": 32}, "tokens": "1e9 tokens",
    "clusters": [{"name": "A", "topology": {"hosts": {"type": "dgx-h100"}, "fabric": {"family": "rail-optimized"}},
                  "gpus": "8:32:2", "price": "2 USD/GPU-hour", "power": "10 kW/host"}],
    "search": {"simulate": 4, "sharding": ["none", "distributed"], "least_context_tokens": 512)" +
                                 more + "}}",
                             "study");
}

// The closing brace of "search" stands after `more`, which may add to it.
JsonDocument study_and(const std::string& keys) {
  return study_with("}, " + keys + R"(, "constraints": {"memory": "90%")");
}

Study run(const JsonDocument& document, std::size_t threads = 2) {
  const Profile profile = default_profile();
  const StudySpec spec = read_study(document);
  const std::vector<Cell> cells = cells_of(document, spec, profile, "default");
  return run_study(spec, cells, threads, tasks_on_threads(cells, threads), {});
}

TEST(StudyFile, TheExampleOfInitIsReadAndHasEverySection) {
  const JsonDocument document = JsonDocument::parse(example_study(), "example");
  const StudySpec spec = read_study(document);
  EXPECT_EQ(spec.clusters.front().gpus, (std::vector<std::int64_t>{32, 64, 128}));
  EXPECT_EQ(spec.currency, "USD");
  EXPECT_EQ(*spec.tokens, 1e12);
  EXPECT_TRUE(spec.failures.given());
  EXPECT_NEAR(spec.constraints.usable_memory, 0.95, 1e-12);
}

TEST(StudyFile, CountsAreRangesOrLists) {
  EXPECT_EQ(read_counts("64:4096:2", "x"), (std::vector<std::int64_t>{64, 128, 256, 512, 1024, 2048, 4096}));
  EXPECT_EQ(read_counts("512,256", "x"), (std::vector<std::int64_t>{256, 512}));
  EXPECT_EQ(read_counts("8", "x"), (std::vector<std::int64_t>{8}));
  for (const char* wrong : {"", "8:4:2", "8:16:1", "8:16", "a", "8,", "0"})
    EXPECT_THROW(static_cast<void>(read_counts(wrong, "x")), Error) << wrong;
}

TEST(StudyFile, RefusesWhatItDoesNotKnowAndSaysWhere) {
  const std::pair<std::string, std::string> wrong[] = {
      {R"("tokns": "1e9 tokens")", "tokns"},
      {R"("failures": {"mtbf": "5 h"})", "50000 h/GPU"},
      {R"("failures": {"mtbf": "5 h/GPU"})", "storage"},
      {R"("failures": {"storage": "1 GB/s", "mode": "asynchronous"})", "staging"},
      {R"("failures": {"storage": "1 GB/s", "checkpoint": "0 B"})", "above 0 B"},
      {R"("scaling": "wek")", "weak"},
      {R"("workload": {"parallel": {"dp": 2}})", "parallel"},
      {R"("workload": {"framework": "megatron"})", "framework"},
  };
  for (const auto& [keys, part] : wrong) {
    try {
      static_cast<void>(read_study(study_and(keys)));
      ADD_FAILURE() << keys << " was read";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
}

// Nothing that cannot be checked is taken for kept.
TEST(StudyFile, RefusesConstraintsThatItCannotHold) {
  std::string study = study_with().dump();
  const std::string key = "\"tokens\"";
  study.replace(study.find(key), key.size(), "\"scaling\"");
  study.replace(study.find("1e9 tokens"), 10, "strong");
  for (const auto& [constraint, value] :
       {std::pair{"deadline", "\"30 d\""}, std::pair{"budget", "\"5 USD\""}}) {
    const JsonDocument document =
        JsonDocument::parse(study, "study").with(fmt::format("constraints.{}", constraint), value);
    EXPECT_NE(error_of([&] { static_cast<void>(read_study(document)); }).find("needs \"tokens\""),
              std::string::npos)
        << constraint;
  }
}

// What a hand or a generator may get wrong; each is refused at its place, none is taken for something else.
TEST(StudyFile, RefusesHostileNumbersAndEmptyLists) {
  const std::pair<std::string, std::string> wrong[] = {
      {"clusters.0.gpus=-8", "#/clusters/0/gpus"},
      {"clusters.0.gpus=0", "#/clusters/0/gpus"},
      {"clusters.0.gpus=[]", "#/clusters/0/gpus"},
      {"clusters.0.gpus=8:16:1", "#/clusters/0/gpus"},
      {"clusters.0.gpus=99999999999", "#/clusters/0/gpus"},
      {"clusters=[]", "#/clusters"},
      {"clusters=7", "#/clusters"},
      {"clusters.0.topology.hosts=[]", "#/clusters/0/topology/hosts"},
      {"clusters.0.topology.hosts.type=7", "#/clusters/0/topology/hosts/type"},
      {"clusters.0.price=2.5", "#/clusters/0/price"},
      {"clusters.0.price=-1 USD/GPU-hour", "#/clusters/0/price"},
      {"clusters.0.price=1e308 USD/GPU-hour", "#/clusters/0/price"},
      {"clusters.0.price=nan USD/GPU-hour", "#/clusters/0/price"},
      {"clusters.0.power=0 kW/host", "#/clusters/0/power"},
      {"clusters.0.power=1e300 kW/host", "#/clusters/0/power"},
      {"tokens=1e308 tokens", "#/tokens"},
      {"tokens=0 tokens", "#/tokens"},
      {"batch.global=0", "#/batch/global"},
      {"batch.global=9223372036854775807", "#/batch/global"},
      {"batch.sequence=-1", "#/batch/sequence"},
      {"batch={}", "sequence"},
      {"constraints.deadline=1e-300 s", "#/constraints/deadline"},
      {"constraints.memory=0%", "#/constraints/memory"},
      {"constraints.budget=5", "#/constraints/budget"},
      {R"(failures={"storage": "1 GB/s", "mtbf": "1e300 y/GPU"})", "#/failures/mtbf"},
      {R"(failures={"storage": "1 GB/s", "interval": "0 s"})", "#/failures/interval"},
      {R"(failures={"storage": "1 GB/s", "spares": -1})", "#/failures/spares"},
      {"search.tp=[]", "#/search/tp"},
      {"search.tp=[0]", "#/search/tp/0"},
      {"search.sharding=[\"all\"]", "#/search/sharding/0"},
      {"search.simulate=0", "#/search/simulate"},
      {R"(sweep={"fabric.oversubscription": []})", "#/sweep/fabric.oversubscription"},
      {"sweep=[]", "#/sweep"},
      {"scaling=3", "#/scaling"},
      {"schema=busbar.workload/1", "#/schema"},
  };
  for (const auto& [change, place] : wrong) {
    const std::size_t equals = change.find('=');
    const JsonDocument study = study_with().with(change.substr(0, equals), change.substr(equals + 1));
    try {
      static_cast<void>(read_study(study));
      ADD_FAILURE() << change << " was read";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kInput);
      EXPECT_NE(std::string(e.what()).find(place), std::string::npos) << change << ": " << e.what();
    }
  }
}

TEST(StudyFile, NothingCostsNothing) {
  const Study study = run(study_with().with("clusters.0.price", "0 USD/GPU-hour"));
  ASSERT_TRUE(study.best);
  EXPECT_EQ(study.clusters[*study.best].figures.front().cost, 0);
}

// 10^10 intervals: what is drawn are failures.
TEST(Goodput, OfVeryManyIntervalsIsDalys) {
  const FigureInputs inputs{.size = {.gpus = 8, .hosts = 1},
                            .failures = {.gpu_mtbf_s = 1e12, .storage_Bps = 1e9, .interval_s = 1e-3},
                            .parameters = 1e9};
  const GoodputRecord record = goodput_of(inputs, 1, 1e7);
  EXPECT_NEAR(record.simulated, record.expected, 1e-3 * record.expected);
}

TEST(StudyQuantities, CarryTheirUnitAndCurrency) {
  EXPECT_EQ(parse_money("2.5 USD/GPU-hour", "/GPU-hour", "x").amount, 2.5);
  EXPECT_EQ(parse_money("5e6USD", "", "x").amount, 5e6);
  EXPECT_EQ(parse_money("5e6 EUR", "", "x").currency, "EUR");
  for (const char* wrong : {"2.5", "2.5 USD", "2.5 usd/GPU-hour", "-1 USD/GPU-hour", "USD/GPU-hour"})
    EXPECT_THROW(static_cast<void>(parse_money(wrong, "/GPU-hour", "x")), Error) << wrong;
  EXPECT_EQ(parse_duration("30d", "x"), 30 * 86400);
  EXPECT_EQ(parse_duration("4 y", "x"), 4 * 365 * 86400.0);
  for (const char* wrong : {"30", "0 s", "1 month", ""})
    EXPECT_THROW(static_cast<void>(parse_duration(wrong, "x")), Error) << wrong;
  EXPECT_EQ(parse_tokens("2e12 tokens", "x"), 2e12);
  EXPECT_THROW(static_cast<void>(parse_tokens("2e12", "x")), Error);
}

TEST(PlanFigures, FollowFromTheStep) {
  const Study study = run(study_with());
  ASSERT_EQ(study.clusters.size(), 3U);
  for (const ClusterRecord& c : study.clusters) {
    ASSERT_TRUE(c.has_layout());
    const PlanFigures& f = c.figures.front();
    const double tokens = 512.0 * 32;  // a step
    EXPECT_DOUBLE_EQ(f.tokens_per_s, tokens / f.step_s);
    EXPECT_DOUBLE_EQ(*f.train_s, 1e9 / f.tokens_per_s);
    EXPECT_DOUBLE_EQ(*f.gpu_hours, *f.train_s * static_cast<double>(c.gpus) / 3600);
    EXPECT_DOUBLE_EQ(*f.cost, 2 * *f.gpu_hours);
    EXPECT_NEAR(*f.cost_per_1e12_tokens, *f.cost * 1000, 1e-9 * *f.cost * 1000);
    EXPECT_DOUBLE_EQ(*f.energy_j, 10'000.0 * static_cast<double>(c.hosts) * *f.train_s);
    EXPECT_DOUBLE_EQ(f.headroom_bytes + f.memory_bytes, 80e9);
  }
}

TEST(PlanFigures, BoughtClustersCostTheirShareOfALifeAndTheirEnergy) {
  const Prices prices{.currency = "USD",
                      .host = 300'000,
                      .port = 1000,
                      .electricity_kwh = 0.1,
                      .host_watts = 10'000,
                      .lifetime_s = 4 * 365 * 86400.0,
                      .power_usage = 1.25};
  const ClusterSize size{.gpus = 16, .hosts = 2, .ports = 50};
  const double year = 365 * 86400.0;
  // 650,000 of capital over four years; 25 kW for 8,760 hours at 0.1.
  EXPECT_NEAR(*cost_of(prices, size, year), 650'000 / 4.0 + 25 * 8760 * 0.1, 1e-6);
  EXPECT_FALSE(cost_of({}, size, year).has_value());
}

TEST(Sweeps, AreGridsOverEveryClustersTopologyAndTheWorkload) {
  const JsonDocument study = study_with();
  const auto points = sweep_points(
      study, {parse_sweep("fabric.oversubscription=1,2,4"), parse_sweep("ddp.bucket_cap=1 MiB,25 MiB")});
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[1].name, "fabric.oversubscription=1, ddp.bucket_cap=25 MiB");
  const JsonValue root = points[5].study.root();
  EXPECT_EQ(root.at("clusters").items()[0].at("topology").at("fabric").at("oversubscription").number(0, 9),
            4);
  EXPECT_EQ(root.at("workload").at("ddp").at("bucket_cap").string(), "25 MiB");
  EXPECT_EQ(sweep_points(study, {parse_sweep("search.tp=[1,2],[4]")}).size(), 2U);
  for (const char* wrong : {"x", "=1", "x=", "x=1,,2"})
    EXPECT_THROW(static_cast<void>(parse_sweep(wrong)), Error) << wrong;
}

// Small buckets pay a latency for every gradient, one bucket hides nothing: the best lies between.
TEST(Sweeps, FindTheBestBucketOfDdp) {
  const Study study = run(JsonDocument::parse(R"({"schema": "busbar.study/1",
    "model": {"layers": 16, "hidden": 2048, "ffn_hidden": 8192, "heads": 16, "kv_heads": 16, "head_dim": 128, "vocab": 32000},
    "batch": {"sequence": 1024, "global": 64},
    "clusters": [{"topology": {"hosts": {"type": "dgx-h100", "nic": "100 Gb/s"}, "fabric": {"family": "rail-optimized"}}, "gpus": 32}],
    "search": {"simulate": 1, "sharding": ["none"], "tp": [1], "pp": [1], "cp": [1], "micro": [2], "recompute": ["none"]},
    "sweep": {"ddp.bucket_cap": ["1 MiB", "400 MiB", "8 GiB"]}})",
                                              "study"));
  ASSERT_EQ(study.clusters.size(), 3U);
  const auto step = [&](std::size_t i) { return study.clusters[i].figures.front().step_s; };
  EXPECT_LT(step(1), step(0));
  EXPECT_LT(step(1), step(2));
}

// Their batch is another job's.
TEST(Study, RecommendsNoPointOfWeakScalingWhereTheJobItselfRuns) {
  const Study study = run(study_and(R"("scaling": "both")"));
  ASSERT_TRUE(study.best && study.runner_up);
  EXPECT_EQ(study.clusters[*study.best].scaling, "strong");
  EXPECT_EQ(study.clusters[*study.runner_up].scaling, "strong");
}

TEST(ScalingCurves, OfWeakScalingGrowTheBatch) {
  const Study study = run(study_and(R"("scaling": "weak")"));
  ASSERT_EQ(study.clusters.size(), 3U);
  for (const ClusterRecord& c : study.clusters) EXPECT_EQ(c.global_batch, 32 * c.gpus / 8);
}

TEST(Goal, IsMetByTheSmallestClusterThatKeepsIt) {
  const Study all = run(study_with());
  const auto time = [&](std::size_t i) { return *all.clusters[i].figures.front().train_s; };
  ASSERT_LT(time(1), time(0));
  const double between = (time(0) + time(1)) / 2;
  const Study goal = run(study_with(fmt::format(R"(}}, "constraints": {{"deadline": "{:.6f} s")", between)));
  ASSERT_TRUE(goal.best);
  EXPECT_EQ(goal.clusters[*goal.best].gpus, 16);
  EXPECT_NE(goal.clusters[0].why_not, "");
  const Study none = run(study_with(R"(}, "constraints": {"deadline": "1 s")"));
  EXPECT_FALSE(none.best);
}

TEST(ResultsFile, KeepsEveryBitAndServesAnotherStudy) {
  const TemporaryFolder folder;
  const Profile profile = default_profile();
  const JsonDocument document = study_with();
  const StudySpec spec = read_study(document);
  const std::vector<Cell> cells = cells_of(document, spec, profile, "default");
  std::int64_t reused = 0, simulated = 0;
  const EvaluateTasks counted = [&](std::span<const StudyTask> tasks, const TaskDone& done) {
    simulated += std::ssize(tasks);
    tasks_on_threads(cells, 2)(tasks, done);
  };
  const auto run_kept = [&] {
    ResultsFile file(folder.file("results.sqlite"));
    return run_study(spec, cells, 2, tasks_kept_in(file, cells, counted, reused), {});
  };
  const Study first = run_kept();
  const std::int64_t computed = simulated;
  EXPECT_EQ(reused, 0);
  const Study second = run_kept();
  EXPECT_EQ(simulated, computed);  // nothing again
  EXPECT_EQ(reused, computed);
  for (std::size_t c = 0; c < first.clusters.size(); ++c)
    for (std::size_t l = 0; l < first.clusters[c].search.ranked.size(); ++l)
      for (const auto number : kStepNumbers)
        EXPECT_EQ(first.clusters[c].search.ranked[l].figures.*number,
                  second.clusters[c].search.ranked[l].figures.*number);
}

TEST(ResultsFile, ComputesAgainWhatAChangeTouches) {
  const Profile profile = default_profile();
  const auto cell_of = [&](const JsonDocument& study) {
    return std::move(cells_of(study, read_study(study), profile, "default").front());
  };
  const JsonDocument study = study_with();
  const Candidate candidate{.dp = 8};
  const std::string key = key_of(cell_of(study), candidate);
  EXPECT_EQ(key_of(cell_of(study_with()), candidate), key);
  EXPECT_EQ(key_of(cell_of(with_key(study, "clusters.0.price", "3 USD/GPU-hour")), candidate),
            key);  // no step depends on it
  EXPECT_NE(key_of(cell_of(with_key(study, "fabric.oversubscription", "2")), candidate), key);
  EXPECT_NE(key_of(cell_of(with_key(study, "precision.reduce", "fp32")), candidate), key);
  EXPECT_NE(key_of(cell_of(with_key(study, "batch.global", "64")), candidate), key);
  EXPECT_NE(key_of(cell_of(study), {.dp = 8, .micro = 2}), key);
}

}  // namespace
}  // namespace busbar
