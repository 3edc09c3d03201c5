// The coarsest equitable partition of a coloured graph: vertices of one class have the same colour, and as
// many edges of each label into each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/base/digest.h"
#include "sim/base/rows.h"

namespace busbar {

/// An undirected graph whose edges read the same from both ends. Parallel edges count each.
struct ColouredGraph {
  struct Edge {
    std::uint32_t a = 0, b = 0;
    std::uint32_t label = 0;  // number in `labels`
  };
  std::vector<std::uint64_t> colours;  // by vertex: what sets it apart by itself
  std::vector<Edge> edges;
  std::vector<std::uint64_t> labels;  // each distinct one once

  std::uint32_t add_vertex(std::uint64_t colour) {
    colours.push_back(colour);
    return static_cast<std::uint32_t>(colours.size() - 1);
  }
  void add_edge(std::uint32_t a, std::uint32_t b, std::uint64_t label) {
    edges.push_back({a, b, number_of(label)});
  }
  [[nodiscard]] std::uint32_t number_of(std::uint64_t label) {
    if (last_ < labels.size() && labels[last_] == label) return last_;
    const auto [it, is_new] = numbers_.try_emplace(label, static_cast<std::uint32_t>(labels.size()));
    if (is_new) labels.push_back(label);
    return last_ = it->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

/// One end of an edge, as the vertex at the other end sees it.
struct EdgeEnd {
  std::uint32_t vertex = 0;
  std::uint32_t label = 0;  // number in ColouredGraph::labels
};
/// A graph's edges by vertex, each at both of its ends, in the order of the edges.
using Neighbours = Rows<EdgeEnd>;
[[nodiscard]] Neighbours neighbours_of(const ColouredGraph& graph);

/// Classes are numbered in the order of their lowest vertex.
struct Partition {
  std::vector<std::uint32_t> class_of;  // by vertex
  std::vector<std::uint32_t> first;     // by class: its lowest vertex

  [[nodiscard]] std::size_t classes() const { return first.size(); }
};

/// The coarsest equitable partition, by rounds of hashing over what changed: vertices of a class stay
/// together as long as the labels of their edges into each new class, added up as hashes, are the same.
/// Shapes:   class_of[vertices].      Requires: edges between vertices that exist, `neighbours` made of
/// `graph`. Throws:   nothing. Exact:    the result is checked edge by edge (`is_equitable`); should hashes
/// ever have met by chance, it is
///           the partition into single vertices, which is equitable too.
/// Cost:     the edges of the vertices whose class is new, summed over the rounds: at most
///           O(rounds x (vertices + edges)), rounds <= the longest way that a difference has to travel.
/// Source:   Berkholz, Bonsma & Grohe 2017, "Tight lower and upper bounds for the complexity of canonical
///           colour refinement"; Paige & Tarjan 1987 (one part of a class that splits need not be looked at).
[[nodiscard]] Partition refine(const ColouredGraph& graph, const Neighbours& neighbours);
[[nodiscard]] Partition refine(const ColouredGraph& graph);

/// Whether all vertices of a class have one colour and, per label and class, equally many edges. Exact:
/// counts are compared, no hashes. Cost: O(vertices + edges).
[[nodiscard]] bool is_equitable(const ColouredGraph& graph, const Neighbours& neighbours,
                                const Partition& partition);
[[nodiscard]] bool is_equitable(const ColouredGraph& graph, const Partition& partition);

}  // namespace busbar
