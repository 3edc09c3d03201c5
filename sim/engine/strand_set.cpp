#include "sim/engine/strand_set.h"

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

template <class Values>
auto picked(const Values& values, const std::vector<std::uint32_t>& numbers) {
  std::vector<typename Values::value_type> picked;
  if (numbers.empty()) return std::vector<typename Values::value_type>(values.begin(), values.end());
  if (values.size() == 0) return picked;
  picked.reserve(numbers.size());
  for (const std::uint32_t n : numbers) picked.push_back(values[n]);
  return picked;
}

}  // namespace

StrandSet::StrandSet(std::span<const double> capacity, const std::vector<bool>& implied,
                     std::vector<std::uint32_t> used)
    : StrandSet(picked(capacity, used), picked(implied, used)) {
  ids_ = std::move(used);
  resources_ = capacity.size();
}

StrandSet::StrandSet(std::vector<double> capacity, std::vector<bool> implied)
    : resources_(capacity.size()),
      solver_(std::move(capacity)),
      head_(solver_.capacity().size(), kEnd),
      resource_mark_(solver_.capacity().size(), 0),
      implied_(std::move(implied)),
      peak_(solver_.capacity().size(), 0.0) {
  BUSBAR_CHECK(implied_.empty() || implied_.size() == head_.size());
}

std::uint32_t StrandSet::usage_of(const Strand& strand) {
  const auto [it, is_new] =
      usage_index_.try_emplace(strand.usage.data(), static_cast<std::uint32_t>(usages_.size()));
  if (!is_new) return it->second;
  Usage& usage = usages_.emplace_back();
  usage.all = strand.usage;
  number(usage);
  usage.binding = usage.all;
  const auto is_implied = [this](const ResourceUse& use) {
    return !implied_.empty() && implied_[use.resource.index()];
  };
  if (std::none_of(usage.all.begin(), usage.all.end(), is_implied)) return it->second;
  usage.sorted.assign(usage.all.begin(), usage.all.end());
  const auto first_implied = std::stable_partition(usage.sorted.begin(), usage.sorted.end(),
                                                   [&](const ResourceUse& use) { return !is_implied(use); });
  usage.binding =
      std::span(usage.sorted).first(static_cast<std::size_t>(first_implied - usage.sorted.begin()));
  return it->second;
}

void StrandSet::number(Usage& usage) const {
  if (ids_.empty()) return;
  for (const ResourceUse& use : usage.all) {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), use.resource.value());
    BUSBAR_CHECK(at != ids_.end() && *at == use.resource.value());
    usage.numbered.push_back(
        {ResourceId::from_index(static_cast<std::size_t>(at - ids_.begin())), use.flows});
  }
  usage.all = usage.numbered;
}

std::uint32_t StrandSet::take_block(std::size_t size) {
  if (auto it = free_blocks_.find(size); it != free_blocks_.end() && !it->second.empty()) {
    const std::uint32_t block = it->second.back();
    it->second.pop_back();
    return block;
  }
  const auto block = static_cast<std::uint32_t>(nodes_.size());
  nodes_.resize(nodes_.size() + size);
  return block;
}

void StrandSet::link(std::uint32_t slot) {
  Slot& s = slots_[slot];
  const std::span<const ResourceUse> all = usage(s).all;
  s.first_node = take_block(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto n = s.first_node + static_cast<std::uint32_t>(i);
    std::uint32_t& head = head_[all[i].resource.index()];
    nodes_[n] = {.slot = slot, .previous = kEnd, .next = head};
    if (head != kEnd) nodes_[head].previous = n;
    head = n;
  }
}

void StrandSet::unlink(std::uint32_t slot) {
  const Slot& s = slots_[slot];
  const std::span<const ResourceUse> all = usage(s).all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Node node = nodes_[s.first_node + static_cast<std::uint32_t>(i)];
    if (node.next != kEnd) nodes_[node.next].previous = node.previous;
    if (node.previous != kEnd) {
      nodes_[node.previous].next = node.next;
    } else {
      head_[all[i].resource.index()] = node.next;
    }
  }
  free_blocks_[all.size()].push_back(s.first_node);
}

StrandId StrandSet::add(const Strand& strand, Time now) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Slot& s = slots_[slot];
  s.strand = &strand;
  s.rate = 0;
  s.remaining = strand.volume;
  s.touched = now;
  s.live = true;
  s.usage = usage_of(strand);
  link(slot);
  for (const ResourceUse& use : usage(s).binding) dirty_.push_back(use.resource.value());
  if (usage(s).binding.empty()) lonely_.push_back(slot);
  return StrandId(slot);
}

void StrandSet::finish(StrandId id) {
  Slot& s = slots_[id.index()];
  BUSBAR_CHECK(s.live);
  for (const ResourceUse& use : usage(s).binding) dirty_.push_back(use.resource.value());
  note_implied(s);
  unlink(id.value());
  usages_[s.usage].bytes_per_flow += s.strand->volume * static_cast<double>(s.strand->multiplicity);
  s.live = false;
  ++s.stamp;
  free_slots_.push_back(id.value());
}

