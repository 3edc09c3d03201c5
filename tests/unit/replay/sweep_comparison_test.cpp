// Errors of a sweep against measurements, worked out by hand.
#include "sim/replay/sweep_comparison.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

TEST(ErrorSummary, TakesMediansMeanAndWorst) {
  const std::vector<SizedError> errors = {{1_KiB, 0.1}, {2_KiB, -0.3}, {4_KiB, 0.2}, {8_KiB, -0.4}};
  const ErrorSummary s = summary_of(errors);
  EXPECT_EQ(s.rows, 4U);
  EXPECT_EQ(s.small, 0U);
  EXPECT_NEAR(s.median_abs, 0.25, 1e-15);  // of .1 .2 .3 .4
  EXPECT_NEAR(s.mean_abs, 0.25, 1e-15);
  EXPECT_NEAR(s.bias, -0.1, 1e-15);  // of -.4 -.3 .1 .2
  EXPECT_EQ(s.worst, -0.4);
  EXPECT_EQ(s.worst_size, 8_KiB);
}

TEST(ErrorSummary, LeavesOutSizesBelowOneKibibyte) {
  const std::vector<SizedError> errors = {{8_B, -0.9}, {1023_B, 0.9}, {1_KiB, -0.05}};
  const ErrorSummary s = summary_of(errors);
  EXPECT_EQ(s.rows, 3U);
  EXPECT_EQ(s.small, 2U);
  EXPECT_EQ(s.median_abs, 0.05);
  EXPECT_EQ(s.bias, -0.05);
  EXPECT_EQ(s.worst_size, 1_KiB);
  EXPECT_EQ(summary_of({}).rows, 0U);
  EXPECT_EQ(summary_of(std::vector<SizedError>{{8_B, 0.5}}).median_abs, 0);
}

TEST(ErrorSummary, NamesTheFirstOfEqualWorsts) {
  const ErrorSummary s = summary_of(std::vector<SizedError>{{1_KiB, 0.0}, {2_KiB, -0.2}, {4_KiB, 0.2}});
  EXPECT_EQ(s.worst, -0.2);
  EXPECT_EQ(s.worst_size, 2_KiB);
}

MeasuredRow row(std::int64_t bytes, double us) {
  return {.size = Bytes(bytes), .ranks = 4, .time = Time::from_microseconds(us)};
}

// 4 ranks at 100 GB/s without latency: an all_gather of S takes 3/4 S / 100 GB/s, 7.5 us per MB.
Sweep gathers(std::vector<Bytes> sizes) {
  return sweep(star(4, "100 GB/s"),
               {.operation = CollectiveKind::kAllGather, .ranks = {}, .sizes = std::move(sizes)},
               ideal_profile(), {});
}

TEST(Comparison, PutsMeasuredTimesBesideTheirSizes) {
  Sweep s = gathers({1_MB, 2_MB, 4_MB});
  compare_with(s, {.source = "log:3",
                   .operation = CollectiveKind::kAllGather,
                   .ranks = 4,
                   .rows = {row(1000000, 10), row(4000000, 20)}});
  EXPECT_NEAR(s.rows[0].measured.value().error, 7.5 / 10 - 1, 1e-6);
  EXPECT_FALSE(s.rows[1].measured);
  EXPECT_NEAR(s.rows[2].measured.value().error, 30.0 / 20 - 1, 1e-6);
  ASSERT_TRUE(s.comparison);
  EXPECT_EQ(s.comparison->source, "log:3");
  EXPECT_EQ(s.comparison->summary.rows, 2U);
  EXPECT_EQ(s.comparison->summary.choices, 0U);
  EXPECT_EQ(s.rows[0].measured->choice, "");
}

// Repeated sizes count once, by their median; sizes are rounded as the sweep rounds them.
TEST(Comparison, TakesTheMedianOfRepeatsAndRoundsSizes) {
  Sweep s = gathers({Bytes(1000010)});
  ASSERT_EQ(s.rows[0].size, Bytes(1000000));  // 4 x 16 B
  compare_with(s, {.source = "log",
                   .operation = CollectiveKind::kAllGather,
                   .rows = {row(1000000, 30), row(1000010, 10), row(1000010, 15)}});
  EXPECT_EQ(s.rows[0].measured.value().time, Time::from_microseconds(15));
  EXPECT_EQ(s.comparison->summary.rows, 1U);
}

TEST(Comparison, KeepsTeachingSizesApart) {
  Sweep s = gathers({16_B, 32_B});
  ASSERT_EQ(s.rows.size(), 2U);
  compare_with(s, {.source = "log", .rows = {row(16, 1), row(32, 2)}});
  EXPECT_EQ(s.rows[0].measured.value().time, Time::from_microseconds(1));
  EXPECT_EQ(s.rows[1].measured.value().time, Time::from_microseconds(2));
}

TEST(Comparison, ChecksTheChoiceWhereTheSourceNamesIt) {
  Sweep s = sweep(star(4, "100 GB/s"),
                  {.operation = CollectiveKind::kAllReduce, .ranks = {}, .sizes = {1_MB, 2_MB, 4_MB}},
                  default_profile(),
                  {.overrides = {.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 2}});
  MeasuredTable table{.source = "log", .rows = {row(1000000, 30), row(2000000, 50), row(4000000, 90)}};
  table.rows[0].algorithm = "RING";
  table.rows[0].protocol = "SIMPLE";
  table.rows[0].channels = 2;
  table.rows[1].algorithm = "NVLS_TREE";
  compare_with(s, table);
  EXPECT_EQ(s.rows[0].measured.value().choice, "ring/Simple/2");
  EXPECT_TRUE(s.rows[0].measured->agrees);
  EXPECT_EQ(s.rows[1].measured.value().choice, "nvls-tree");
  EXPECT_FALSE(s.rows[1].measured->agrees);
  EXPECT_EQ(s.comparison->summary.choices, 2U);
  EXPECT_EQ(s.comparison->summary.agreeing, 1U);
}

TEST(Comparison, SaysWhatWasMeasuredOtherwise) {
  Sweep s = gathers({1_MB});
  s.inputs.settings = {{"nccl-version", "2.30.0"}, {"gpus-per-process", "1"}};
  compare_with(s, {.source = "log",
                   .hosts = 2,
                   .nccl_version = "2.20.5",
                   .gpus_per_process = 4,
                   .rows = {row(1000000, 10)},
                   .notes = {"a note of the reader"}});
  ASSERT_EQ(s.notes.size(), 4U);
  EXPECT_EQ(s.notes[0], "measured with NCCL 2.20.5, predicted for 2.30.0");
  EXPECT_EQ(s.notes[1], "measured with 4 GPUs per process, predicted for 1");
  EXPECT_EQ(s.notes[2], "measured on 2 hosts, predicted for 1");
  EXPECT_EQ(s.notes[3], "measured: a note of the reader");
}

TEST(Comparison, NeedsASizeInCommon) {
  Sweep s = gathers({1_MB});
  const std::string error = error_of([&] { compare_with(s, {.source = "log:3", .rows = {row(64, 10)}}); });
  EXPECT_NE(error.find("log:3: the sweep and the measurements have no size in common"), std::string::npos);
}

}  // namespace
}  // namespace busbar
