// Source: NVIDIA/nccl src/graph/trees.cc v2.28.9 (ncclGetBtree, ncclGetDtree).
#include "sim/collectives/double_tree.h"

#include <algorithm>

namespace busbar {

namespace {

// In order: odd positions are leaves, and one whose lowest set bit is b stands log2 b levels above them, so
// that its parent is r - b + 2b or, where that is beyond the end, r - b. Position 0 stands above all.
std::optional<std::uint32_t> in_order_parent(std::uint32_t r, std::uint32_t n) {
  if (r == 0) return std::nullopt;
  const std::uint32_t bit = r & (~r + 1);
  const std::uint32_t right = (r ^ bit) | (bit << 1);
  return right < n ? right : r ^ bit;
}

// The in-order tree with position r renamed `place(r)`.
template <class Place>
Tree placed(std::uint32_t n, Place place) {
  Tree tree(n);
  for (std::uint32_t r = 0; r < n; ++r)
    if (const auto parent = in_order_parent(r, n)) {
      tree[place(r)].parent = place(*parent);
      tree[place(*parent)].children.push_back(place(r));
    }
  return tree;
}

}  // namespace

// The second tree: mirrored for an even n, moved by one for an odd one.
std::array<Tree, 2> double_tree(std::uint32_t n) {
  return {placed(n, [](std::uint32_t r) { return r; }),
          placed(n, [n](std::uint32_t r) { return n % 2 == 0 ? n - 1 - r : (r + 1) % n; })};
}

std::vector<std::uint32_t> depths(const Tree& tree) {
  std::vector<std::uint32_t> of(tree.size(), 0);
  std::vector<std::uint32_t> order;  // parents before their children
  for (std::uint32_t r = 0; r < tree.size(); ++r)
    if (!tree[r].parent) order.push_back(r);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const std::uint32_t child : tree[order[i]].children) {
      of[child] = of[order[i]] + 1;
      order.push_back(child);
    }
  return of;
}

std::uint32_t depth(const Tree& tree) {
  const std::vector<std::uint32_t> of = depths(tree);
  return of.empty() ? 0 : *std::max_element(of.begin(), of.end());
}

}  // namespace busbar
