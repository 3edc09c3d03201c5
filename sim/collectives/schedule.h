// A collective as a list of sends of chunks: what an algorithm does, step by step, for small groups and for
// teaching.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"

namespace busbar {

/// Member `from` sends chunk `chunk` as it holds it to `to`, which copies it or reduces it into its own.
struct Send {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunk = 0;
  bool reduce = false;
  std::uint32_t round = 0;           // sends of one round are independent
  std::vector<std::uint32_t> after;  // earlier sends that must have arrived first
};

/// Rounds are numbered from 0 and never fall along `sends`. A chunk is 1/chunks of the operation's size.
/// Before: all_reduce, reduce_scatter, barrier: every rank holds every chunk, its own contribution.
/// all_gather: rank r holds chunk r. send_recv: rank r holds chunk r, and rank r + 1 is to get it.
struct Schedule {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 0;
  std::uint32_t chunks = 0;
  std::uint32_t rounds = 0;
  std::vector<Send> sends;
};

/// What a rank holds of one chunk: how often each rank's contribution is in it. Empty: undefined.
using Contributions = std::vector<std::uint32_t>;

/// holdings[rank][chunk] after the schedule has run round by round, on the state that `Schedule` says comes
/// before. Cost: O(sends x ranks).
[[nodiscard]] std::vector<std::vector<Contributions>> run_symbolically(const Schedule& schedule);

/// "" if every rank ends with what the collective promises, every `after` is an earlier round's send to the
/// sender, and rounds are in order; else one sentence on the first breach.
[[nodiscard]] std::string contract_breach(const Schedule& schedule);

/// Chunks that each rank sends.
[[nodiscard]] std::vector<std::uint64_t> chunks_sent(const Schedule& schedule);

}  // namespace busbar
