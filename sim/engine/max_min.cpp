#include "sim/engine/max_min.h"

#include <algorithm>
#include <limits>

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kScale = static_cast<double>(kOneFlow);

// Saturation level of a resource: the rate at which its live flows use up what is left.
double saturation(double residual, std::int64_t live) {
  return std::max(0.0, residual) / static_cast<double>(live);
}

}  // namespace

MaxMinSolver::MaxMinSolver(std::vector<double> capacity) : MaxMinSolver(std::span<const double>(capacity)) {
  own_capacity_ = std::move(capacity);  // what capacity_ points to stays where it is
}

MaxMinSolver::MaxMinSolver(std::span<const double> capacity)
    : capacity_(capacity), node_of_(capacity_.size(), kNone) {
  for (const double c : capacity_) BUSBAR_CHECK(c > 0);
}

void MaxMinSolver::solve(std::span<MaxMinEntry> entries) {
  bottleneck_.assign(entries.size(), kNone);
  loads_.clear();
  if (entries.empty()) return;
  if (entries.size() == 1) return solve_one(entries.front());
  gather(entries);
  fill(entries);
  record_loads();
}

// A strand alone: rate = min(cap, min over resources of C / (m u)). The same arithmetic as the general case.
void MaxMinSolver::solve_one(MaxMinEntry& entry) {
  entry.rate = entry.cap;
  for (const ResourceUse& use : entry.usage) {
    const double level = saturation(capacity_[use.resource.index()] * kScale, entry.multiplicity * use.flows);
    const std::uint32_t resource = use.resource.value();
    if (level < entry.rate || (level == entry.rate && resource < bottleneck_[0])) {
      entry.rate = level;
      bottleneck_[0] = resource;
    }
  }
  for (const ResourceUse& use : entry.usage) {
    const double flows = static_cast<double>(entry.multiplicity * use.flows) / kScale;
    const double load = entry.rate * flows;
    const bool full =
        saturation(capacity_[use.resource.index()] * kScale, entry.multiplicity * use.flows) <= entry.rate;
    loads_.push_back({use.resource.value(), load, full});
  }
}

// Builds the nodes of this problem and the list of entries of each.
void MaxMinSolver::gather(std::span<const MaxMinEntry> entries) {
  nodes_.clear();
  for (const MaxMinEntry& entry : entries) {
    for (const ResourceUse& use : entry.usage) {
      std::uint32_t& node = node_of_[use.resource.index()];
      if (node == kNone) {
        node = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(
            {.resource = use.resource.value(), .residual = capacity_[use.resource.index()] * kScale});
      }
      nodes_[node].live += entry.multiplicity * use.flows;
      ++nodes_[node].last;
    }
  }
  std::uint32_t total = 0;
  for (Node& node : nodes_) {
    const std::uint32_t count = node.last;
    node.first = node.last = total;
    total += count;
  }
  users_.resize(total);
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (const ResourceUse& use : entries[i].usage)
      users_[nodes_[node_of_[use.resource.index()]].last++] = static_cast<std::uint32_t>(i);
}

void MaxMinSolver::push_level(std::uint32_t node, double at_least) {
  const double level = std::max(at_least, saturation(nodes_[node].residual, nodes_[node].live));
  heap_.push_back({level, node});
  std::push_heap(heap_.begin(), heap_.end(),
                 [](const Level& a, const Level& b) { return a.level > b.level; });
}

// Drops stale candidates: a node's level only rises, so the one in the heap is stale if it is not the node's
// present one.
double MaxMinSolver::next_resource_level() {
  const auto later = [](const Level& a, const Level& b) { return a.level > b.level; };
  while (!heap_.empty()) {
    const Level top = heap_.front();
    const Node& node = nodes_[top.node];
    if (node.live > 0 && !node.full) {
      const double now = std::max(top.level, saturation(node.residual, node.live));
      if (now == top.level) return top.level;
    }
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    if (node.live > 0 && !node.full) push_level(top.node, top.level);
  }
  return kInfinity;
}

void MaxMinSolver::fill(std::span<MaxMinEntry> entries) {
  frozen_.assign(entries.size(), false);
  heap_.clear();
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    heap_.push_back({saturation(nodes_[n].residual, nodes_[n].live), static_cast<std::uint32_t>(n)});
  std::make_heap(heap_.begin(), heap_.end(),
                 [](const Level& a, const Level& b) { return a.level > b.level; });
  by_cap_.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) by_cap_[i] = static_cast<std::uint32_t>(i);
  std::sort(by_cap_.begin(), by_cap_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return entries[a].cap != entries[b].cap ? entries[a].cap < entries[b].cap : a < b;
  });

  std::size_t next_cap = 0;
  for (;;) {
    while (next_cap < by_cap_.size() && frozen_[by_cap_[next_cap]]) ++next_cap;
    if (next_cap == by_cap_.size()) return;
    const double resource_level = next_resource_level();
    const double level = std::min(resource_level, entries[by_cap_[next_cap]].cap);
    touched_.clear();
    if (resource_level == level) saturate(entries, level);
    for (std::size_t i = next_cap; i < by_cap_.size() && entries[by_cap_[i]].cap <= level; ++i)
      if (!frozen_[by_cap_[i]]) freeze(entries, by_cap_[i], level, kNone);
    settle_level(level);
  }
}

// Freezes every strand on every resource that is full at `level`.
void MaxMinSolver::saturate(std::span<MaxMinEntry> entries, double level) {
  const auto later = [](const Level& a, const Level& b) { return a.level > b.level; };
  std::vector<std::uint32_t> full;
  while (!heap_.empty() && next_resource_level() == level) {
    full.push_back(heap_.front().node);
    nodes_[heap_.front().node].full = true;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  // In order of resource id, so that the bottleneck that is named does not depend on the heap's layout.
  std::sort(full.begin(), full.end(),
            [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].resource < nodes_[b].resource; });
  for (const std::uint32_t n : full)
    for (std::uint32_t u = nodes_[n].first; u < nodes_[n].last; ++u)
      if (!frozen_[users_[u]]) freeze(entries, users_[u], level, nodes_[n].resource);
}

void MaxMinSolver::freeze(std::span<MaxMinEntry> entries, std::uint32_t entry, double level,
                          std::uint32_t by) {
  frozen_[entry] = true;
  entries[entry].rate = level;
  bottleneck_[entry] = by;
  for (const ResourceUse& use : entries[entry].usage) {
    const std::uint32_t n = node_of_[use.resource.index()];
    if (nodes_[n].freezing == 0) touched_.push_back(n);
    nodes_[n].freezing += entries[entry].multiplicity * use.flows;
  }
}

// residual -= level x (integer flows frozen at this level), once.
void MaxMinSolver::settle_level(double level) {
  for (const std::uint32_t n : touched_) {
    Node& node = nodes_[n];
    node.residual -= level * static_cast<double>(node.freezing);
    node.live -= node.freezing;
    node.freezing = 0;
  }
}

void MaxMinSolver::record_loads() {
  for (const Node& node : nodes_) {
    node_of_[node.resource] = kNone;
    const double capacity = capacity_[node.resource];
    const double load = node.full ? capacity : capacity - node.residual / kScale;
    loads_.push_back({node.resource, std::max(0.0, load), node.full});
  }
}

}  // namespace busbar
