// One operation of a sweep, message by message.
#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/replay/chunk_executor.h"

namespace busbar {

namespace {

constexpr std::uint32_t kMostRanks = 64;
constexpr std::size_t kMostMessages = 200000;

using Routes = std::map<std::pair<std::uint32_t, std::uint32_t>, PairRoute>;

bool in_rings(Wiring wiring) {
  return wiring == Wiring::kRings || wiring == Wiring::kChainsFromRoot || wiring == Wiring::kChainsToRoot;
}

// A channel's schedule runs over places in its order: rank p of the schedule is order[p]. A chain from the
// root starts at place 0, one into the root ends at the last place.
Schedule along_channel(const PlanCache::Detail& d) {
  GroupShape shape{.ranks = d.shape.ranks};
  if (d.algorithm->wiring == Wiring::kChainsToRoot) shape.root = shape.ranks - 1;
  return d.algorithm->schedule(shape);
}

std::vector<ChunkLane> channel_lanes(const PlanCache::Detail& d, Bytes bytes, Placement& placement) {
  std::vector<ChunkLane> lanes;
  const std::vector<Strand> strands = d.plan.strands();
  for (std::size_t rail = 0; rail < d.channels.size(); ++rail) {
    ChunkLane lane{.schedule = along_channel(d)};
    if (!strands.empty()) {
      lane.multiplicity = strands[rail].multiplicity;
      lane.cap = strands[rail].cap;
    }
    lane.chunk_bytes = bytes.as_double() * chunk_share(lane.schedule) / static_cast<double>(d.plan.channels);
    const std::vector<PairRoute> hops = placement.hops_of(d.members, rail, d.channels[rail]);
    for (std::uint32_t p = 0; p < hops.size(); ++p) lane.routes[{p, (p + 1) % d.shape.ranks}] = hops[p];
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

std::vector<ChunkLane> pair_lanes(const PlanCache::Detail& d, Bytes bytes, Placement& placement) {
  ChunkLane lane{.schedule = d.algorithm->schedule(d.shape)};
  const std::vector<Strand> strands = d.plan.strands();
  if (!strands.empty()) lane.cap = strands.front().cap;
  lane.chunk_bytes = bytes.as_double() * chunk_share(lane.schedule);
  for (const Send& send : lane.schedule.sends) {
    PairRoute& route = lane.routes[{send.from, send.to}];
    if (route.usage.empty()) route = placement.pair(d.members[send.from], d.members[send.to]);
  }
  return {lane};
}

}  // namespace

Time chunk_time(const PlanCache::Detail& d, Bytes bytes, Placement& placement) {
  if (d.shape.ranks < 2) return Time::zero();
  if (d.shape.ranks > kMostRanks)
    throw Error({.where = "--detail chunk",
                 .expected = fmt::format("at most {} ranks", kMostRanks),
                 .given = fmt::format("{}", d.shape.ranks)});
  if (is_pipeline(d.algorithm->wiring))
    throw Error({.where = "--detail chunk",
                 .message = fmt::format("{} is not run message by message: chunks do not follow trees and "
                                        "reductions inside switches",
                                        d.algorithm->name),
                 .suggestion = "--algorithm ring is"});
  const std::vector<ChunkLane> lanes =
      in_rings(d.algorithm->wiring) ? channel_lanes(d, bytes, placement) : pair_lanes(d, bytes, placement);
  std::size_t messages = 0;
  for (const ChunkLane& lane : lanes) messages += lane.schedule.sends.size();
  if (messages > kMostMessages)
    throw Error({.where = "--detail chunk",
                 .expected = fmt::format("at most {} messages", kMostMessages),
                 .given = fmt::format("{}", messages)});
  const Time copy = d.algorithm->wiring == Wiring::kRings ? d.plan.tail : Time::zero();
  return d.costs.base + execute_chunks(lanes, placement.capacities(), d.costs) + copy;
}

}  // namespace busbar