// Breadth-first from one resource over the strands that use it, and theirs.
void StrandSet::collect_component(std::uint32_t resource) {
  component_.clear();
  frontier_.assign(1, resource);
  resource_mark_[resource] = mark_;
  while (!frontier_.empty()) {
    const std::uint32_t r = frontier_.back();
    frontier_.pop_back();
    for (std::uint32_t n = head_[r]; n != kEnd; n = nodes_[n].next) {
      Slot& s = slots_[nodes_[n].slot];
      if (s.mark == mark_) continue;
      s.mark = mark_;
      component_.push_back(nodes_[n].slot);
      for (const ResourceUse& use : usage(s).binding) {
        if (resource_mark_[use.resource.index()] == mark_) continue;
        resource_mark_[use.resource.index()] = mark_;
        frontier_.push_back(use.resource.value());
      }
    }
  }
}

std::span<const StrandSet::Ending> StrandSet::settle(Time now) {
  endings_.clear();
  load_changes_.clear();
  ++mark_;
  for (const std::uint32_t slot : lonely_) {
    if (!slots_[slot].live) continue;
    component_.assign(1, slot);
    apply(now);
  }
  lonely_.clear();
  for (const std::uint32_t resource : dirty_) {
    if (resource_mark_[resource] == mark_) continue;
    collect_component(resource);
    if (!component_.empty()) {
      apply(now);
    } else if (watches_loads_) {
      load_changes_.push_back({id_of(resource), 0});
    }
  }
  dirty_.clear();
  load_implied();
  return endings_;
}

void StrandSet::note_implied(const Slot& slot) {
  for (const ResourceUse& use : usage(slot).implied()) implied_dirty_.push_back(use.resource.value());
}

// load = sum over distinct rates r of r x (integer sum of the flows at r), as the solver adds up.
void StrandSet::load_implied() {
  std::sort(implied_dirty_.begin(), implied_dirty_.end());
  implied_dirty_.erase(std::unique(implied_dirty_.begin(), implied_dirty_.end()), implied_dirty_.end());
  for (const std::uint32_t resource : implied_dirty_) {
    rates_.clear();
    for (std::uint32_t n = head_[resource]; n != kEnd; n = nodes_[n].next) {
      const Slot& s = slots_[nodes_[n].slot];
      const std::int64_t flows = usage(s).all[n - s.first_node].flows * s.strand->multiplicity;
      rates_.emplace_back(s.rate, flows);
    }
    std::sort(rates_.begin(), rates_.end());
    double load = 0;
    for (std::size_t i = 0; i < rates_.size();) {
      const double rate = rates_[i].first;
      std::int64_t flows = 0;
      for (; i < rates_.size() && rates_[i].first == rate; ++i) flows += rates_[i].second;
      load += rate * (static_cast<double>(flows) / static_cast<double>(kOneFlow));
    }
    const double share = load / solver_.capacity()[resource];
    peak_[resource] = std::max(peak_[resource], share);
    if (watches_loads_) load_changes_.push_back({id_of(resource), share});
  }
  implied_dirty_.clear();
}

// Solves one component and moves the endings of the strands whose rate changed.
void StrandSet::apply(Time now) {
  ++solves_;
  entries_.clear();
  for (const std::uint32_t slot : component_) {
    const Strand& strand = *slots_[slot].strand;
    entries_.push_back({usage(slots_[slot]).binding, strand.multiplicity, strand.cap.Bps(), 0});
  }
  solver_.solve(entries_);
  for (const MaxMinSolver::Load& load : solver_.loads())
    peak_[load.resource] =
        std::max(peak_[load.resource], load.bytes_per_second / solver_.capacity()[load.resource]);
  if (watches_loads_)
    for (const MaxMinSolver::Load& load : solver_.loads())
      load_changes_.push_back(
          {id_of(load.resource), load.bytes_per_second / solver_.capacity()[load.resource]});
  for (std::size_t i = 0; i < component_.size(); ++i) {
    Slot& s = slots_[component_[i]];
    s.bottleneck = solver_.bottleneck(i);
    const double rate = entries_[i].rate;
    if (rate == s.rate) continue;
    s.remaining = std::max(0.0, s.remaining - s.rate * (now - s.touched).seconds());
    s.touched = now;
    s.rate = rate;
    note_implied(s);
    ++s.stamp;
    const Time left =
        s.remaining == 0 || std::isinf(rate) ? Time::zero() : Time::from_seconds(s.remaining / rate);
    endings_.push_back({StrandId(component_[i]), now + left, s.stamp});
  }
}

std::vector<ResourceTotals> StrandSet::totals() const {
  std::vector<ResourceTotals> used = used_totals();
  if (ids_.empty()) return used;
  std::vector<ResourceTotals> totals(resources_);
  for (std::size_t r = 0; r < used.size(); ++r) totals[ids_[r]] = used[r];
  return totals;
}

std::vector<ResourceTotals> StrandSet::used_totals() const {
  std::vector<ResourceTotals> totals(head_.size());
  for (std::size_t r = 0; r < totals.size(); ++r) totals[r].peak_share = peak_[r];
  for (const Usage& usage : usages_)
    for (const ResourceUse& use : usage.all)
      totals[use.resource.index()].bytes +=
          usage.bytes_per_flow * (static_cast<double>(use.flows) / static_cast<double>(kOneFlow));
  return totals;
}

}  // namespace busbar
