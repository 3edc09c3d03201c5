#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/support/seeded.h"

namespace busbar {
namespace {

TEST(EventQueue, GivesEventsInOrderOfTimeAndThenOfPushing) {
  Seeded random(7);
  std::vector<std::tuple<std::int64_t, std::uint32_t>> expected;
  EventQueue queue;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const auto at = random.integer(0, 399);  // many ties
    expected.emplace_back(at, i);
    queue.push(Time::picoseconds(at), {0, i, 0});
  }
  std::sort(expected.begin(), expected.end());  // the index rises with the order of pushing
  for (const auto& [at, index] : expected) {
    ASSERT_EQ(queue.next_time().ps(), at);
    ASSERT_EQ(queue.pop().index, index);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pushed(), 5000U);
}

TEST(EventQueue, KeepsItsOrderWhenPushesAndPopsMix) {
  Seeded random(11);
  EventQueue queue;
  std::int64_t now = 0;
  std::uint32_t pushed = 0;
  while (pushed < 20000) {
    queue.push(Time::picoseconds(now + random.integer(0, 999)), {0, pushed++, 0});
    if (!random.one_in(3)) continue;
    ASSERT_GE(queue.next_time().ps(), now);
    now = queue.next_time().ps();
    queue.pop();
  }
  while (!queue.empty()) {
    ASSERT_GE(queue.next_time().ps(), now);
    now = queue.next_time().ps();
    queue.pop();
  }
}

TEST(EventQueueDeathTest, RefusesToPopWhenEmpty) {
  EventQueue queue;
  EXPECT_DEATH(queue.pop(), "empty");
}

}  // namespace
}  // namespace busbar
