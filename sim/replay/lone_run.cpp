#include "sim/replay/lone_run.h"

#include <algorithm>

#include "sim/engine/event_queue.h"
#include "sim/engine/strand_set.h"

namespace busbar {

namespace {

/// Strands on the links that they use, numbered anew from 0 in their old order.
class UsedLinks {
 public:
  UsedLinks(std::span<const Strand> strands, std::span<const double> capacity)
      : strands_(strands.begin(), strands.end()) {
    for (const Strand& strand : strands) uses_.insert(uses_.end(), strand.usage.begin(), strand.usage.end());
    std::vector<ResourceId> links;
    for (const ResourceUse& use : uses_) links.push_back(use.resource);
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (const ResourceId link : links) capacity_.push_back(capacity[link.index()]);
    for (ResourceUse& use : uses_)
      use.resource = ResourceId::from_index(static_cast<std::size_t>(
          std::lower_bound(links.begin(), links.end(), use.resource) - links.begin()));
    std::size_t at = 0;
    for (Strand& strand : strands_) {
      const std::size_t size = strand.usage.size();
      strand.usage = std::span<const ResourceUse>(uses_).subspan(at, size);
      at += size;
    }
  }
  UsedLinks(const UsedLinks&) = delete;  // strands point at the uses
  UsedLinks& operator=(const UsedLinks&) = delete;
  [[nodiscard]] const std::vector<Strand>& strands() const { return strands_; }
  [[nodiscard]] const std::vector<double>& capacity() const { return capacity_; }

 private:
  std::vector<Strand> strands_;
  std::vector<ResourceUse> uses_;
  std::vector<double> capacity_;
};

}  // namespace

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

Time transfer_alone(const Plan& plan, std::span<const double> capacity) {
  Time transfer;
  for (const PlanPhase& phase : plan.phases) {
    const UsedLinks used(phase.strands, capacity);
    transfer += run_alone(std::span<const Strand>(used.strands()), used.capacity()).transfer;
  }
  return transfer;
}

}  // namespace busbar
