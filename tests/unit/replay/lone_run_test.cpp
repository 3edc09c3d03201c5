#include "sim/replay/lone_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace busbar {
namespace {

// The same to the picosecond, whatever links there are beside those that the plan uses.
TEST(LoneRun, NeedsOnlyTheLinksThatThePlanUses) {
  std::mt19937_64 engine(5);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(engine() % n); };
  for (int round = 0; round < 300; ++round) {
    std::vector<double> capacity(20 + below(100));
    for (double& c : capacity) c = 1e9 * static_cast<double>(1 + below(50));
    std::vector<std::vector<ResourceUse>> uses;
    Plan plan;
    for (std::size_t phases = 1 + below(3); phases > 0; --phases) {
      PlanPhase phase;
      for (std::size_t strands = 1 + below(6); strands > 0; --strands) {
        std::set<std::size_t> links;
        for (std::size_t n = 1 + below(8); n > 0; --n) links.insert(below(capacity.size()));
        std::vector<ResourceUse> list;
        for (const std::size_t link : links)
          list.push_back({ResourceId::from_index(link), kOneFlow / static_cast<std::int64_t>(1 + below(3))});
        std::shuffle(list.begin(), list.end(), engine);
        uses.push_back(std::move(list));
        phase.strands.push_back({.volume = 1e6 * static_cast<double>(1 + below(1000)),
                                 .cap = Bandwidth::bytes_per_second(1e9 * static_cast<double>(1 + below(60))),
                                 .multiplicity = static_cast<std::int64_t>(1 + below(3)),
                                 .usage = uses.back()});
      }
      plan.phases.push_back(std::move(phase));
    }
    // Links of one sort are equally wide.
    std::vector<std::uint32_t> sort_of;
    std::vector<double> by_sort(10);
    for (std::size_t l = 0; l < capacity.size(); ++l) sort_of.push_back(static_cast<std::uint32_t>(l % 10));
    TransferTimes times;
    for (int again = 0; again < 3; ++again) {
      for (double& c : by_sort) c = 1e9 * static_cast<double>(1 + below(50));
      for (std::size_t l = 0; l < capacity.size(); ++l) capacity[l] = by_sort[sort_of[l]];
      EXPECT_EQ(times.alone(plan, sort_of, by_sort), run_alone(plan, capacity).transfer) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace busbar
