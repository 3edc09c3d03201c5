// Point to point: every route of the request carries S, each at its own rate (a group of neighbours is
// nccl-tests' sendrecv, one route is a send of a step).
#include <algorithm>

#include "sim/collectives/algorithm.h"

namespace busbar {

Schedule send_recv_schedule(std::uint32_t ranks) {
  Schedule s{.kind = CollectiveKind::kSendRecv, .ranks = ranks, .chunks = ranks};
  if (ranks > 1) append_ring_rounds(s, 0, 1, false);
  return s;
}

Plan send_recv_plan(const PlanRequest& request) {
  const PlanCosts& costs = request.costs;
  if (request.routes->ranks <= 1) return {};
  Plan plan{.latency = costs.base,
            .sms = costs.sms_per_channel * costs.channels,
            .memory_bytes_per_byte = costs.memory_bytes_per_byte,
            .channels = costs.channels};
  Time hop;
  for (const PairRoute& route : request.routes->neighbours)
    hop = std::max(hop, hop_latency(route.hop, costs));
  plan.latency += hop;
  if (request.bytes.count() == 0) return plan;
  const double q = request.bytes.as_double() / static_cast<double>(costs.channels);
  const Bandwidth cap = costs.rate / fill_factor(costs, q);
  for (const PairRoute& route : request.routes->neighbours)
    plan.strands.push_back({.volume = request.bytes.as_double(), .cap = cap, .usage = route.usage});
  return plan;
}

}  // namespace busbar
