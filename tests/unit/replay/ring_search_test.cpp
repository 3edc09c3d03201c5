// Rings over direct links, held against what the links of the best-placed set could carry.
#include "sim/replay/ring_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace busbar {
namespace {

struct Bundle {
  std::uint32_t a, b;
  double Bps;
};

DirectLinks links_of(std::uint32_t size, const std::vector<Bundle>& bundles) {
  DirectLinks links{size, std::vector<double>(std::size_t{size} * size, 0)};
  for (const Bundle& bundle : bundles) {
    links.Bps[std::size_t{bundle.a} * size + bundle.b] = bundle.Bps;
    links.Bps[std::size_t{bundle.b} * size + bundle.a] = bundle.Bps;
  }
  return links;
}

DirectLinks full_mesh(std::uint32_t size, double Bps) {
  std::vector<Bundle> bundles;
  for (std::uint32_t a = 0; a < size; ++a)
    for (std::uint32_t b = a + 1; b < size; ++b) bundles.push_back({a, b, Bps});
  return links_of(size, bundles);
}

// Every ring visits every GPU once, over links that exist, and no link carries more than it has.
void expect_sound(const DirectLinks& links, const RingSet& set) {
  std::vector<double> load(links.Bps.size(), 0);
  for (const std::vector<std::uint32_t>& ring : set.rings) {
    std::vector<std::uint32_t> sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> all(links.size);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(sorted, all);
    for (std::size_t i = 0; i < ring.size(); ++i)
      load[std::size_t{ring[i]} * links.size + ring[(i + 1) % ring.size()]] += set.speed.Bps();
  }
  for (std::size_t l = 0; l < load.size(); ++l) EXPECT_LE(load[l], links.Bps[l] * (1 + 1e-9)) << l;
}

double total(const RingSet& set) { return static_cast<double>(set.rings.size()) * set.speed.Bps(); }

// n - 1 links leave each GPU and each ring takes one: n - 1 rings at most, and that many exist but for 4 and
// 6 GPUs, where twice as many at half the rate do.
TEST(RingSearch, UsesEveryLinkOfAFullMesh) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    const DirectLinks mesh = full_mesh(n, 64e9);
    const RingSet set = find_rings(mesh);
    expect_sound(mesh, set);
    EXPECT_DOUBLE_EQ(total(set), 64e9 * (n - 1)) << n;
    EXPECT_EQ(set.rings.size(), n == 4 || n == 6 ? 2 * (n - 1) : n - 1) << n;
  }
}

// DGX-1: three undirected rings, 0-3-2-1-5-6-7-4 over double links twice and 0-1-3-7-5-4-6-2 over single
// ones, use all six links of each GPU: 6 x 25 GB/s.
TEST(RingSearch, UsesEveryLinkOfTheHybridCubeMesh) {
  const double x = 25e9;
  const DirectLinks cube = links_of(8, {{0, 1, x},
                                        {0, 2, x},
                                        {0, 3, 2 * x},
                                        {0, 4, 2 * x},
                                        {1, 2, 2 * x},
                                        {1, 3, x},
                                        {1, 5, 2 * x},
                                        {2, 3, 2 * x},
                                        {2, 6, x},
                                        {3, 7, x},
                                        {4, 5, x},
                                        {4, 6, x},
                                        {4, 7, 2 * x},
                                        {5, 6, 2 * x},
                                        {5, 7, x},
                                        {6, 7, 2 * x}});
  const RingSet set = find_rings(cube);
  expect_sound(cube, set);
  EXPECT_EQ(set.rings.size(), 6U);
  EXPECT_DOUBLE_EQ(set.speed.Bps(), 25e9);
}

// Frontier: dies 1, 3, 5, 7 have only two links out of their package, and each ring that enters or leaves a
// package uses its odd die's links in or out: 2 + 2 of 50 GB/s, so at most 4 rings. 0-1-3-2-4-5-7-6 and
// 0-1-5-4-6-7-3-2 both ways round are four.
TEST(RingSearch, FindsTheFourRingsOfEightDies) {
  const double x = 50e9;
  const DirectLinks dies = links_of(8, {{0, 1, 4 * x},
                                        {2, 3, 4 * x},
                                        {4, 5, 4 * x},
                                        {6, 7, 4 * x},
                                        {0, 6, 2 * x},
                                        {2, 4, 2 * x},
                                        {0, 2, x},
                                        {1, 3, x},
                                        {1, 5, x},
                                        {3, 7, x},
                                        {4, 6, x},
                                        {5, 7, x}});
  const RingSet set = find_rings(dies);
  expect_sound(dies, set);
  EXPECT_EQ(set.rings.size(), 4U);
  EXPECT_DOUBLE_EQ(total(set), 200e9);
}

TEST(RingSearch, FindsTheSameRingsAgain) {
  const DirectLinks mesh = full_mesh(8, 64e9);
  EXPECT_EQ(find_rings(mesh).rings, find_rings(mesh).rings);
}

// A GPU with links to one other only cannot be passed through.
TEST(RingSearch, FindsNoneWhereAGpuHasOneNeighbour) {
  EXPECT_TRUE(find_rings(links_of(3, {{0, 1, 1e9}, {1, 2, 1e9}})).rings.empty());
  EXPECT_TRUE(find_rings(links_of(2, {})).rings.empty());
  EXPECT_TRUE(find_rings(full_mesh(kMaxRingGpus + 1, 1e9)).rings.empty());
  EXPECT_TRUE(find_rings({}).rings.empty());
}

// Links one way only: the ring goes that way.
TEST(RingSearch, FollowsOneWayLinks) {
  DirectLinks circle{3, std::vector<double>(9, 0)};
  circle.Bps[0 * 3 + 2] = circle.Bps[2 * 3 + 1] = circle.Bps[1 * 3 + 0] = 10e9;
  const RingSet set = find_rings(circle);
  ASSERT_EQ(set.rings.size(), 1U);
  EXPECT_EQ(set.rings[0], (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_DOUBLE_EQ(set.speed.Bps(), 10e9);
}

}  // namespace
}  // namespace busbar
