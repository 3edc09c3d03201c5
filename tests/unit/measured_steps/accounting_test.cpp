// Where a step's time goes, against a twin that looks at every nanosecond.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/seeded.h"
#include "validate/import/trace_accounting.h"

namespace busbar {
namespace {

StepAccount twin(TraceSpan window, const std::vector<TraceSpan>& kernels,
                 const std::vector<TimedCommunication>& communications, std::size_t groups) {
  StepAccount a{.exposed_by_group = std::vector<std::int64_t>(groups, 0)};
  for (std::int64_t t = window.begin; t < window.end; ++t) {
    bool kernel = false, wait = false, peer = false;
    const TimedCommunication* transfer = nullptr;
    for (const TraceSpan& k : kernels) kernel = kernel || (k.begin <= t && t < k.end);
    for (const TimedCommunication& c : communications) {
      if (c.transfer <= t && t < c.span.end) {
        if (transfer == nullptr || c.transfer < transfer->transfer) transfer = &c;
      } else if (c.span.begin <= t && t < c.transfer) {
        (c.for_peer ? peer : wait) = true;
      }
    }
    if (transfer != nullptr) ++a.communication;
    if (kernel)
      ++a.compute;
    else if (transfer != nullptr)
      ++a.exposed, ++a.exposed_by_group[transfer->group];
    else if (wait)
      ++a.waiting;
    else if (peer)
      ++a.bubble;
    else
      ++a.idle;
  }
  return a;
}

TEST(TraceAccounting, AgreesWithEveryNanosecondOnRandomSteps) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Seeded random(seed);
    const TraceSpan window{100, random.integer(100, 300)};
    const auto span = [&] {
      const std::int64_t begin = random.integer(80, 300);
      return TraceSpan{begin, begin + random.integer(0, 40)};
    };
    std::vector<TraceSpan> kernels;
    for (std::int64_t i = random.integer(0, 8); i > 0; --i) kernels.push_back(span());
    std::vector<TimedCommunication> communications;
    for (std::int64_t i = random.integer(0, 8); i > 0; --i) {
      const TraceSpan s = span();
      communications.push_back({.span = s,
                                .transfer = random.integer(s.begin, s.end),
                                .for_peer = random.one_in(2),
                                .group = static_cast<std::uint32_t>(random.integer(0, 2))});
    }
    std::stable_sort(communications.begin(), communications.end(),
                     [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    const StepAccount fast = account_of(window, union_of(kernels), communications, 3);
    const StepAccount slow = twin(window, kernels, communications, 3);
    EXPECT_EQ(fast.compute, slow.compute) << "seed " << seed;
    EXPECT_EQ(fast.communication, slow.communication) << "seed " << seed;
    EXPECT_EQ(fast.exposed, slow.exposed) << "seed " << seed;
    EXPECT_EQ(fast.waiting, slow.waiting) << "seed " << seed;
    EXPECT_EQ(fast.bubble, slow.bubble) << "seed " << seed;
    EXPECT_EQ(fast.idle, slow.idle) << "seed " << seed;
    EXPECT_EQ(fast.exposed_by_group, slow.exposed_by_group) << "seed " << seed;
    EXPECT_EQ(fast.compute + fast.exposed + fast.waiting + fast.bubble + fast.idle,
              window.end - window.begin);
  }
}

TEST(TraceAccounting, UnionsOfSpansDoNotTouch) {
  EXPECT_EQ(union_of({{5, 7}, {1, 3}, {3, 4}, {6, 9}, {8, 8}}), (std::vector<TraceSpan>{{1, 4}, {5, 9}}));
}

}  // namespace
}  // namespace busbar
