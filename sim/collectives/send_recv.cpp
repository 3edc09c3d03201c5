// Point to point: every route of the request carries S, each at its own rate (a group of neighbours is
// nccl-tests' sendrecv, one route is a send of a step).
#include <algorithm>
#include <utility>

#include "sim/collectives/rows.h"

namespace busbar {

Schedule send_recv_schedule(const GroupShape& shape) {
  Schedule s{.kind = CollectiveKind::kSendRecv, .ranks = shape.ranks, .chunks = shape.ranks};
  if (shape.ranks > 1) append_ring_rounds(s, 0, 1, false);
  return s;
}

Plan send_recv_plan(const PlanRequest& request) {
  const PlanCosts& costs = request.costs;
  if (request.routes->ranks <= 1) return {};
  Plan plan{.sms = costs.sms_per_channel * costs.channels,
            .memory_bytes_per_byte = costs.memory_bytes_per_byte,
            .channels = costs.channels,
            .rate_bound = costs.rate_bound};
  PlanPhase phase;
  for (const PairRoute& route : request.neighbours)
    phase.latency = std::max(phase.latency, hop_latency(route.hop, costs));
  phase.latency += costs.base;
  if (request.bytes.count() > 0) {
    const Bandwidth cap =
        costs.rate / fill_factor(costs, request.bytes.as_double() / static_cast<double>(costs.channels));
    for (const PairRoute& route : request.neighbours)
      phase.strands.push_back({.volume = request.bytes.as_double(), .cap = cap, .usage = route.usage});
  }
  plan.phases.push_back(std::move(phase));
  return plan;
}

}  // namespace busbar
