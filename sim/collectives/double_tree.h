// NCCL's double binary tree: two trees over the same positions, each for half of the data, in which the
// inner positions of one are leaves of the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace busbar {

struct TreeNode {
  std::optional<std::uint32_t> parent;  // none: the root
  std::vector<std::uint32_t> children;  // at most two
};
using Tree = std::vector<TreeNode>;  // by position

/// Requires: n >= 1. Cost: O(n).
/// Children of a position over both trees: at most two, so both together ask of no position more than one
/// tree asks of its inner ones. A position has children in one tree only, except position 0 of an odd n >= 3,
/// which has one child in each.
/// Example: n = 4 has 0-2, 2-1, 2-3 and the mirror image 3-1, 1-2, 1-0.
/// Source:  NVIDIA/nccl src/graph/trees.cc v2.28.9 (ncclGetBtree, ncclGetDtree); Sanders, Speck & Traeff,
///          Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing 2009.
[[nodiscard]] std::array<Tree, 2> double_tree(std::uint32_t n);

/// Edges from the root to each position. Cost: O(n).
[[nodiscard]] std::vector<std::uint32_t> depths(const Tree& tree);

/// Edges from the root to the farthest position: ceil(log2 n) in either tree of double_tree(n).
[[nodiscard]] std::uint32_t depth(const Tree& tree);

}  // namespace busbar
