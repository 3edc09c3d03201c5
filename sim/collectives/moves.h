// Rounds of moves: one list per algorithm, from which both its schedule and its routes are made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/collectives/double_tree.h"
#include "sim/collectives/plan.h"
#include "sim/collectives/schedule.h"

namespace busbar {

/// `from` passes `count` chunks on to `to`: first, first + stride, first + 2 stride, ... modulo all chunks.
struct Move {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  bool reduce = false;
  std::uint32_t stride = 1;
};

using MoveRounds = std::vector<std::vector<Move>>;

/// `head` (kind, ranks, chunks, switches) with the moves as its sends. A send waits for all that its sender
/// has received of its chunk, and for all that the round before brought its sender.
[[nodiscard]] Schedule schedule_of(Schedule head, const MoveRounds& rounds);

/// The same moves as transfers, of 1 / chunks of the operation's bytes per chunk. Cost: O(moves).
[[nodiscard]] std::vector<Round> rounds_of(const MoveRounds& rounds, std::uint32_t chunks);

/// One chunk's way up a tree and down again.
struct TreePath {
  const Tree& tree;
  std::span<const std::uint32_t> participants;  // by position
  std::uint32_t chunk = 0;
};

/// All-reduce of one chunk over a tree, from round `first` on: everybody passes its sum to its parent in the
/// round after the last child's has come, then the root's sum goes down level by level: 2 depth(tree) rounds.
void add_all_reduce(MoveRounds& rounds, std::size_t first, const TreePath& path);

}  // namespace busbar
