// Measured steps beside predicted ones, given as plain records.
#include "validate/compare_step.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(CompareStep, ClassesMeetByOperationGroupAndNearlyTheSize) {
  MeasuredStep m{.source = "t", .format = "PyTorch trace", .steps = 1, .time = Time::from_seconds(1)};
  m.waiting_separated = true;
  m.collectives = {call(CollectiveKind::kAllGather, (1 << 24) + 4096, 1e-3),
                   call(CollectiveKind::kAllGather, 1 << 20, 1e-4)};
  for (MeasuredCollective& c : m.collectives) c.group = "mesh_fsdp";
  const Validation v = compare_step(m, predicted_step());
  const ValidationRow* const gather = row_of(v, "all_gather 16.8 MB, dp");
  ASSERT_NE(gather, nullptr);
  EXPECT_NEAR(gather->error(), 1, 1e-9);
  EXPECT_TRUE(lists(v, "all_gather 1 MiB, dp (1 a step)", "not in the prediction"));
  EXPECT_TRUE(lists(v, "all_reduce 1 MiB, tp", "not in the measurement"));
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
