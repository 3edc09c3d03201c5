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

namespace {

Plan empty_plan(const PlanCosts& costs, std::int64_t channels) {
  Plan plan;
  plan.channels = channels;
  plan.sms = costs.sms_per_channel * channels;
  plan.memory_bytes_per_byte = costs.memory_bytes_per_byte;
  plan.rate_bound = costs.rate_bound;
  return plan;
}

// Channels are spread evenly over the distinct rings: how many each stands for, and how many there are then.
struct Spread {
  std::int64_t each, all;
};

Spread spread(std::size_t distinct, std::int64_t channels) {
  BUSBAR_CHECK(distinct > 0);
  const auto rings = static_cast<std::int64_t>(distinct);
  const std::int64_t each = std::max<std::int64_t>(1, channels / rings);
  return {each, each * rings};
}

Time worst_hop(std::span<const Hop> hops, const PlanCosts& costs) {
  Time worst;
  for (const Hop& hop : hops) worst = std::max(worst, hop_latency(hop, costs));
  return worst;
}

}  // namespace

Plan ring_plan(const PlanRequest& request, std::int64_t steps) {
  const PlanCosts& costs = request.costs;
  if (request.routes->ranks <= 1) return {};
  const auto [multiplicity, channels] = spread(request.channels.size(), costs.channels);

  Plan plan = empty_plan(costs, channels);
  PlanPhase phase;
  for (const RingChannel& ring : request.channels)
    phase.latency = std::max(phase.latency, longest_path(ring.hops, steps, costs));
  phase.latency += costs.base;
  if (request.bytes.count() > 0) {
    // q = S / (n c): what one channel moves per step.
    const double q = request.bytes.as_double() /
                     (static_cast<double>(request.routes->ranks) * static_cast<double>(channels));
    const Bandwidth cap = costs.rate / (static_cast<double>(channels) * fill_factor(costs, q));
    for (const RingChannel& ring : request.channels)
      phase.strands.push_back({.volume = static_cast<double>(steps) * q,
                               .cap = cap,
                               .multiplicity = multiplicity,
                               .usage = ring.usage});
    if (costs.tail_steps > 0) plan.tail = Time::from_seconds(costs.tail_steps * q / cap.Bps());
  }
  plan.phases.push_back(std::move(phase));
  return plan;
}

Plan chain_plan(const PlanRequest& request) {
  const PlanCosts& costs = request.costs;
  if (request.routes->ranks <= 1) return {};
  const auto [multiplicity, channels] = spread(request.channels.size(), costs.channels);
  Plan plan = empty_plan(costs, channels);
  PlanPhase phase;
  for (const RingChannel& chain : request.channels)
    phase.latency = std::max(phase.latency,
                             longest_path(chain.hops, static_cast<std::int64_t>(chain.hops.size()), costs));
  phase.latency += costs.base;
  if (request.bytes.count() > 0) {
    const double volume = request.bytes.as_double() / static_cast<double>(channels);
    const double natural = volume / request.routes->ranks;
    const Bandwidth cap = costs.rate / (static_cast<double>(channels) * fill_factor(costs, natural));
    double slowest = cap.Bps();
    for (const RingChannel& chain : request.channels) {
      phase.strands.push_back(
          {.volume = volume, .cap = cap, .multiplicity = multiplicity, .usage = chain.usage});
      slowest = std::min(slowest, chain.lone_rate.Bps() / static_cast<double>(multiplicity));
    }
    // A chain of n-1 hops is full after n-2 chunks.
    plan.tail = Time::from_seconds(costs.chain_fill * (request.routes->ranks - 2.0) * natural / slowest);
  }
  plan.phases.push_back(std::move(phase));
  return plan;
}

// A channel of multiplicity m is m strands, each with 1/m of its bytes and of its rate.
Plan pipeline_plan(const PlanRequest& request) {
  if (!request.rounds.empty()) return rounds_plan(request);
  const PlanCosts& costs = request.costs;
  if (request.routes->ranks <= 1) return {};
  const auto [each, channels] = spread(request.pipelines.size(), costs.channels);
  Plan plan = empty_plan(costs, channels);
  PlanPhase phase;
  const double bytes = request.bytes.as_double();
  const double fill = fill_factor(costs, costs.half_message, bytes);
  for (const PipelineChannel& channel : request.pipelines) {
    Time path;
    for (const Hop& hop : channel.path) path += hop_latency(hop, costs);
    phase.latency = std::max(phase.latency, path);
    const double part = channel.share / static_cast<double>(each);
    if (bytes > 0)
      phase.strands.push_back({.volume = bytes * part,
                               .cap = costs.rate * (part / fill),
                               .multiplicity = each,
                               .usage = channel.usage});
  }
  phase.latency += costs.base;
  plan.phases.push_back(std::move(phase));
  return plan;
}

Plan rounds_plan(const PlanRequest& request) {
  const PlanCosts& costs = request.costs;
  if (request.routes->ranks <= 1) return {};
  Plan plan = empty_plan(costs, costs.channels);
  for (const RoundRoutes& round : request.rounds) {
    PlanPhase phase{.latency = worst_hop(round.hops, costs) * std::int64_t{round.times}};
    if (plan.phases.empty()) phase.latency += costs.base;
    const double q = request.bytes.as_double() * round.share;
    if (q > 0)
      phase.strands.push_back(
          {.volume = q * round.times,
           .cap = costs.rate / fill_factor(costs, q / static_cast<double>(costs.channels)),
           .usage = round.usage});
    plan.phases.push_back(std::move(phase));
  }
  return plan;
}

}  // namespace busbar
