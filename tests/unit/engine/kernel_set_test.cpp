#include "sim/engine/kernel_set.h"

#include <gtest/gtest.h>

namespace busbar {
namespace {

Time ending(KernelSet& set, Time now) {
  const auto endings = set.settle(now);
  return endings.empty() ? Time::max() : endings.back().at;
}

TEST(KernelSet, TakesTheLongerSideOfTheRooflineAlone) {
  KernelSet set({{100, 1000}});
  set.start(0, {.sm_s = 0.002, .memory_s = 0.003}, Time::zero());
  EXPECT_EQ(ending(set, Time::zero()), Time::from_seconds(0.003));
}

// Communication holds 20 of 100 SMs: 2 ms of SM time take 2 / 0.8 = 2.5 ms.
TEST(KernelSet, AdvancesOverTheSmsThatCommunicationLeaves) {
  KernelSet set({{100, 1000}});
  set.change_communication(0, 20, 0);
  set.start(0, {.sm_s = 0.002, .memory_s = 0}, Time::zero());
  EXPECT_EQ(ending(set, Time::zero()), Time::from_seconds(0.0025));
}

// A kernel of 2 ms on the SMs that needs 1 ms of HBM: with 60 % of HBM taken it needs 2.5 ms of the rest.
TEST(KernelSet, TurnsMemoryBoundWhenCommunicationTakesTheHbm) {
  KernelSet set({{100, 1000}});
  set.change_communication(0, 0, 600);
  set.start(0, {.sm_s = 0.002, .memory_s = 0.001}, Time::zero());
  EXPECT_EQ(ending(set, Time::zero()), Time::from_seconds(0.0025));
}

// Half done after 1 ms; then half of the SMs go: the other 1 ms takes 2.
TEST(KernelSet, ChangesPaceWhenCommunicationStartsMidway) {
  KernelSet set({{100, 1000}});
  set.start(0, {.sm_s = 0.002, .memory_s = 0}, Time::zero());
  static_cast<void>(set.settle(Time::zero()));
  set.change_communication(0, 50, 0);
  EXPECT_EQ(ending(set, Time::from_seconds(0.001)), Time::from_seconds(0.003));
}

// Two kernels that each fill the SMs take twice as long together; the one on another GPU does not notice.
TEST(KernelSet, SlowsKernelsOfOneGpuByOneFactor) {
  KernelSet set({{100, 1000}, {100, 1000}});
  set.start(0, {.sm_s = 0.002, .memory_s = 0}, Time::zero());
  set.start(0, {.sm_s = 0.004, .memory_s = 0}, Time::zero());
  set.start(1, {.sm_s = 0.004, .memory_s = 0}, Time::zero());
  const auto endings = set.settle(Time::zero());
  ASSERT_EQ(endings.size(), 3U);
  EXPECT_EQ(endings[0].at, Time::from_seconds(0.004));
  EXPECT_EQ(endings[1].at, Time::from_seconds(0.008));
  EXPECT_EQ(endings[2].at, Time::from_seconds(0.004));
}

// An SM-bound and an HBM-bound kernel whose demands fit together do not slow each other.
TEST(KernelSet, LetsKernelsWithDifferentNeedsOverlap) {
  KernelSet set({{100, 1000}});
  set.start(0, {.sm_s = 0.002, .memory_s = 0.0002}, Time::zero());
  set.start(0, {.sm_s = 0, .memory_s = 0.002}, Time::zero());
  const auto endings = set.settle(Time::zero());
  // HBM demand: 0.1 + 1 = 1.1 of 1, so both are slowed by 1.1.
  EXPECT_EQ(endings[0].at, Time::from_seconds(0.0022));
  EXPECT_EQ(endings[1].at, Time::from_seconds(0.0022));
}

TEST(KernelSet, EndsAnEmptyKernelAtOnce) {
  KernelSet set({{100, 1000}});
  set.start(0, {}, Time::from_seconds(1));
  EXPECT_EQ(ending(set, Time::from_seconds(1)), Time::from_seconds(1));
}

}  // namespace
}  // namespace busbar
