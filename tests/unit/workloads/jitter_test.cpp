#include "workloads/jitter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/workloads/workload_helpers.h"
#include "workloads/rank_set.h"

namespace busbar {
namespace {

using namespace test;

Workload jittered(const std::string& per, std::uint64_t seed) {
  Workload w = workload_of(R"({"schema": "busbar.workload/1", "batch": {"global": 8},
    "model": {"parameters": [{"name": "b", "shape": [8], "count": 4, "forward": "1 ms", "backward": "2 ms"}]},
    "parallel": {"pp": 4, "dp": 8}, "jitter": {"compute": {"lognormal": 0.1, "per": ")" +
                           per + R"("}}})");
  w.seed = seed;
  return w;
}

// Of n = 20,000 draws the mean of ln x is 0 and its deviation sigma, each within five standard errors: sigma
// / sqrt(n), and sigma / sqrt(2 n).
TEST(LognormalDraw, HasTheMedianOneAndTheDeviationSigma) {
  const double n = 20000, sigma = 0.3;
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = std::log(lognormal_draw(7, i, sigma));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 * sigma / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), sigma, 5 * sigma / std::sqrt(2 * n));
}

// Ranks run tp, cp, dp, pp: stage = rank / 8, replica = rank % 8.
TEST(Slowdowns, AreOnePerRankReplicaOrRole) {
  const std::vector<Slowdown> ranks = draw_slowdowns(jittered("rank", 1));
  const std::vector<Slowdown> replicas = draw_slowdowns(jittered("replica", 1));
  const std::vector<Slowdown> roles = draw_slowdowns(jittered("role", 1));
  ASSERT_EQ(ranks.size(), 32U);
  ASSERT_EQ(replicas.size(), 8U);
  ASSERT_EQ(roles.size(), 4U);
  EXPECT_EQ(expand(replicas[3].ranks), (std::vector<std::uint32_t>{3, 11, 19, 27}));
  EXPECT_EQ(expand(roles[2].ranks), (std::vector<std::uint32_t>{16, 17, 18, 19, 20, 21, 22, 23}));
  std::set<double> factors;
  for (const Slowdown& slowdown : ranks) factors.insert(slowdown.factor);
  EXPECT_EQ(factors.size(), 32U);
}

TEST(Slowdowns, ComeFromTheSeedAlone) {
  const auto first = [](std::uint64_t seed) { return draw_slowdowns(jittered("rank", seed))[0].factor; };
  EXPECT_EQ(first(5), first(5));
  EXPECT_NE(first(5), first(6));
  Workload still = jittered("rank", 1);
  still.jitter.lognormal = 0;
  EXPECT_TRUE(draw_slowdowns(still).empty());
}

}  // namespace
}  // namespace busbar
