// The coarsest equitable partition of a coloured graph: vertices of one class have the same colour, and as
// many edges of each label into each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/digest.h"

namespace busbar {

/// An undirected graph whose edges read the same from both ends. Parallel edges count each.
struct ColouredGraph {
  struct Edge {
    std::uint32_t a = 0, b = 0;
    std::uint64_t label = 0;
  };
  std::vector<std::uint64_t> colours;  // by vertex: what sets it apart by itself
  std::vector<Edge> edges;

  std::uint32_t add_vertex(std::uint64_t colour) {
    colours.push_back(colour);
    return static_cast<std::uint32_t>(colours.size() - 1);
  }
  void add_edge(std::uint32_t a, std::uint32_t b, std::uint64_t label) { edges.push_back({a, b, label}); }
};

/// Classes are numbered in the order of their lowest vertex.
struct Partition {
  std::vector<std::uint32_t> class_of;  // by vertex
  std::vector<std::uint32_t> first;     // by class: its lowest vertex

  [[nodiscard]] std::size_t classes() const { return first.size(); }
};

/// The coarsest equitable partition, by rounds of hashing: a vertex's next colour is its colour and the
/// multiset of (label, colour) of its edges, until a round splits nothing.
/// Shapes:   class_of[vertices].      Requires: edges between vertices that exist.      Throws: nothing.
/// Exact:    the result is checked edge by edge (`is_equitable`); should hashes ever have met by chance, it
/// is
///           the partition into single vertices, which is equitable too.
/// Cost:     O(rounds x (vertices + edges)); rounds <= the longest way that a difference has to travel.
/// Source:   Berkholz, Bonsma & Grohe 2017, "Tight lower and upper bounds for the complexity of canonical
///           colour refinement"; rounds in place of their worklist, as distances here are short.
[[nodiscard]] Partition refine(const ColouredGraph& graph);

/// Whether all vertices of a class have one colour and, per label and class, equally many edges.
/// Cost: O(edges x log of the largest degree).
[[nodiscard]] bool is_equitable(const ColouredGraph& graph, const Partition& partition);

}  // namespace busbar
