// Partitions small enough to see, and a slow twin that refines one pair of classes at a time.
#include "sim/symmetry/colour_refinement.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace busbar {
namespace {

ColouredGraph ring(std::uint32_t n) {
  ColouredGraph graph;
  for (std::uint32_t v = 0; v < n; ++v) graph.add_vertex(7);
  for (std::uint32_t v = 0; v < n; ++v) graph.add_edge(v, (v + 1) % n, 1);
  return graph;
}

// The twin: splits by exact multisets, one round after the other, without hashing.
std::vector<std::uint32_t> slow_classes(const ColouredGraph& graph) {
  std::vector<std::uint32_t> classes(graph.colours.size(), 0);
  std::map<std::uint64_t, std::uint32_t> by_colour;
  for (std::size_t v = 0; v < classes.size(); ++v)
    classes[v] =
        by_colour.try_emplace(graph.colours[v], static_cast<std::uint32_t>(by_colour.size())).first->second;
  for (std::size_t count = by_colour.size();;) {
    using Signature = std::pair<std::uint32_t, std::multiset<std::pair<std::uint64_t, std::uint32_t>>>;
    std::map<Signature, std::uint32_t> signatures;
    std::vector<std::uint32_t> finer(classes.size());
    for (std::uint32_t v = 0; v < classes.size(); ++v) {
      Signature s{classes[v], {}};
      for (const auto& e : graph.edges) {
        if (e.a == v) s.second.insert({e.label, classes[e.b]});
        if (e.b == v) s.second.insert({e.label, classes[e.a]});
      }
      finer[v] = signatures.try_emplace(s, static_cast<std::uint32_t>(signatures.size())).first->second;
    }
    classes = finer;
    if (signatures.size() == count) return classes;
    count = signatures.size();
  }
}

void expect_same_partition(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::map<std::uint32_t, std::uint32_t> there, back;
  for (std::size_t v = 0; v < a.size(); ++v) {
    EXPECT_EQ(there.try_emplace(a[v], b[v]).first->second, b[v]) << "vertex " << v;
    EXPECT_EQ(back.try_emplace(b[v], a[v]).first->second, a[v]) << "vertex " << v;
  }
}

TEST(ColourRefinement, LeavesARingWhole) { EXPECT_EQ(refine(ring(10)).classes(), 1U); }

// One vertex apart: the others are told apart by their distance, 1 to 5 on a ring of 10.
TEST(ColourRefinement, TellsTheOthersOfARingApartByDistance) {
  ColouredGraph graph = ring(10);
  graph.colours[3] = 8;
  const Partition p = refine(graph);
  EXPECT_EQ(p.classes(), 6U);
  EXPECT_EQ(p.class_of[2], p.class_of[4]);
  EXPECT_EQ(p.class_of[9], p.class_of[7]);
  EXPECT_NE(p.class_of[2], p.class_of[1]);
}

TEST(ColourRefinement, NumbersClassesByTheirLowestVertex) {
  ColouredGraph graph;
  for (const std::uint64_t colour : {5U, 3U, 5U, 1U}) graph.add_vertex(colour);
  const Partition p = refine(graph);
  EXPECT_EQ(p.class_of, (std::vector<std::uint32_t>{0, 1, 0, 2}));
  EXPECT_EQ(p.first, (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(ColourRefinement, CountsParallelEdgesAndTellsLabelsApart) {
  ColouredGraph graph;
  for (int v = 0; v < 6; ++v) graph.add_vertex(0);
  graph.add_edge(0, 1, 4);
  graph.add_edge(0, 1, 4);
  graph.add_edge(2, 3, 4);
  graph.add_edge(4, 5, 9);
  EXPECT_EQ(refine(graph).class_of, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2}));
}

TEST(ColourRefinement, KnowsWhatIsNotEquitable) {
  ColouredGraph path = ring(4);
  path.edges.pop_back();  // 0-1-2-3: the ends have one edge, the middle two
  EXPECT_FALSE(is_equitable(path, {{0, 0, 0, 0}, {0}}));
  EXPECT_TRUE(is_equitable(path, {{0, 1, 1, 0}, {0, 1}}));
  path.colours[1] = 9;
  EXPECT_FALSE(is_equitable(path, {{0, 1, 1, 0}, {0, 1}}));
}

TEST(ColourRefinement, AgreesWithASlowTwinOnRandomGraphs) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 generator(seed);
    const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
    ColouredGraph graph;
    const std::uint32_t n = 2 + random() % 14;
    for (std::uint32_t v = 0; v < n; ++v) graph.add_vertex(random() % 8 == 0 ? 1 : 0);
    for (std::uint32_t e = random() % (2 * n); e > 0; --e) {
      const std::uint32_t a = random() % n;
      const std::uint32_t b = (a + 1 + random() % (n - 1)) % n;
      graph.add_edge(a, b, random() % 2);
    }
    const Partition p = refine(graph);
    EXPECT_TRUE(is_equitable(graph, p));
    expect_same_partition(p.class_of, slow_classes(graph));
  }
}

}  // namespace
}  // namespace busbar
