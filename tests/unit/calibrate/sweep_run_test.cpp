#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/run/sweep.h"
#include "tests/support/errors.h"
#include "tests/support/fake_runner.h"

namespace busbar {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

RunSettings settings_of(std::vector<CollectiveKind> operations, std::vector<std::int64_t> sizes) {
  RunSettings s;
  s.operations = std::move(operations);
  s.groups = {{RunGroup::Kind::kAll, 0}};
  for (const std::int64_t size : sizes) s.sizes.emplace_back(size);
  s.algorithms = {"own"};
  return s;
}

TEST(SweepPlan, GroupsAreTwoFourAndEightOfAHostOnePerHostAndAllWithoutRepeats) {
  const FakeRunner two_hosts(2, 4);
  EXPECT_EQ(groups_of(two_hosts.machine(), {}),
            (Groups{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 4}, {0, 1}, {0, 1, 2, 3}}));
  const FakeRunner one_host(1, 2);
  EXPECT_EQ(groups_of(one_host.machine(), {}), (Groups{{0, 1}}));
  const FakeRunner three_alone(3, 1);
  EXPECT_EQ(groups_of(three_alone.machine(), {}), (Groups{{0, 1, 2}, {0, 1}}));
  const FakeRunner single(1, 1);
  EXPECT_EQ(groups_of(single.machine(), {}), (Groups{{0}}));
}

TEST(SweepPlan, HostByHostAndNeighboursServeTheCheckOfHealth) {
  const FakeRunner runner(3, 2);
  EXPECT_EQ(groups_of(runner.machine(), {{RunGroup::Kind::kEachHost, 0}}), (Groups{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(groups_of(runner.machine(), {{RunGroup::Kind::kNeighbours, 0}}), (Groups{{0, 2}, {2, 4}}));
}

TEST(SweepPlan, ShapesAreReadAndUnknownOnesRefused) {
  EXPECT_EQ(parse_run_group("host:4", "--groups").limit, 4);
  EXPECT_EQ(parse_run_group("hosts", "--groups").kind, RunGroup::Kind::kOnePerHost);
  EXPECT_EQ(error_of([] { (void)parse_run_group("host:0", "--groups"); }),
            "--groups: expected all, hosts, hosts:K, host:K, each-host or neighbours, got 'host:0'");
}

TEST(SweepPlan, EveryPrefixOfTheOrderCoversTheRange) {
  EXPECT_EQ(coarse_to_fine(5), (std::vector<std::size_t>{0, 4, 2, 1, 3}));
  EXPECT_EQ(coarse_to_fine(1), (std::vector<std::size_t>{0}));
  EXPECT_TRUE(coarse_to_fine(0).empty());
  for (std::size_t n = 2; n < 40; ++n) {
    const std::vector<std::size_t> order = coarse_to_fine(n);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), n) << n;
  }
}

TEST(SweepPlan, CoarseSizesOfEveryOperationComeBeforeTheSizesBetween) {
  FakeRunner runner(1, 4);
  const RunSettings s =
      settings_of({CollectiveKind::kAllReduce, CollectiveKind::kAllGather}, {1024, 4096, 16384});
  const std::vector<SweepPoint> points = plan_sweep(s, runner);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[0].key(), "all_reduce 1024 0,1,2,3 -/- out");
  EXPECT_EQ(points[1].key(), "all_gather 1024 0,1,2,3 -/- out");
  EXPECT_EQ(points[2].size, Bytes(16384));
  EXPECT_EQ(points[4].size, Bytes(4096));
}

TEST(SweepPlan, ForcesWhatTheLibraryCanForceAndRoundsAsNcclTestsDoes) {
  FakeRunner runner(1, 3);
  RunSettings s = settings_of({CollectiveKind::kAllReduce, CollectiveKind::kAllGather}, {100});
  s.algorithms = {};
  const std::vector<SweepPoint> points = plan_sweep(s, runner);
  // all_reduce: own, ring/Simple, ring/LL, tree/LL; all_gather: own, 100 B rounded to 2 x 48.
  ASSERT_EQ(points.size(), 5U);
  EXPECT_EQ(points[1].key(), "all_reduce 100 0,1,2 ring/Simple out");
  EXPECT_EQ(points[4].size, Bytes(96));
  s.protocols = {"LL"};
  EXPECT_EQ(plan_sweep(s, runner).size(), 2U);
}

TEST(SweepPlan, NamesWhatIsNotOffered) {
  FakeRunner runner(1, 2);
  RunSettings s = settings_of({CollectiveKind::kGather}, {64});
  EXPECT_EQ(error_of([&] { (void)plan_sweep(s, runner); }), "--collective: Fake 1.0 has no gather");
  s = settings_of({CollectiveKind::kAllReduce}, {64});
  s.algorithms = {"rnig"};
  EXPECT_EQ(error_of([&] { (void)plan_sweep(s, runner); }),
            "--algorithm: expected own, ring or tree, got 'rnig'; did you mean 'ring'?");
}

