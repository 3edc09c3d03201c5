// A collective as the engine runs it: serial latency, strands on links, and a tail.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/base/strand.h"
#include "sim/base/units.h"

namespace busbar {

/// What the profile says about one way (algorithm, protocol, channels) of running one operation on one group.
/// The ideal profile: no base, no hop latency of its own, no cap, one channel per distinct ring.
struct PlanCosts {
  std::int64_t channels = 1;                // in all; spread evenly over the distinct rings
  Time base;                                // once per operation
  std::array<Time, kLinkTypes> hop{};       // per hop that no slice hides, unless the links state their own
  Bandwidth rate = Bandwidth::unlimited();  // all channels together, what the protocol reaches at large sizes
  double half_bytes = 0;  // q_half: chunk per channel and step at which half of it is reached
  double half_exponent = 1;
  double tail_steps = 0;             // the closing local copy, in steps' worth of time
  std::int64_t sms_per_channel = 0;  // on every member GPU, from launch to end
  double memory_bytes_per_byte = 0;  // HBM traffic on a member per byte that one of its flows carries
};

/// How a rate falls with the chunk q that a channel moves per step: 1 + (q_half / q)^g. 1 for q_half = 0.
/// Source: the form fitted to published nccl-tests tables (docs/model.md).
[[nodiscard]] inline double fill_factor(const PlanCosts& costs, double q) {
  if (costs.half_bytes <= 0 || q <= 0) return 1;
  return 1 + std::pow(costs.half_bytes / q, costs.half_exponent);
}

/// Time of the operation = latency, then the strands together until the last ends, then tail.
struct Plan {
  Time latency;
  std::vector<Strand> strands;
  Time tail;
  std::int64_t sms = 0;  // reserved on every member from launch to end
  double memory_bytes_per_byte = 0;
  std::int64_t channels = 0;
};

/// Requires: bytes a multiple of what the kind needs (checked by the readers); `routes.ranks` >= 1.
struct PlanRequest {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;  // nccl-tests' size
  const GroupRoutes* routes = nullptr;
  PlanCosts costs;
};

/// The latency of one hop: what its links state, else the profile's for its class.
[[nodiscard]] inline Time hop_latency(const Hop& hop, const PlanCosts& costs) {
  return hop.latency ? *hop.latency : costs.hop[static_cast<std::size_t>(hop.link)];
}

/// The longest chain of `steps` consecutive hops round a ring: a chunk that starts at the worst place.
/// Cost: O(hops). Example: 2(n-1) steps on a uniform ring: 2(n-1) alpha.
[[nodiscard]] Time longest_path(std::span<const Hop> ring, std::int64_t steps, const PlanCosts& costs);

/// Ring algorithms differ in how many steps a chunk makes: latency of the longest path; one strand per
/// distinct ring with volume steps x S/(n c) and every hop's usage; the tail. Shared by all ring_*.cpp.
[[nodiscard]] Plan ring_plan(const PlanRequest& request, std::int64_t steps);

}  // namespace busbar
