#include "sim/engine/max_min.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/seeded.h"

namespace busbar {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A system by value: usage[strand] = list of (resource, flows in fixed point).
struct System {
  std::vector<double> capacity;
  std::vector<std::vector<ResourceUse>> usage;
  std::vector<std::int64_t> multiplicity;
  std::vector<double> cap;

  std::size_t add(std::vector<std::uint32_t> resources, double cap_Bps = kInfinity, std::int64_t times = 1) {
    std::vector<ResourceUse> uses;
    for (const std::uint32_t r : resources) uses.push_back({ResourceId(r), kOneFlow});
    usage.push_back(uses);
    multiplicity.push_back(times);
    cap.push_back(cap_Bps);
    return usage.size() - 1;
  }
  [[nodiscard]] std::vector<double> rates() const {
    MaxMinSolver solver(capacity);
    std::vector<MaxMinEntry> entries;
    for (std::size_t s = 0; s < usage.size(); ++s) entries.push_back({usage[s], multiplicity[s], cap[s], 0});
    solver.solve(entries);
    std::vector<double> result;
    for (const MaxMinEntry& e : entries) result.push_back(e.rate);
    return result;
  }
};

double flows(const System& s, std::size_t strand, std::size_t resource) {
  for (const ResourceUse& use : s.usage[strand])
    if (use.resource.index() == resource)
      return static_cast<double>(s.multiplicity[strand] * use.flows) / static_cast<double>(kOneFlow);
  return 0;
}

// The slow obvious twin: raise all rates together by the smallest possible step, again and again, with plain
// doubles.
std::vector<double> twin(const System& s) {
  const std::size_t n = s.usage.size();
  std::vector<double> rate(n, 0);
  std::vector<bool> frozen(n, false);
  for (std::size_t round = 0; round < n; ++round) {
    double step = kInfinity;
    for (std::size_t i = 0; i < n; ++i)
      if (!frozen[i]) step = std::min(step, s.cap[i] - rate[i]);
    for (std::size_t r = 0; r < s.capacity.size(); ++r) {
      double used = 0;
      double live = 0;
      for (std::size_t i = 0; i < n; ++i) {
        used += flows(s, i, r) * rate[i];
        if (!frozen[i]) live += flows(s, i, r);
      }
      if (live > 0) step = std::min(step, (s.capacity[r] - used) / live);
    }
    for (std::size_t i = 0; i < n; ++i)
      if (!frozen[i]) rate[i] += step;
    for (std::size_t r = 0; r < s.capacity.size(); ++r) {
      double used = 0;
      for (std::size_t i = 0; i < n; ++i) used += flows(s, i, r) * rate[i];
      if (used < s.capacity[r] * (1 - 1e-12)) continue;
      for (std::size_t i = 0; i < n; ++i)
        if (flows(s, i, r) > 0) frozen[i] = true;
    }
    for (std::size_t i = 0; i < n; ++i)
      if (rate[i] >= s.cap[i] * (1 - 1e-12)) frozen[i] = true;
    if (std::all_of(frozen.begin(), frozen.end(), [](bool f) { return f; })) break;
  }
  return rate;
}

System random_system(Seeded& random) {
  System s;
  const std::size_t resources = random.index(1, 6);
  for (std::size_t r = 0; r < resources; ++r) s.capacity.push_back(1e9 * random.whole(1, 100));
  const std::size_t strands = random.index(1, 8);
  for (std::size_t i = 0; i < strands; ++i) {
    std::vector<ResourceUse> uses;
    for (std::uint32_t r = 0; r < resources; ++r)
      if (random.one_in(3)) uses.push_back({ResourceId(r), random.integer(1, 4) * kOneFlow / 2});
    if (uses.empty()) uses.push_back({ResourceId(0), kOneFlow});
    s.usage.push_back(uses);
    s.multiplicity.push_back(random.integer(1, 3));
    s.cap.push_back(random.one_in(3) ? 1e9 * random.whole(1, 20) : kInfinity);
  }
  return s;
}

TEST(MaxMin, GivesALoneStrandTheSmallestCapacityPerFlow) {
  System s{.capacity = {100e9, 30e9}};
  s.add({0, 1});
  EXPECT_EQ(s.rates()[0], 30e9);
}

TEST(MaxMin, SharesALinkEquallyByFlow) {
  System s{.capacity = {90e9}};
  s.add({0});
  s.add({0}, kInfinity, 2);  // two strands in one: three flows in all
  EXPECT_EQ(s.rates(), (std::vector<double>{30e9, 30e9}));
}

// Bertsekas & Gallager's example: a long flow over two links, and one short flow on each.
TEST(MaxMin, GivesWhatOneCannotUseToTheOthers) {
  System s{.capacity = {10e9, 40e9}};
  s.add({0, 1});
  s.add({0});
  s.add({1});
  EXPECT_EQ(s.rates(), (std::vector<double>{5e9, 5e9, 35e9}));
}

TEST(MaxMin, GivesWhatACapLeavesToTheOthers) {
  System s{.capacity = {100e9}};
  s.add({0}, 10e9);
  s.add({0});
  s.add({0});
  EXPECT_EQ(s.rates(), (std::vector<double>{10e9, 45e9, 45e9}));
}

TEST(MaxMin, CountsFractionsOfFlows) {
  System s{.capacity = {10e9}};
  s.usage.push_back({{ResourceId(0), kOneFlow / 2}});  // half of each byte goes this way
  s.multiplicity.push_back(1);
  s.cap.push_back(kInfinity);
  EXPECT_EQ(s.rates()[0], 20e9);
}

TEST(MaxMin, LetsAStrandWithoutLinksRunAtItsCap) {
  System s{.capacity = {10e9}};
  s.add({}, 5e9);
  s.add({});
  s.add({0});
  EXPECT_EQ(s.rates(), (std::vector<double>{5e9, kInfinity, 10e9}));
}

TEST(MaxMin, NamesTheResourceThatHoldsAStrand) {
  System s{.capacity = {10e9, 40e9}};
  s.add({0, 1});
  s.add({1});
  s.add({1}, 1e9);
  MaxMinSolver solver(s.capacity);
  std::vector<MaxMinEntry> entries;
  for (std::size_t i = 0; i < 3; ++i) entries.push_back({s.usage[i], 1, s.cap[i], 0});
  solver.solve(entries);
  EXPECT_EQ(solver.bottleneck(0), 0U);
  EXPECT_EQ(solver.bottleneck(1), 1U);
  EXPECT_EQ(solver.bottleneck(2), MaxMinSolver::kNone);
}

TEST(MaxMin, AgreesWithTheSlowTwinOnRandomSystems) {
  Seeded random(20261);
  for (int trial = 0; trial < 3000; ++trial) {
    const System s = random_system(random);
    const std::vector<double> fast = s.rates();
    const std::vector<double> slow = twin(s);
    for (std::size_t i = 0; i < fast.size(); ++i)
      ASSERT_NEAR(fast[i], slow[i], 1e-6 * slow[i]) << "seed 20261, trial " << trial;
  }
}

TEST(MaxMin, NeverOverfillsAResourceAndLeavesNoStrandThatCouldRise) {
  Seeded random(20262);
  for (int trial = 0; trial < 3000; ++trial) {
    const System s = random_system(random);
    const std::vector<double> rate = s.rates();
    std::vector<double> load(s.capacity.size(), 0);
    for (std::size_t r = 0; r < load.size(); ++r)
      for (std::size_t i = 0; i < rate.size(); ++i) load[r] += flows(s, i, r) * rate[i];
    for (std::size_t r = 0; r < load.size(); ++r)
      ASSERT_LE(load[r], s.capacity[r] * (1 + 1e-12)) << "seed 20262, trial " << trial;
    for (std::size_t i = 0; i < rate.size(); ++i) {
      bool held = rate[i] >= s.cap[i];
      for (std::size_t r = 0; r < load.size(); ++r)
        held = held || (flows(s, i, r) > 0 && load[r] >= s.capacity[r] * (1 - 1e-9));
      ASSERT_TRUE(held) << "seed 20262, trial " << trial << ", strand " << i;
    }
  }
}

TEST(MaxMin, GivesTheSameBitsWhateverTheOrderOfStrands) {
  Seeded random(20263);
  for (int trial = 0; trial < 500; ++trial) {
    const System s = random_system(random);
    const std::vector<double> rate = s.rates();
    std::vector<std::size_t> order(rate.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random.engine());
    System shuffled{.capacity = s.capacity};
    for (const std::size_t i : order) {
      shuffled.usage.push_back(s.usage[i]);
      shuffled.multiplicity.push_back(s.multiplicity[i]);
      shuffled.cap.push_back(s.cap[i]);
    }
    const std::vector<double> other = shuffled.rates();
    for (std::size_t k = 0; k < order.size(); ++k)
      ASSERT_EQ(other[k], rate[order[k]]) << "seed 20263, trial " << trial;
  }
}

TEST(MaxMin, ScalesWithAllCapacities) {
  Seeded random(20264);
  for (int trial = 0; trial < 300; ++trial) {
    System s = random_system(random);
    const std::vector<double> before = s.rates();
    for (double& c : s.capacity) c *= 4;
    for (double& c : s.cap) c *= 4;
    const std::vector<double> after = s.rates();
    for (std::size_t i = 0; i < before.size(); ++i)
      ASSERT_EQ(after[i], 4 * before[i]) << "seed 20264, trial " << trial;
  }
}

TEST(MaxMin, ReportsWhatEachResourceCarries) {
  System s{.capacity = {10e9, 40e9}};
  s.add({0, 1});
  s.add({1}, 4e9);
  MaxMinSolver solver(s.capacity);
  std::vector<MaxMinEntry> entries{{s.usage[0], 1, s.cap[0], 0}, {s.usage[1], 1, s.cap[1], 0}};
  solver.solve(entries);
  double carried[2] = {0, 0};
  for (const auto& load : solver.loads()) carried[load.resource] = load.bytes_per_second;
  EXPECT_DOUBLE_EQ(carried[0], 10e9);
  EXPECT_DOUBLE_EQ(carried[1], 14e9);
}

}  // namespace
}  // namespace busbar
