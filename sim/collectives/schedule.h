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

/// Participants from `ranks` on are switches that reduce and copy: ranks + h is the NVSwitch of host h (in
/// the order of GroupShape::hosts; 0 where all are on one), ranks + hosts the reducing switch of the network.
[[nodiscard]] inline std::uint32_t host_count(const GroupShape& shape) {
  return shape.hosts.empty() ? 1 : static_cast<std::uint32_t>(shape.hosts.size());
}
[[nodiscard]] inline std::uint32_t host_switch(const GroupShape& shape, std::uint32_t host) {
  return shape.ranks + host;
}
[[nodiscard]] inline std::uint32_t network_switch(const GroupShape& shape) {
  return shape.ranks + host_count(shape);
}

/// Participant `from` sends chunk `chunk` as it holds it to `to`, which copies it or reduces it into its own.
/// A reduction into nothing is a copy.
struct Send {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunk = 0;
  bool reduce = false;
  std::uint32_t round = 0;           // rounds never fall along the list
  std::vector<std::uint32_t> after;  // earlier sends of either one that must have arrived first
};

/// A chunk is 1/chunks of the operation's size (all_to_all: block (s, d) of n x n is chunk s n + d, S/n each;
/// send_recv: the whole message). Before: all_reduce, reduce_scatter, reduce, barrier: every rank holds every
/// chunk, its own contribution. all_gather, gather, send_recv: rank r holds chunk r. broadcast, scatter: the
/// root holds all. all_to_all: rank s holds (s, d). Switches hold nothing, and owe nothing at the end.
struct Schedule {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint32_t ranks = 0;
  std::uint32_t chunks = 0;
  std::uint32_t rounds = 0;
  std::uint32_t root = 0;
  std::vector<Send> sends;
  std::uint32_t switches = 0;  // participants ranks .. ranks + switches - 1
};

/// The share of the operation's size that one chunk is (a message of send_recv: all of it; a barrier:
/// nothing).
[[nodiscard]] double chunk_share(const Schedule& schedule);

/// What a participant holds of one chunk: how often each rank's contribution is in it. Empty: undefined.
using Contributions = std::vector<std::uint32_t>;

/// holdings[participant][chunk] after the schedule has run round by round, on the state that `Schedule` says
/// comes before. Cost: O(sends x ranks).
[[nodiscard]] std::vector<std::vector<Contributions>> run_symbolically(const Schedule& schedule);

/// "" if every rank ends with what the operation promises (other chunks are undefined), every `after` is an
/// earlier round's send of one of the two participants, rounds are in order, and nobody sends to itself or
/// what it does not hold; else one sentence on the first breach.
[[nodiscard]] std::string contract_breach(const Schedule& schedule);

/// Chunks that each rank sends; what switches send is not counted.
[[nodiscard]] std::vector<std::uint64_t> chunks_sent(const Schedule& schedule);

}  // namespace busbar
