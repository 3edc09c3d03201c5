#include "sim/engine/strand_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/seeded.h"

namespace busbar {
namespace {

// A strand with the usage that it borrows.
struct Owned {
  std::vector<ResourceUse> usage;
  Strand strand;
};

Owned make(double volume, std::vector<std::uint32_t> resources, double cap = Bandwidth::unlimited().Bps()) {
  Owned o;
  for (const std::uint32_t r : resources) o.usage.push_back({ResourceId(r), kOneFlow});
  o.strand = {.volume = volume, .cap = Bandwidth::bytes_per_second(cap), .usage = o.usage};
  return o;
}

// Runs all strands from their starts to their ends; the set as its users drive it.
std::vector<Time> run(StrandSet& set, const std::vector<std::pair<Time, const Strand*>>& starts) {
  std::vector<Time> ends(starts.size());
  std::map<std::uint32_t, std::size_t> owner;
  std::multimap<Time, std::pair<StrandId, std::uint32_t>> endings;
  std::size_t next = 0;
  while (next < starts.size() || !endings.empty()) {
    Time now = endings.empty() ? Time::max() : endings.begin()->first;
    if (next < starts.size()) now = std::min(now, starts[next].first);
    while (!endings.empty() && endings.begin()->first == now) {
      const auto [id, stamp] = endings.begin()->second;
      endings.erase(endings.begin());
      if (!set.is_current(id, stamp)) continue;
      ends[owner[id.value()]] = now;
      set.finish(id);
    }
    for (; next < starts.size() && starts[next].first == now; ++next)
      owner[set.add(*starts[next].second, now).value()] = next;
    for (const auto& e : set.settle(now)) endings.emplace(e.at, std::pair(e.strand, e.stamp));
  }
  return ends;
}

TEST(StrandSet, TakesVolumeOverRateForALoneStrand) {
  const Owned a = make(1e9, {0});
  StrandSet set({10e9});
  EXPECT_EQ(run(set, {{Time::zero(), &a.strand}})[0], Time::from_seconds(0.1));
}

// Two strands of 1 GB on 10 GB/s, the second 50 ms later: the first has 0.5 GB left, both run at 5 GB/s until
// it ends at 150 ms; the second then has 0.5 GB left at 10 GB/s and ends at 200 ms.
TEST(StrandSet, SharesFromTheMomentAnotherStarts) {
  const Owned a = make(1e9, {0});
  const Owned b = make(1e9, {0});
  StrandSet set({10e9});
  const auto ends = run(set, {{Time::zero(), &a.strand}, {Time::from_seconds(0.05), &b.strand}});
  EXPECT_EQ(ends[0], Time::from_seconds(0.15));
  EXPECT_EQ(ends[1], Time::from_seconds(0.2));
}

TEST(StrandSet, EndsAnEmptyStrandAtOnce) {
  const Owned a = make(0, {0});
  const Owned b = make(0, {});
  StrandSet set({10e9});
  const auto ends = run(set, {{Time::from_seconds(1), &a.strand}, {Time::from_seconds(2), &b.strand}});
  EXPECT_EQ(ends[0], Time::from_seconds(1));
  EXPECT_EQ(ends[1], Time::from_seconds(2));
}

TEST(StrandSet, DoesNotSolveStrandsThatShareNothingWithAChange) {
  const Owned a = make(1e9, {0});
  const Owned b = make(1e9, {1});
  StrandSet set({10e9, 10e9});
  set.add(a.strand, Time::zero());
  static_cast<void>(set.settle(Time::zero()));
  set.add(b.strand, Time::from_seconds(0.01));
  const auto endings = set.settle(Time::from_seconds(0.01));
  ASSERT_EQ(endings.size(), 1U);
  EXPECT_EQ(endings[0].at, Time::from_seconds(0.11));
}

// Conservation: what the links report is what the strands carried; and no link carries more than capacity x
// time.
TEST(StrandSet, ConservesBytesOnEveryLinkInRandomRuns) {
  Seeded random(404);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t resources = random.index(2, 5);
    std::vector<double> capacity;
    for (std::size_t r = 0; r < resources; ++r) capacity.push_back(1e9 * random.whole(1, 50));
    std::vector<Owned> owned;
    for (int i = 0; i < 12; ++i) {
      std::vector<std::uint32_t> used;
      for (std::uint32_t r = 0; r < resources; ++r)
        if (random.one_in(2)) used.push_back(r);
      if (used.empty()) used.push_back(0);
      owned.push_back(make(1e6 * random.whole(1, 1000), used));
    }
    std::vector<double> expected(resources, 0);
    std::vector<std::pair<Time, const Strand*>> starts;
    for (Owned& o : owned) {
      o.strand.usage = o.usage;
      starts.emplace_back(Time::from_microseconds(random.whole(0, 19999)), &o.strand);
      for (const ResourceUse& use : o.usage) expected[use.resource.index()] += o.strand.volume;
    }
    std::sort(starts.begin(), starts.end(), [](auto& a, auto& b) { return a.first < b.first; });
    StrandSet set(capacity);
    const auto ends = run(set, starts);
    const Time last = *std::max_element(ends.begin(), ends.end());
    const auto totals = set.totals();
    for (std::size_t r = 0; r < resources; ++r) {
      ASSERT_NEAR(totals[r].bytes, expected[r], 1e-9 * expected[r]) << "seed 404, trial " << trial;
      ASSERT_LE(totals[r].bytes, capacity[r] * last.seconds() * (1 + 1e-9)) << "seed 404, trial " << trial;
      ASSERT_LE(totals[r].peak_share, 1 + 1e-12);
    }
    for (std::size_t i = 0; i < ends.size(); ++i) ASSERT_GT(ends[i], starts[i].first);
  }
}

// Two strands of 10 over resource 0 (capacity 10), which implies resource 1 (capacity 10): 5 each. Resource 1
// holds nobody back, but its load is counted.
TEST(StrandSet, CountsLoadsOfResourcesThatOthersImply) {
  StrandSet set({10, 10}, {false, true});
  const Owned a = make(10, {0, 1}), b = make(10, {0, 1});
  const std::vector<Time> ends = run(set, {{Time::zero(), &a.strand}, {Time::zero(), &b.strand}});
  EXPECT_EQ(ends[0], Time::from_seconds(2));
  EXPECT_EQ(ends[1], Time::from_seconds(2));
  EXPECT_DOUBLE_EQ(set.totals()[1].bytes, 20);
  EXPECT_DOUBLE_EQ(set.totals()[1].peak_share, 1);
}

// Without resource 0 in common they do not meet: each has its own cap, and no solve joins them.
TEST(StrandSet, LetsStrandsApartThatShareOnlyWhatOthersImply) {
  StrandSet set({10, 10, 20}, {false, false, true});
  const Owned a = make(10, {0, 2}), b = make(20, {1, 2});
  const std::vector<Time> ends = run(set, {{Time::zero(), &a.strand}, {Time::zero(), &b.strand}});
  EXPECT_EQ(ends[0], Time::from_seconds(1));
  EXPECT_EQ(ends[1], Time::from_seconds(2));
  EXPECT_DOUBLE_EQ(set.totals()[2].bytes, 30);
  EXPECT_DOUBLE_EQ(set.totals()[2].peak_share, 1);
}

// Resources 1, 3 and 6 of eight, one of them implied: whether the set knows of the others or not.
TEST(StrandSet, DoesTheSameKnowingOnlyOfTheResourcesThatMayBeUsed) {
  const std::vector<std::uint32_t> used = {1, 3, 6};
  const std::vector<double> capacity = {1e9, 10e9, 1e9, 7e9, 1e9, 1e9, 90e9, 1e9};
  const std::vector<bool> implied = {false, false, false, false, false, false, true, false};
  const Owned a = make(1e9, {6, 1});
  const Owned b = make(2e9, {1, 3, 6});
  const Owned c = make(1e9, {3}, 2e9);
  const std::vector<std::pair<Time, const Strand*>> starts = {
      {Time::zero(), &a.strand}, {Time::from_seconds(0.05), &b.strand}, {Time::from_seconds(0.1), &c.strand}};
  StrandSet all(capacity, implied);
  StrandSet some(capacity, implied, used);
  EXPECT_EQ(run(some, starts), run(all, starts));
  const std::vector<ResourceTotals> x = some.totals(), y = all.totals();
  ASSERT_EQ(x.size(), capacity.size());
  ASSERT_EQ(y.size(), capacity.size());
  for (std::size_t r = 0; r < capacity.size(); ++r) {
    EXPECT_EQ(x[r].bytes, y[r].bytes) << r;
    EXPECT_EQ(x[r].peak_share, y[r].peak_share) << r;
  }
  ASSERT_EQ(some.used_totals().size(), used.size());
  EXPECT_EQ(some.used_totals()[2].bytes, y[6].bytes);
  EXPECT_EQ(some.id_of(2), 6U);
}

TEST(StrandSet, NamesTheBottleneckByItsIdKnowingOnlyOfSomeResources) {
  const Owned a = make(1e9, {2, 5});
  StrandSet set(std::vector<double>{1e9, 1e9, 8e9, 1e9, 1e9, 3e9}, {}, {2, 5});
  const StrandId id = set.add(a.strand, Time::zero());
  static_cast<void>(set.settle(Time::zero()));
  EXPECT_EQ(set.bottleneck(id), 5U);
}

}  // namespace
}  // namespace busbar
