// A collective as a list of sends of chunks: what an algorithm does, step by step, for small groups and for
// teaching.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"

namespace busbar {

/// The group that an algorithm runs on, as far as its steps depend on it.
struct GroupShape {
  std::uint32_t ranks = 0;
  std::uint32_t root = 0;
  std::vector<std::vector<std::uint32_t>> hosts;  // members by host; empty: one host
};

/// Member `from` sends chunk `chunk` as it holds it to `to`, which copies it or reduces it into its own.
struct Send {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunk = 0;
  bool reduce = false;
  std::uint32_t round = 0;           // rounds never fall along the list
  std::vector<std::uint32_t> after;  // earlier sends of either rank that must have arrived first
};

/// A chunk is 1/chunks of the operation's size (all_to_all: block (s, d) of n x n is chunk s n + d, S/n each;
/// send_recv: the whole message). Before: all_reduce, reduce_scatter, reduce, barrier: every rank holds every
/// chunk, its own contribution. all_gather, gather, send_recv: rank r holds chunk r. broadcast, scatter: the
/// root holds all. all_to_all: rank s holds (s, d).
struct Schedule {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 0;
  std::uint32_t chunks = 0;
  std::uint32_t rounds = 0;
  std::uint32_t root = 0;
  std::vector<Send> sends;
};

/// The share of the operation's size that one chunk is (a message of send_recv: all of it; a barrier:
/// nothing).
[[nodiscard]] double chunk_share(const Schedule& schedule);

/// What a rank holds of one chunk: how often each rank's contribution is in it. Empty: undefined.
using Contributions = std::vector<std::uint32_t>;

/// holdings[rank][chunk] after the schedule has run round by round, on the state that `Schedule` says comes
/// before. Cost: O(sends x ranks).
[[nodiscard]] std::vector<std::vector<Contributions>> run_symbolically(const Schedule& schedule);

/// "" if every rank ends with what the operation promises (other chunks are undefined), every `after` is an
/// earlier round's send of one of the two ranks, rounds are in order, and nobody sends to itself or what it
/// does not hold; else one sentence on the first breach.
[[nodiscard]] std::string contract_breach(const Schedule& schedule);

/// Chunks that each rank sends.
[[nodiscard]] std::vector<std::uint64_t> chunks_sent(const Schedule& schedule);

}  // namespace busbar
