#include "sim/collectives/moves.h"

#include <algorithm>

namespace busbar {

namespace {

using Numbers = std::vector<std::uint32_t>;

// What has reached each participant.
struct Arrivals {
  std::vector<std::vector<Numbers>> of_chunk;  // [participant][chunk], since the last copy
  std::vector<Numbers> last_round;             // [participant]
};

Numbers awaited(const Arrivals& arrivals, const Send& send) {
  Numbers all = arrivals.of_chunk[send.from][send.chunk];
  const Numbers& last = arrivals.last_round[send.from];
  all.insert(all.end(), last.begin(), last.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void append(Schedule& s, const Move& move, const Arrivals& arrivals) {
  for (std::uint64_t k = 0; k < move.count; ++k) {
    Send send{.from = move.from,
              .to = move.to,
              .chunk = static_cast<std::uint32_t>((move.first + k * move.stride) % s.chunks),
              .reduce = move.reduce,
              .round = s.rounds};
    send.after = awaited(arrivals, send);
    s.sends.push_back(std::move(send));
  }
}

void arrive(const Schedule& s, std::size_t begin, Arrivals& arrivals) {
  for (Numbers& numbers : arrivals.last_round) numbers.clear();
  for (std::size_t i = begin; i < s.sends.size(); ++i) {
    const Send& send = s.sends[i];
    Numbers& numbers = arrivals.of_chunk[send.to][send.chunk];
    if (!send.reduce) numbers.clear();
    numbers.push_back(static_cast<std::uint32_t>(i));
    arrivals.last_round[send.to].push_back(static_cast<std::uint32_t>(i));
  }
}

// Rounds that a position waits for: the length of the longest way down from it.
Numbers heights(const Tree& tree, const Numbers& down) {
  Numbers order(tree.size());
  for (std::uint32_t r = 0; r < order.size(); ++r) order[r] = r;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return down[a] > down[b]; });
  Numbers up(tree.size(), 0);
  for (const std::uint32_t r : order)
    if (tree[r].parent) up[*tree[r].parent] = std::max(up[*tree[r].parent], up[r] + 1);
  return up;
}

}  // namespace

Schedule schedule_of(Schedule s, const MoveRounds& rounds) {
  const std::size_t participants = std::size_t{s.ranks} + s.switches;
  Arrivals arrivals{.of_chunk = {participants, std::vector<Numbers>(s.chunks)},
                    .last_round = std::vector<Numbers>(participants)};
  for (const std::vector<Move>& round : rounds) {
    const std::size_t begin = s.sends.size();
    for (const Move& move : round) append(s, move, arrivals);
    arrive(s, begin, arrivals);
    ++s.rounds;
  }
  return s;
}

std::vector<Round> rounds_of(const MoveRounds& moves, std::uint32_t chunks) {
  std::vector<Round> rounds;
  for (const std::vector<Move>& round : moves) {
    std::uint32_t most = 0;
    for (const Move& move : round) most = std::max(most, move.count);
    Round& made = rounds.emplace_back();
    made.share = static_cast<double>(most) / chunks;
    for (const Move& move : round)
      made.transfers.push_back({move.from, move.to, static_cast<double>(move.count) / most});
  }
  return rounds;
}

void add_all_reduce(MoveRounds& rounds, std::size_t first, const TreePath& path) {
  const Numbers down = depths(path.tree);
  const Numbers up = heights(path.tree, down);
  const std::size_t turn = first + depth(path.tree);
  const std::size_t end = turn + depth(path.tree);
  if (rounds.size() < end) rounds.resize(end);
  for (std::uint32_t r = 0; r < path.tree.size(); ++r) {
    if (!path.tree[r].parent) continue;
    const std::uint32_t child = path.participants[r];
    const std::uint32_t parent = path.participants[*path.tree[r].parent];
    rounds[first + up[r]].push_back({.from = child, .to = parent, .first = path.chunk, .reduce = true});
    rounds[turn + down[r] - 1].push_back({.from = parent, .to = child, .first = path.chunk});
  }
}

}  // namespace busbar