TEST(Sweep, DiscardsTheFirstUseAndSizesBatches) {
  FakeRunner runner(1, 2);
  RunSettings s = settings_of({CollectiveKind::kAllReduce}, {1000000});
  const SweepPoint point = plan_sweep(s, runner).front();
  const PointTimes times = measure_point(point, s, runner);
  const double once = 10e-6 + 1e-3;  // latency + bytes / rate
  EXPECT_DOUBLE_EQ(times.back_to_back.median_s, once);
  EXPECT_DOUBLE_EQ(times.isolated->median_s, once);
  // 10 ms of batch at 1.01 ms each: 10 operations; 2 calls before, 7 batches, isolated ones.
  ASSERT_EQ(runner.calls.size(), 10U);
  EXPECT_EQ(runner.calls[2].count, 10);
  EXPECT_EQ(runner.calls.back().pace, Pace::kIsolated);
}

TEST(Sweep, TakesTheMedianOfTheSlowestRank) {
  FakeRunner runner(1, 4);
  runner.noise = 0.05;
  runner.slow_rank = 2;
  RunSettings s = settings_of({CollectiveKind::kAllReduce}, {1000000});
  const PointTimes times = measure_point(plan_sweep(s, runner).front(), s, runner);
  EXPECT_NEAR(times.back_to_back.median_s, 2 * runner.expected(Bytes(1000000)),
              0.05 * 2 * runner.expected(Bytes(1000000)));
  EXPECT_LE(times.back_to_back.p10_s, times.back_to_back.median_s);
  EXPECT_LE(times.back_to_back.median_s, times.back_to_back.p90_s);
}

TEST(Sweep, LongBatchesAreRepeatedLess) {
  FakeRunner runner(1, 2);
  runner.bytes_per_s = 1e6;  // a second per operation
  RunSettings s = settings_of({CollectiveKind::kAllReduce}, {1000000});
  static_cast<void>(measure_point(plan_sweep(s, runner).front(), s, runner));
  EXPECT_EQ(runner.calls.size(), 2U + 3U + 1U);
}

TEST(Sweep, AHungRankIsNamedAndWhatWasMeasuredIsKept) {
  FakeRunner runner(1, 4);
  runner.hung_rank = 3;
  RunSettings s = settings_of({CollectiveKind::kAllReduce}, {64});
  s.groups = {{RunGroup::Kind::kOfAHost, 2}, {RunGroup::Kind::kAll, 0}};
  std::size_t saved = 0;
  SweepHooks hooks;
  hooks.save = [&](const PointTimes&) { ++saved; };
  try {
    static_cast<void>(run_sweep(s, runner, hooks));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kSystem);
    EXPECT_STREQ(e.what(), "rank 3: does not answer");
  }
  EXPECT_EQ(saved, 1U);
}

TEST(Sweep, StopsByTheClockWithTheEndsOfEveryOperationCovered) {
  FakeRunner runner(1, 2);
  runner.first_use_s = 0;
  RunSettings s = settings_of({CollectiveKind::kAllReduce, CollectiveKind::kAllGather}, {});
  for (std::int64_t size = 1024; size <= (std::int64_t{1} << 26); size *= 2) s.sizes.emplace_back(size);
  s.budget_s = 3;
  std::map<CollectiveKind, std::set<std::int64_t>> covered;
  SweepHooks hooks;
  hooks.clock = [&] { return runner.clock_s; };
  hooks.save = [&](const PointTimes& t) { covered[t.point.operation].insert(t.point.size.count()); };
  std::vector<SweepProgress> reports;
  hooks.report = [&](const SweepProgress& p) { reports.push_back(p); };
  const SweepEnd end = run_sweep(s, runner, hooks);
  EXPECT_GT(end.left, 0U);
  EXPECT_GT(end.measured, 4U);
  for (const CollectiveKind kind : s.operations) {
    EXPECT_TRUE(covered[kind].contains(1024));
    EXPECT_TRUE(covered[kind].contains(std::int64_t{1} << 26));
  }
  // It may overrun by no more than its dearest point.
  EXPECT_LT(runner.clock_s, 3 + 16 * runner.expected(Bytes(std::int64_t{1} << 26)));
  for (const SweepProgress& p : reports) EXPECT_LE(p.elapsed_s + p.left_s, 3 + 1e-9);
}

TEST(Sweep, LeavesOutWhatIsDone) {
  FakeRunner runner(1, 2);
  RunSettings s = settings_of({CollectiveKind::kAllReduce}, {64, 128, 256});
  SweepHooks hooks;
  hooks.done = {"all_reduce 256 0,1 -/- out", "all_reduce 64 0,1 -/- out"};
  const SweepEnd end = run_sweep(s, runner, hooks);
  EXPECT_EQ(end.measured, 1U);
  EXPECT_EQ(end.skipped, 2U);
  for (const Call& call : runner.calls) EXPECT_EQ(call.size, Bytes(128));
}

}  // namespace
}  // namespace busbar
