// Strands that are under way: their rates, what is left of them, and when each will end.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/ids.h"
#include "sim/base/strand.h"
#include "sim/base/units.h"
#include "sim/engine/max_min.h"

namespace busbar {

/// What a resource carried over the whole run.
struct ResourceTotals {
  double bytes = 0;
  double peak_share = 0;  // highest share of its capacity in use at any time
};

/// Live strands on shared resources. The caller drives time: add and finish strands at an instant, then
/// `settle` once, which solves again only the strands that share resources (however indirectly) with what
/// changed. A strand's remaining volume is touched only when its rate changed bitwise.
class StrandSet {
 public:
  /// capacity[resource] in bytes/s. implied[resource]: others hold every strand back first (empty: none);
  /// rates are found without those, their loads are counted like the others'.
  explicit StrandSet(std::vector<double> capacity, std::vector<bool> implied = {});
  /// Only the resources of `used` (ascending) may be used; the others take no memory. Empty: all may.
  StrandSet(std::span<const double> capacity, const std::vector<bool>& implied,
            std::vector<std::uint32_t> used);

  /// `strand` is borrowed until it finishes, its usage for the life of the set. Its first rate comes with the
  /// next `settle`.
  StrandId add(const Strand& strand, Time now);
  /// Takes a strand out: it has carried its volume.
  void finish(StrandId id);

  struct Ending {
    StrandId strand;
    Time at;              // rounded to the nearest picosecond
    std::uint32_t stamp;  // an ending with an older stamp is void
  };
  /// Rates after all changes of this instant; returns the endings that are new or moved. Valid until the next
  /// call.
  [[nodiscard]] std::span<const Ending> settle(Time now);
  [[nodiscard]] bool is_current(StrandId id, std::uint32_t stamp) const {
    return slots_[id.index()].live && slots_[id.index()].stamp == stamp;
  }
  [[nodiscard]] double rate(StrandId id) const { return slots_[id.index()].rate; }
  /// The resource that bounds it now; MaxMinSolver::kNone: its own cap.
  [[nodiscard]] std::uint32_t bottleneck(StrandId id) const {
    const std::uint32_t number = slots_[id.index()].bottleneck;
    return number == MaxMinSolver::kNone ? number : id_of(number);
  }
  [[nodiscard]] std::uint64_t solves() const { return solves_; }

  /// From now on `settle` also notes which resources carry another load.
  void watch_loads() { watches_loads_ = true; }
  struct LoadChange {
    std::uint32_t resource = 0;
    double share = 0;  // of its capacity
  };
  /// The loads that the last `settle` solved, zero for resources that fell idle. Valid until the next call.
  [[nodiscard]] std::span<const LoadChange> load_changes() const { return load_changes_; }

  /// Bytes and peaks by resource, of the strands that have finished.
  [[nodiscard]] std::vector<ResourceTotals> totals() const;
  /// The same of the resources that may be used, and their ids.
  [[nodiscard]] std::vector<ResourceTotals> used_totals() const;
  [[nodiscard]] std::uint32_t id_of(std::size_t used) const {
    return ids_.empty() ? static_cast<std::uint32_t>(used) : ids_[used];
  }

 private:
  struct Slot {
    const Strand* strand = nullptr;
    double rate = 0;
    double remaining = 0;
    Time touched;  // `remaining` is as of this instant
    std::uint32_t stamp = 0;
    std::uint32_t first_node = 0;  // its block of `nodes_`, one per use
    std::uint32_t mark = 0;        // visited in this settle
    std::uint32_t bottleneck = MaxMinSolver::kNone;
    std::uint32_t usage = 0;  // in usages_
    bool live = false;
  };
  struct Usage {
    std::span<const ResourceUse> all;
    std::span<const ResourceUse> binding;  // those that may hold strands back
    std::vector<ResourceUse> numbered;     // all, where numbers are not ids
    std::vector<ResourceUse> sorted;       // binding, then implied; empty where all bind
    double bytes_per_flow = 0;             // of all strands with this usage that have finished
    [[nodiscard]] std::span<const ResourceUse> implied() const {
      return sorted.empty() ? std::span<const ResourceUse>() : std::span(sorted).subspan(binding.size());
    }
  };
  struct Node {  // doubly linked list of the live uses of one resource
    std::uint32_t slot = 0, previous = kEnd, next = kEnd;
  };
  static constexpr std::uint32_t kEnd = 0xffffffffU;

  [[nodiscard]] std::uint32_t usage_of(const Strand& strand);
  void number(Usage& usage) const;
  [[nodiscard]] const Usage& usage(const Slot& slot) const { return usages_[slot.usage]; }
  void note_implied(const Slot& slot);
  void load_implied();
  std::uint32_t take_block(std::size_t size);
  void link(std::uint32_t slot);
  void unlink(std::uint32_t slot);
  void collect_component(std::uint32_t resource);
  void apply(Time now);

  // Resources go by their number among those that may be used.
  std::vector<std::uint32_t> ids_;  // by number; empty: the same
  std::size_t resources_ = 0;
  MaxMinSolver solver_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Node> nodes_;
  std::map<std::size_t, std::vector<std::uint32_t>> free_blocks_;  // by size
  std::vector<std::uint32_t> head_;                                // per resource
  std::vector<std::uint32_t> resource_mark_;
  std::vector<std::uint32_t> dirty_;      // resources whose users changed
  std::vector<std::uint32_t> lonely_;     // new strands that use no resource
  std::vector<std::uint32_t> component_;  // slots
  std::vector<std::uint32_t> frontier_;   // resources
  std::vector<MaxMinEntry> entries_;
  std::vector<Ending> endings_;
  bool watches_loads_ = false;
  std::vector<LoadChange> load_changes_;
  std::vector<bool> implied_;  // by resource; empty: none
  std::vector<std::uint32_t> implied_dirty_;
  std::vector<std::pair<double, std::int64_t>> rates_;  // of one resource's users, with their flows
  std::vector<Usage> usages_;                           // in order of first use
  std::unordered_map<const ResourceUse*, std::uint32_t> usage_index_;
  std::vector<double> peak_;
  std::uint32_t mark_ = 0;
  std::uint64_t solves_ = 0;
};

}  // namespace busbar
