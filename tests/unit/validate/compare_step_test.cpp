// Measured steps beside predicted ones, given as plain records.
#include "validate/compare_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/errors.h"
#include "validate/compare_collectives.h"

namespace busbar {
namespace {

CollectiveRecord record(const std::string& operation, const std::string& group, std::uint32_t ranks,
                        std::int64_t bytes, double seconds, std::int64_t count = 1) {
  CollectiveRecord c{.operation = operation, .group = group, .ranks = ranks, .bytes = Bytes(bytes)};
  c.time = Time::from_seconds(seconds);
  c.count = count;
  return c;
}

MeasuredCollective call(CollectiveKind operation, std::optional<std::int64_t> bytes, double seconds) {
  MeasuredCollective c{.operation = operation};
  if (bytes) c.bytes = Bytes(*bytes);
  c.count = 1;
  c.time = Time::from_seconds(seconds);
  return c;
}

PredictedStep predicted_step() {
  PredictedStep p;
  p.result.ranks = 16;
  p.result.step_time = Time::from_seconds(1);
  p.result.collectives = {record("all_reduce", "tp", 8, 1 << 20, 1e-4),
                          record("all_gather", "dp", 2, 1 << 24, 2e-3),
                          record("send_recv", "pp", 2, 1 << 22, 1e-3)};
  return p;
}

const ValidationRow* row_of(const Validation& v, const std::string& what) {
  const auto found =
      std::find_if(v.rows.begin(), v.rows.end(), [&](const ValidationRow& r) { return r.what == what; });
  return found == v.rows.end() ? nullptr : &*found;
}

bool lists(const Validation& v, const std::string& what, const std::string& why) {
  return std::any_of(v.comparison->missing.begin(), v.comparison->missing.end(), [&](const MissingFigure& m) {
    return m.what.find(what) != std::string::npos && m.why.find(why) != std::string::npos;
  });
}

TEST(CompareStep, GroupsAreKnownByTheirNamesElseByWhatIsLeft) {
  RunResult p = predicted_step().result;
  EXPECT_EQ(group_kind_of("TENSOR_MODEL_PARALLEL_GROUP", 8, p), "tp");
  EXPECT_EQ(group_kind_of("mesh_tp", 8, p), "tp");
  EXPECT_EQ(group_kind_of("PIPELINE_MODEL_PARALLEL_GROUP", 2, p), "pp");
  EXPECT_EQ(group_kind_of("mesh_dp_shard_cp", 2, p), "dp");
  EXPECT_EQ(group_kind_of("EXPERT_DATA_PARALLEL_GROUP", 2, p), "dp");
  EXPECT_EQ(group_kind_of("default_pg", 8, p), "tp");  // the only kind of 8 ranks
  EXPECT_EQ(group_kind_of("default_pg", 2, p), "");    // dp or pp
  p.collectives.resize(1);
  EXPECT_EQ(group_kind_of("", 0, p), "tp");  // the only kind
}

// sqrt((ln 2)^2 + 0) / sqrt(2) of one class twice as slow as measured and one as measured.
TEST(CompareStep, ClassesTellHowFarTheyAreOffTogether) {
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.waiting_separated = true;
  m.collectives = {call(CollectiveKind::kAllGather, 1 << 24, 1e-3),
                   call(CollectiveKind::kAllReduce, 1 << 20, 1e-4)};
  m.collectives[0].group = "mesh_fsdp";
  m.collectives[1].group = "mesh_tp";
  EXPECT_NEAR(classes_error(m, predicted_step()).value(), std::log(2) / std::sqrt(2), 1e-9);
  m.waiting_separated = false;  // then times hold waiting, which says nothing of links
  EXPECT_FALSE(classes_error(m, predicted_step()));
  m.waiting_separated = true;
  m.collectives.clear();
  EXPECT_FALSE(classes_error(m, predicted_step()));
}

TEST(CompareStep, ClassesMeetByOperationGroupAndNearlyTheSize) {
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.waiting_separated = true;
  m.collectives = {call(CollectiveKind::kAllGather, (1 << 24) + 4096, 1e-3),
                   call(CollectiveKind::kAllGather, 1 << 20, 1e-4)};
  for (MeasuredCollective& c : m.collectives) c.group = "mesh_fsdp";
  const Validation v = compare_step(m, predicted_step());
  const ValidationRow* const gather = row_of(v, "all_gather 16 MiB, dp");
  ASSERT_NE(gather, nullptr);
  EXPECT_NEAR(gather->error(), 1, 1e-9);
  EXPECT_TRUE(lists(v, "all_gather 1 MiB, dp (1 a step)", "not in the prediction"));
  EXPECT_TRUE(lists(v, "all_reduce 1 MiB, tp", "not in the measurement"));
}

// Sizes that padding sets apart meet the nearest; records of one size, as of messages within a host and
// between two, are one class; what was measured as 0 has no error.
TEST(CompareStep, ClassesOfOneSizeStandTogetherAndTheNearestSizesMeet) {
  PredictedStep p = predicted_step();
  p.result.collectives = {
      record("send_recv", "pp", 2, 1 << 22, 1e-3), record("send_recv", "pp", 2, 1 << 22, 2e-3),
      record("all_reduce", "dp", 8, 10'000'000, 5e-3), record("all_reduce", "dp", 8, 10'020'000, 7e-3),
      record("all_reduce", "tp", 8, 1000, 1e-6)};
  p.result.collectives[1].groups = 3;
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.waiting_separated = true;
  m.collectives = {
      call(CollectiveKind::kSendRecv, 1 << 22, 1.75e-3), call(CollectiveKind::kAllReduce, 10'001'000, 5e-3),
      call(CollectiveKind::kAllReduce, 10'019'000, 7e-3), call(CollectiveKind::kAllReduce, 1000, 0)};
  for (MeasuredCollective& c : m.collectives) c.group = "mesh_dp";
  m.collectives[0].group = "mesh_pp";
  m.collectives[3].group = "mesh_tp";
  const Validation v = compare_step(m, p);
  ASSERT_EQ(v.rows.size(), 4U);  // the step, and three classes
  for (const ValidationRow& row : v.rows) EXPECT_NEAR(row.error(), 0, 1e-9) << row.what;
  EXPECT_NE(row_of(v, "all_reduce 10000000 B, dp"), nullptr);  // both read 10 MB
  EXPECT_TRUE(lists(v, "all_reduce 1 kB, tp", "measured as 0"));
}

// Rank 1 ends 0.1 s early.
TEST(CompareStep, PartsAreMeansOverTheRanksThatWereMeasured) {
  PredictedStep p = predicted_step();
  p.result.split.compute = Time::from_seconds(1);
  const auto split = [](double step, double compute, double bubble) {
    TimeSplit s;
    s.step = Time::from_seconds(step);
    s.compute = Time::from_seconds(compute);
    s.bubble = Time::from_seconds(bubble);
    return s;
  };
  p.result.rank_splits = {{0, split(1, 0.8, 0.2)}, {1, split(0.9, 0.6, 0.3)}, {2, split(1, 1, 0)}};
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.waiting_separated = true;
  m.split = MeasuredSplit{.compute = Time::from_seconds(0.7),
                          .bubble = Time::from_seconds(0.25),
                          .idle = Time::from_seconds(0.05)};
  m.ranks = {{.rank = 0}, {.rank = 1}};
  const Validation v = compare_step(m, p);
  for (const char* part : {"compute", "bubble", "idle"}) {
    ASSERT_NE(row_of(v, part), nullptr) << part;
    EXPECT_NEAR(row_of(v, part)->error(), 0, 1e-9) << part;
  }
  m.ranks.push_back({.rank = 7});  // not known: the rank that ends last
  EXPECT_NEAR(row_of(compare_step(m, p), "compute")->predicted, 1, 1e-12);
}

TEST(CompareStep, CallsWithoutASizeTakeItFromThePredictedCallsByPosition) {
  PredictedStep p = predicted_step();
  p.result.collectives = {record("all_reduce", "dp", 2, 1000, 1e-3),
                          record("all_reduce", "dp", 2, 4000, 4e-3)};
  p.calls = {{CollectiveKind::kAllReduce, Bytes(1000)}, {CollectiveKind::kAllReduce, Bytes(4000)}};
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.waiting_separated = true;
  m.collectives = {call(CollectiveKind::kAllReduce, std::nullopt, 5e-3),
                   call(CollectiveKind::kAllReduce, std::nullopt, 1e-3)};
  m.collectives[0].position = 1;
  m.collectives[1].position = 0;
  const Validation v = compare_step(m, p);
  ASSERT_NE(row_of(v, "all_reduce 1 kB, dp"), nullptr);
  EXPECT_NEAR(row_of(v, "all_reduce 1 kB, dp")->error(), 0, 1e-9);
  EXPECT_NEAR(row_of(v, "all_reduce 4 kB, dp")->error(), -0.2, 1e-9);
  p.calls.pop_back();  // then positions say nothing
  EXPECT_TRUE(lists(compare_step(m, p), "all_reduce", "does not say its size"));
}

TEST(CompareStep, PartsBelowAPercentOfTheStepHaveNoError) {
  PredictedStep p = predicted_step();
  p.result.split.compute = Time::from_seconds(0.9);
  p.result.split.idle = Time::from_seconds(0.1);
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.split = MeasuredSplit{.compute = Time::from_seconds(0.991), .idle = Time::from_seconds(0.009)};
  const Validation v = compare_step(m, p);
  EXPECT_NE(row_of(v, "compute"), nullptr);
  EXPECT_EQ(row_of(v, "idle"), nullptr);
  EXPECT_TRUE(lists(v, "idle", "below 1 %"));
}

TEST(CompareStep, ARateWithoutTokensIsAnError) {
  MeasuredStep m{.source = "titan.log", .format = "torchtitan log", .steps = 1, .tokens_per_s_per_gpu = 1000};
  EXPECT_EQ(error_of([&] { static_cast<void>(compare_step(m, predicted_step())); }),
            "titan.log: gives tokens/s, and the workload has no tokens to turn them into a step time");
}

}  // namespace
}  // namespace busbar
