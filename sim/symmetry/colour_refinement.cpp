#include "sim/symmetry/colour_refinement.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace busbar {

namespace {

Partition partition_by(const std::vector<std::uint64_t>& colours) {
  Partition partition;
  partition.class_of.reserve(colours.size());
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::uint32_t v = 0; v < colours.size(); ++v) {
    const auto [it, is_new] = known.try_emplace(colours[v], static_cast<std::uint32_t>(known.size()));
    if (is_new) partition.first.push_back(v);
    partition.class_of.push_back(it->second);
  }
  return partition;
}

Partition single_vertices(std::size_t vertices) {
  Partition partition{std::vector<std::uint32_t>(vertices), {}};
  std::iota(partition.class_of.begin(), partition.class_of.end(), 0U);
  partition.first = partition.class_of;
  return partition;
}

// Sums over a vertex's edges do not depend on their order.
void run_round(const ColouredGraph& graph, std::vector<std::uint64_t>& colours,
               std::vector<std::uint64_t>& sums) {
  sums.assign(colours.size(), 0);
  for (const ColouredGraph::Edge& e : graph.edges) {
    sums[e.a] += mix(e.label, colours[e.b]);
    sums[e.b] += mix(e.label, colours[e.a]);
  }
  for (std::size_t v = 0; v < colours.size(); ++v) colours[v] = mix(colours[v], sums[v]);
}

}  // namespace

Partition refine(const ColouredGraph& graph) {
  std::vector<std::uint64_t> colours = graph.colours;
  std::vector<std::uint64_t> sums;
  Partition partition = partition_by(colours);
  for (;;) {
    run_round(graph, colours, sums);
    Partition finer = partition_by(colours);
    const bool split = finer.classes() > partition.classes();
    partition = std::move(finer);
    if (!split) break;
  }
  return is_equitable(graph, partition) ? partition : single_vertices(colours.size());
}

bool is_equitable(const ColouredGraph& graph, const Partition& partition) {
  using End = std::pair<std::uint64_t, std::uint32_t>;  // label, class at the other end
  const std::size_t vertices = graph.colours.size();
  std::vector<std::size_t> begin(vertices + 1, 0);
  for (const ColouredGraph::Edge& e : graph.edges) {
    ++begin[e.a + 1];
    ++begin[e.b + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<End> ends(2 * graph.edges.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const ColouredGraph::Edge& e : graph.edges) {
    ends[next[e.a]++] = {e.label, partition.class_of[e.b]};
    ends[next[e.b]++] = {e.label, partition.class_of[e.a]};
  }
  const auto at = [&](std::size_t place) { return ends.begin() + static_cast<std::ptrdiff_t>(place); };
  for (std::size_t v = 0; v < vertices; ++v) {
    std::sort(at(begin[v]), at(begin[v + 1]));
    const std::uint32_t first = partition.first[partition.class_of[v]];  // sorted before: first <= v
    if (graph.colours[v] != graph.colours[first] ||
        !std::equal(at(begin[v]), at(begin[v + 1]), at(begin[first]), at(begin[first + 1])))
      return false;
  }
  return true;
}

}  // namespace busbar
