#include "sim/replay/lone_run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/engine/event_queue.h"
#include "sim/engine/strand_set.h"

namespace busbar {

LoneRun run_alone(std::span<const Strand> plan, std::span<const double> capacity) {
  LoneRun run;
  StrandSet set({capacity.begin(), capacity.end()});
  EventQueue queue;
  std::vector<std::size_t> number_of_slot;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const StrandId id = set.add(plan[i], Time::zero());
    number_of_slot.resize(std::max(number_of_slot.size(), id.index() + 1));
    number_of_slot[id.index()] = i;
  }
  for (;;) {
    for (const StrandSet::Ending& e : set.settle(run.transfer))
      queue.push(e.at, {0, e.strand.value(), e.stamp});
    if (queue.empty()) break;
    run.transfer = queue.next_time();
    while (!queue.empty() && queue.next_time() == run.transfer) {
      const Event event = queue.pop();
      const StrandId id(event.index);
      if (!set.is_current(id, event.stamp)) continue;
      run.last = number_of_slot[id.index()];
      run.bottleneck = set.bottleneck(id);
      set.finish(id);
    }
  }
  for (const ResourceTotals& t : set.totals()) run.peaks.push_back(t.peak_share);
  return run;
}

// Phase by phase; what held the longest one counts.
LoneRun run_alone(const Plan& plan, std::span<const double> capacity) {
  LoneRun whole;
  Time longest = Time::picoseconds(-1);
  std::size_t before = 0;
  for (const PlanPhase& phase : plan.phases) {
    const LoneRun run = run_alone(std::span<const Strand>(phase.strands), capacity);
    whole.transfer += run.transfer;
    whole.peaks.resize(run.peaks.size());
    for (std::size_t i = 0; i < run.peaks.size(); ++i)
      whole.peaks[i] = std::max(whole.peaks[i], run.peaks[i]);
    if (run.transfer > longest) {
      longest = run.transfer;
      whole.last = before + run.last;
      whole.bottleneck = run.bottleneck;
    }
    before += phase.strands.size();
  }
  return whole;
}

TransferTimes::Shape TransferTimes::shape_of(std::span<const Strand> strands,
                                             std::span<const std::uint32_t> sort_of) {
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, std::int64_t>>>
      users;  // by link: strands, flows
  for (std::size_t s = 0; s < strands.size(); ++s)
    for (const ResourceUse& use : strands[s].usage) users[use.resource.value()].emplace_back(s, use.flows);
  Shape shape;
  shape.uses.resize(strands.size());
  std::map<std::vector<std::pair<std::size_t, std::int64_t>>, std::size_t> numbers;
  for (const auto& [link, by] : users) {
    const auto [it, is_new] = numbers.try_emplace(by, shape.sorts.size());
    if (is_new) {
      shape.sorts.emplace_back();
      for (const auto& [strand, flows] : by)
        shape.uses[strand].push_back({ResourceId::from_index(it->second), flows});
    }
    std::vector<std::uint32_t>& sorts = shape.sorts[it->second];
    if (std::find(sorts.begin(), sorts.end(), sort_of[link]) == sorts.end()) sorts.push_back(sort_of[link]);
  }
  return shape;
}

namespace {

// No link holds a strand at its own cap back: each takes V / cap.
std::optional<Time> time_at_caps(std::span<const Strand> strands, std::span<const double> capacity) {
  constexpr double kFull = 1 - 1e-9;  // what rounding makes of full: then rates are found
  std::vector<double> load(capacity.size(), 0);
  Time longest;
  for (const Strand& strand : strands) {
    const double cap = strand.cap.Bps();
    if (!std::isfinite(cap)) return std::nullopt;
    for (const ResourceUse& use : strand.usage)
      load[use.resource.index()] += cap * static_cast<double>(strand.multiplicity * use.flows) / kOneFlow;
    longest = std::max(longest, strand.volume == 0 ? Time::zero() : Time::from_seconds(strand.volume / cap));
  }
  for (std::size_t l = 0; l < load.size(); ++l)
    if (load[l] > kFull * capacity[l]) return std::nullopt;
  return longest;
}

}  // namespace

Time TransferTimes::phase_alone(std::span<const Strand> phase, std::span<const std::uint32_t> sort_of,
                                std::span<const double> capacity) {
  std::vector<const ResourceUse*> key;
  key.reserve(phase.size());
  for (const Strand& strand : phase) key.push_back(strand.usage.data());
  auto it = shapes_.find(key);
  if (it == shapes_.end()) it = shapes_.emplace(std::move(key), shape_of(phase, sort_of)).first;
  const Shape& shape = it->second;
  std::vector<double> narrowest;
  narrowest.reserve(shape.sorts.size());
  for (const std::vector<std::uint32_t>& sorts : shape.sorts) {
    double least = capacity[sorts.front()];
    for (const std::uint32_t sort : sorts) least = std::min(least, capacity[sort]);
    narrowest.push_back(least);
  }
  std::vector<Strand> strands(phase.begin(), phase.end());
  for (std::size_t s = 0; s < strands.size(); ++s) strands[s].usage = shape.uses[s];
  if (const auto time = time_at_caps(strands, narrowest)) return *time;
  return run_alone(std::span<const Strand>(strands), narrowest).transfer;
}

Time TransferTimes::alone(const Plan& plan, std::span<const std::uint32_t> sort_of,
                          std::span<const double> capacity) {
  Time transfer;
  for (const PlanPhase& phase : plan.phases) transfer += phase_alone(phase.strands, sort_of, capacity);
  return transfer;
}

}  // namespace busbar
