// The double binary tree, for every small number of positions.
#include "sim/collectives/double_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace busbar {
namespace {

using Parents = std::vector<std::optional<std::uint32_t>>;

Parents parents(const Tree& tree) {
  Parents of;
  for (const TreeNode& node : tree) of.push_back(node.parent);
  return of;
}

constexpr std::nullopt_t kRoot = std::nullopt;

TEST(DoubleTree, HasTheParentsWorkedByHand) {
  EXPECT_EQ(parents(double_tree(1)[0]), (Parents{kRoot}));
  EXPECT_EQ(parents(double_tree(1)[1]), (Parents{kRoot}));
  EXPECT_EQ(parents(double_tree(2)[0]), (Parents{kRoot, 0}));
  EXPECT_EQ(parents(double_tree(2)[1]), (Parents{1, kRoot}));
  EXPECT_EQ(parents(double_tree(4)[0]), (Parents{kRoot, 2, 0, 2}));
  EXPECT_EQ(parents(double_tree(4)[1]), (Parents{1, 3, 1, kRoot}));
  EXPECT_EQ(parents(double_tree(5)[0]), (Parents{kRoot, 2, 4, 2, 0}));
  EXPECT_EQ(parents(double_tree(5)[1]), (Parents{1, kRoot, 3, 0, 3}));
  EXPECT_EQ(parents(double_tree(8)[0]), (Parents{kRoot, 2, 4, 2, 0, 6, 4, 6}));
  EXPECT_EQ(parents(double_tree(8)[1]), (Parents{1, 3, 1, 7, 5, 3, 5, kRoot}));
}

// NCCL's own drawing: 14 positions, of which 12 has a left child and, its right subtree being cut, 13.
TEST(DoubleTree, ShortensTheSubtreeThatTheEndCuts) {
  const Tree tree = double_tree(14)[0];
  EXPECT_EQ(tree[0].children, (std::vector<std::uint32_t>{8}));
  EXPECT_EQ(tree[8].children, (std::vector<std::uint32_t>{4, 12}));
  EXPECT_EQ(tree[12].children, (std::vector<std::uint32_t>{10, 13}));
}

// Every position has one parent but the root, and a path to it; so n - 1 edges that join everybody.
TEST(DoubleTree, SpansEveryNumberOfPositionsTwice) {
  for (std::uint32_t n = 1; n <= 300; ++n)
    for (const Tree& tree : double_tree(n)) {
      ASSERT_EQ(tree.size(), n);
      EXPECT_EQ(std::ranges::count_if(tree, [](const TreeNode& node) { return !node.parent; }), 1);
      const std::vector<std::uint32_t> down = depths(tree);
      for (std::uint32_t r = 0; r < n; ++r) {
        EXPECT_LE(tree[r].children.size(), 2U);
        for (const std::uint32_t child : tree[r].children) EXPECT_EQ(tree[child].parent, r);
        EXPECT_EQ(down[r], tree[r].parent ? down[*tree[r].parent] + 1 : 0) << r << " of " << n;
      }
    }
}

// The root's only child is the largest power of two below n, under which its lower half is complete:
// 1 + log2 of it = ceil(log2 n).
TEST(DoubleTree, IsAsDeepAsTheLogarithmRoundedUp) {
  for (std::uint32_t n = 1; n <= 300; ++n)
    for (const Tree& tree : double_tree(n))
      EXPECT_EQ(depth(tree), static_cast<std::uint32_t>(std::bit_width(n - 1))) << n;
}

// Inner positions are the even ones of the first tree. Mirrored, they are the odd ones; moved by one, the
// odd ones and, for the last, position 0.
TEST(DoubleTree, GivesAPositionChildrenInOneTreeOnlyExceptTheFirstOfAnOddNumber) {
  for (std::uint32_t n = 2; n <= 300; ++n) {
    const auto trees = double_tree(n);
    for (std::uint32_t r = 0; r < n; ++r) {
      const std::size_t first = trees[0][r].children.size();
      const std::size_t second = trees[1][r].children.size();
      EXPECT_EQ(first > 0 && second > 0, r == 0 && n % 2 == 1) << r << " of " << n;
      EXPECT_LE(first + second, 2U) << r << " of " << n;
    }
  }
}

}  // namespace
}  // namespace busbar
