#include "sim/collectives/plan.h"

#include <algorithm>

#include "sim/base/error.h"

namespace busbar {

Time longest_path(std::span<const Hop> ring, std::int64_t steps, const PlanCosts& costs) {
  if (ring.empty() || steps <= 0) return Time::zero();
  const auto n = static_cast<std::int64_t>(ring.size());
  Time lap;
  for (const Hop& hop : ring) lap += hop_latency(hop, costs);
  // Whole laps, then the best window of what is left over.
  const std::int64_t window = steps % n;
  Time sum;
  for (std::int64_t i = 0; i < window; ++i) sum += hop_latency(ring[static_cast<std::size_t>(i)], costs);
  Time best = sum;
  for (std::int64_t i = 0; i + 1 < n && window > 0; ++i) {
    sum += hop_latency(ring[static_cast<std::size_t>((i + window) % n)], costs) -
           hop_latency(ring[static_cast<std::size_t>(i)], costs);
    best = std::max(best, sum);
  }
  return lap * (steps / n) + best;
}

Plan ring_plan(const PlanRequest& request, std::int64_t steps) {
  const GroupRoutes& routes = *request.routes;
  const PlanCosts& costs = request.costs;
  if (routes.ranks <= 1) return {};
  BUSBAR_CHECK(!routes.rings.empty());
  const auto rings = static_cast<std::int64_t>(routes.rings.size());
  const std::int64_t per_ring = std::max<std::int64_t>(1, costs.channels / rings);
  const std::int64_t channels = per_ring * rings;

  Plan plan;
  plan.channels = channels;
  plan.sms = costs.sms_per_channel * channels;
  plan.memory_bytes_per_byte = costs.memory_bytes_per_byte;
  plan.latency = costs.base;
  Time path;
  for (const RingChannel& ring : routes.rings) path = std::max(path, longest_path(ring.hops, steps, costs));
  plan.latency += path;
  if (request.bytes.count() == 0) return plan;

  // q = S / (n c): what one channel moves per step.
  const double q =
      request.bytes.as_double() / (static_cast<double>(routes.ranks) * static_cast<double>(channels));
  const Bandwidth cap = costs.rate / (static_cast<double>(channels) * fill_factor(costs, q));
  for (const RingChannel& ring : routes.rings)
    plan.strands.push_back({.volume = static_cast<double>(steps) * q,
                            .cap = cap,
                            .multiplicity = per_ring,
                            .usage = ring.usage});
  if (costs.tail_steps > 0) plan.tail = Time::from_seconds(costs.tail_steps * q / cap.Bps());
  return plan;
}

}  // namespace busbar
