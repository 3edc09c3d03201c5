// What clusters of several sizes say together.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/study/cost.h"
#include "sim/study/study_summary.h"
#include "sim/study/sweep.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

ClusterRecord cluster_of(std::int64_t gpus, double tokens_per_s, double cost = 1, double memory = 1e9) {
  ClusterRecord c{.name = "A", .scaling = "strong", .gpus = gpus};
  c.search.ranked.push_back({});
  c.figures.push_back(
      {.step_s = 1, .tokens_per_s = tokens_per_s, .memory_bytes = memory, .cost_per_1e12_tokens = cost});
  return c;
}

TEST(ScalingCurves, HaveTheirKneeWhereAddedGpusStopPaying) {
  // Efficiencies of the added GPUs: 0.9, 0.6, 0.3.
  const auto curves = scaling_curves({cluster_of(8, 800), cluster_of(16, 800 + 720),
                                      cluster_of(32, 1520 + 960), cluster_of(64, 2480 + 960)});
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(*curves[0].knee, 32);
  EXPECT_NEAR(*curves[0].points[1].marginal, 0.9, 1e-12);
  EXPECT_NEAR(*curves[0].points[2].marginal, 0.6, 1e-12);
  EXPECT_NEAR(*curves[0].points[3].marginal, 0.3, 1e-12);
  EXPECT_NEAR(curves[0].points[3].efficiency, 3440.0 / 6400, 1e-12);
}

// The last size that was asked for is no knee.
TEST(ScalingCurves, ThatKeepPayingHaveNoKnee) {
  const auto curves = scaling_curves({cluster_of(8, 800), cluster_of(16, 1590)});
  EXPECT_FALSE(curves.at(0).knee.has_value());
}

// 64 hosts of 8 NICs: 512 cables to the leaves, and as many, a half or a quarter from there on, each of two
// ports. A link between two switches stands for all their cables.
TEST(ClusterSize, CountsThePortsOfEveryCable) {
  for (const std::int64_t over : {1, 2, 4}) {
    const Topology topology = topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"type": "dgx-h100", "count": 64}}, "fabric": {{"family": "rail-optimized", "oversubscription": {}}}}})",
        over));
    EXPECT_EQ(size_of(topology).ports, 2 * 512 + 2 * 512 / over) << over;
  }
}

TEST(ParetoFront, IsWhatNothingBeats) {
  std::vector<ClusterRecord> clusters = {cluster_of(8, 100, 1, 50e9), cluster_of(16, 180, 1.2, 40e9),
                                         cluster_of(32, 150, 1.5, 45e9), cluster_of(32, 90, 1, 60e9)};
  std::vector<std::size_t> on;
  for (const FrontPoint& p : pareto_front(clusters)) on.push_back(p.cluster);
  EXPECT_EQ(on,
            (std::vector<std::size_t>{1, 0}));  // the third is beaten by the second, the last by the first
}

}  // namespace
}  // namespace busbar
