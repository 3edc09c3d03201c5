// A collective as the engine runs it: serial latency, strands on links, and a tail.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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
  std::array<Time, kTransports> hop{};      // per hop that no slice hides, unless the links state their own
  Bandwidth rate = Bandwidth::unlimited();  // all channels together, what the protocol reaches at large sizes
  double half_bytes = 0;  // q_half: chunk per channel and step at which half of it is reached
  double half_exponent = 1;
  double half_message = 0;  // message at which half the rate is reached (pipelines), with half_exponent
  double tail_steps = 0;    // the closing local copy, in steps' worth of time
  /// By transport: factor on the latencies that links state themselves.
  std::array<double, kTransports> stated = [] {
    std::array<double, kTransports> ones{};
    ones.fill(1);
    return ones;
  }();
  double chain_fill = 1;        // chunks of S / n that the last one of a chain waits for at each further hop
  std::string_view rate_bound;  // what `rate` stands for, in words: "NICs", "LL128 on NVLink"
  std::int64_t sms_per_channel = 0;  // on every member GPU, from launch to end
  double memory_bytes_per_byte = 0;  // HBM traffic on a member per byte that one of its flows carries
  bool operator==(const PlanCosts&) const = default;
};

/// The exponent g of 1 + (half / x)^g: below half an exponent above 1 counts as 1, or less would take longer.
[[nodiscard]] inline double fill_exponent(const PlanCosts& costs, double half, double x) {
  return x < half ? std::min(costs.half_exponent, 1.0) : costs.half_exponent;
}

/// How a rate falls with the bytes x of a pipeline: 1 + (half / x)^g. 1 for half = 0.
/// Source: the form fitted to published nccl-tests tables (docs/model.md).
[[nodiscard]] inline double fill_factor(const PlanCosts& costs, double half, double x) {
  if (half <= 0 || x <= 0) return 1;
  return 1 + std::pow(half / x, fill_exponent(costs, half, x));
}

/// The same with the chunk q that a channel moves per step: 1 + (q_half / q)^g.
[[nodiscard]] inline double fill_factor(const PlanCosts& costs, double q) {
  return fill_factor(costs, costs.half_bytes, q);
}

/// Latency, then strands together until the last ends.
struct PlanPhase {
  Time latency;
  std::vector<Strand> strands;
};

/// Time of the operation = its phases one after the other, then the tail.
struct Plan {
  std::vector<PlanPhase> phases;
  Time tail;
  std::int64_t sms = 0;  // reserved on every member from launch to end
  double memory_bytes_per_byte = 0;
  std::int64_t channels = 0;
  std::string_view rate_bound;
  /// The strands of all phases.
  [[nodiscard]] std::vector<Strand> strands() const {
    std::vector<Strand> all;
    for (const PlanPhase& phase : phases) all.insert(all.end(), phase.strands.begin(), phase.strands.end());
    return all;
  }
  /// The time that moves no bytes.
  [[nodiscard]] Time latency() const {
    Time sum = tail;
    for (const PlanPhase& phase : phases) sum += phase.latency;
    return sum;
  }
};

/// Transfers of one round between members; `weight` below 1 where a flow carries less than the round's share.
struct RoundTransfer {
  std::uint32_t from = 0, to = 0;
  double weight = 1;
};

/// Part of an algorithm that works in rounds: transfers that happen together, `times` times in a row.
struct Round {
  std::vector<RoundTransfer> transfers;
  bool all_pairs = false;  // instead of `transfers`: everybody to everybody else
  double share = 0;        // of the operation's bytes that a full flow carries, per round
  std::uint32_t times = 1;
};

/// Requires: bytes a multiple of what the kind needs (checked by the readers); `routes.ranks` >= 1.
struct PlanRequest {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;  // nccl-tests' size
  const GroupRoutes* routes = nullptr;
  std::span<const RingChannel> channels;  // rings or chains, as the algorithm's wiring asks
  std::span<const RoundRoutes> rounds;
  std::span<const PipelineChannel> pipelines;
  std::span<const PairRoute> neighbours;  // member i to i + 1, the last to 0
  PlanCosts costs;
};

/// k times as long, rounded to the nearest picosecond; exactly `time` for k = 1.
[[nodiscard]] inline Time scaled(Time time, double k) {
  return k == 1 ? time : Time::from_seconds(time.seconds() * k);
}

/// The latency of one hop: what its links state, else the profile's for its class.
[[nodiscard]] inline Time hop_latency(const Hop& hop, const PlanCosts& costs) {
  const auto transport = static_cast<std::size_t>(hop.transport);
  return hop.latency ? scaled(*hop.latency, costs.stated[transport]) : costs.hop[transport];
}

/// The longest chain of `steps` consecutive hops round a ring: a chunk that starts at the worst place.
/// Cost: O(hops). Example: 2(n-1) steps on a uniform ring: 2(n-1) alpha.
[[nodiscard]] Time longest_path(std::span<const Hop> ring, std::int64_t steps, const PlanCosts& costs);

/// Ring algorithms differ in how many steps a chunk makes: latency of the longest path; one strand per
/// distinct ring with volume steps x S/(n c) and every hop's usage; the tail. Shared by all ring_*.cpp.
[[nodiscard]] Plan ring_plan(const PlanRequest& request, std::int64_t steps);

/// A pipelined chain of all members (broadcast, reduce): latency of all its hops; one strand per distinct
/// chain with volume S/c; the time that the last chunk needs through the chain's other hops as tail.
[[nodiscard]] Plan chain_plan(const PlanRequest& request);

/// Trees and reductions inside switches: latency of the longest path; one strand per distinct channel with
/// volume share x S / c and the usage of all its edges. Given rounds instead, `rounds_plan`.
[[nodiscard]] Plan pipeline_plan(const PlanRequest& request);

/// One phase per run of equal rounds: `times` latencies, and one strand with all transfers of the round.
[[nodiscard]] Plan rounds_plan(const PlanRequest& request);

}  // namespace busbar
