#include "calibrate/run/journal.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "calibrate/import/measured_json.h"
#include "calibrate/run/measured_io.h"
#include "tests/support/errors.h"
#include "tests/support/fake_runner.h"
#include "tests/support/temporary_folder.h"

namespace busbar {
namespace {

class JournalTest : public testing::Test {
 protected:
  [[nodiscard]] static PointTimes point(std::int64_t size) {
    return {.point = {CollectiveKind::kAllReduce, Bytes(size), {0, 1}, {"ring", "LL"}, false},
            .back_to_back = {1e-3, 0.9e-3, 1.2e-3},
            .isolated = TimeSpread{2e-3, 1.5e-3, 2.5e-3}};
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("run.journal");
  FakeRunner runner_{1, 2};
  RunSettings settings_;
  RunIdentity identity_ = identity_of(runner_.machine(), settings_);
};

TEST_F(JournalTest, GivesBackWhatWasAdded) {
  {
    Journal journal = Journal::create(path_, identity_);
    journal.add(point(64));
    journal.add(std::vector<MeasuredKernel>{{.kind = MeasuredKernelKind::kCopy,
                                             .rank = 1,
                                             .bytes = Bytes(8),
                                             .time = Time::from_microseconds(3)}});
    journal.add(point(128));
  }
  JournalContents contents;
  static_cast<void>(Journal::resume(path_, identity_, contents));
  ASSERT_EQ(contents.points.size(), 2U);
  EXPECT_EQ(contents.points[1].point, point(128).point);
  EXPECT_EQ(contents.points[0].back_to_back.p90_s, 1.2e-3);
  EXPECT_EQ(contents.points[0].isolated->median_s, 2e-3);
  ASSERT_TRUE(contents.kernels.has_value());
  EXPECT_EQ(contents.kernels->at(0).bytes, Bytes(8));
}

TEST_F(JournalTest, ALineCutShortIsDroppedAndTheFileGoesOnAfterTheLastWholeOne) {
  {
    Journal journal = Journal::create(path_, identity_);
    journal.add(point(64));
  }
  std::ofstream(path_, std::ios::app) << R"({"operation": "all_red)";
  JournalContents contents;
  {
    Journal journal = Journal::resume(path_, identity_, contents);
    EXPECT_EQ(contents.points.size(), 1U);
    journal.add(point(256));
  }
  JournalContents again;
  static_cast<void>(Journal::resume(path_, identity_, again));
  EXPECT_EQ(again.points.size(), 2U);
}

TEST_F(JournalTest, AnEarlierRunIsNotOverwritten) {
  static_cast<void>(Journal::create(path_, identity_));
  EXPECT_EQ(
      error_of([&] { (void)Journal::create(path_, identity_); }),
      path_ +
          ": an earlier run left its measurements here; go on with --resume, or remove the file to measure "
          "anew");
}

TEST_F(JournalTest, RefusesAnotherMachineAndOtherSettingsNamingWhatDiffers) {
  static_cast<void>(Journal::create(path_, identity_));
  JournalContents contents;
  const FakeRunner larger(2, 1);
  EXPECT_EQ(
      error_of([&] { (void)Journal::resume(path_, identity_of(larger.machine(), settings_), contents); }),
      path_ +
          ": cannot go on from this journal: its rank 1 is 'fake device 1 of h0', now it is 'fake device 0 "
          "of h1'; measure anew with another -o, or remove the journal");
  RunSettings more = settings_;
  more.repetitions = 9;
  EXPECT_EQ(error_of([&] { (void)Journal::resume(path_, identity_of(runner_.machine(), more), contents); }),
            path_ +
                ": cannot go on from this journal: its repetitions is '7', now it is '9'; measure anew with "
                "another -o, or remove the journal");
}

TEST_F(JournalTest, SaysWhenThereIsNone) {
  JournalContents contents;
  EXPECT_EQ(error_of([&] { (void)Journal::resume(path_, identity_, contents); }),
            path_ + ": no journal to go on from; leave --resume out");
}

TEST_F(JournalTest, WhatARunWritesIsReadBack) {
  JournalContents contents{.points = {point(128), point(64)},
                           .kernels = std::vector<MeasuredKernel>{
                               {.kind = MeasuredKernelKind::kLaunch, .time = Time::from_microseconds(4)}}};
  PointTimes in_place = point(64);
  in_place.point.in_place = true;
  in_place.back_to_back.median_s = 0.5e-3;
  contents.points.push_back(in_place);
  const std::string text = measured_json(runner_.machine(), contents, {"one GPU: no links"});
  const Measurement m = read_measured_json(JsonDocument::parse(text, "m.json"));
  ASSERT_EQ(m.tables.size(), 2U);  // back to back and isolated
  EXPECT_FALSE(m.tables[0].isolated);
  EXPECT_TRUE(m.tables[1].isolated);
  EXPECT_EQ(m.tables[0].hosts, 1);
  EXPECT_EQ(m.tables[0].members, (std::vector<std::uint32_t>{0, 1}));
  ASSERT_EQ(m.tables[0].rows.size(), 2U);
  EXPECT_EQ(m.tables[0].rows[0].size, Bytes(64));
  EXPECT_EQ(m.tables[0].rows[0].time, Time::from_seconds(1e-3));
  EXPECT_EQ(m.tables[0].rows[0].time_in_place, Time::from_seconds(0.5e-3));
  EXPECT_EQ(m.tables[0].rows[0].p10, Time::from_seconds(0.9e-3));
  EXPECT_EQ(m.tables[1].rows[0].p90, Time::from_seconds(2.5e-3));
  EXPECT_EQ(m.tables[0].rows[0].algorithm, "ring");
  ASSERT_EQ(m.kernels.size(), 1U);
}

}  // namespace
}  // namespace busbar
