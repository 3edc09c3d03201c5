// What collectives take on an idle machine, for closed forms: planned once per group, kind and size.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "sim/replay/plan_cache.h"
#include "topologies/topology.h"

namespace busbar {

struct LoneTime {
  double seconds = 0;  // nothing else runs
  double shared = 0;   // an estimate where all ranks of its hosts do the same in their own groups
  double sms = 0;      // share of a GPU's SMs that it reserves
};

/// Borrows topology and profile. Safe to use from several threads.
class CollectiveTimes {
 public:
  CollectiveTimes(const Topology& topology, const Profile& profile)
      : topology_(topology), profile_(profile), placement_(topology, profile) {}
  /// Zero for fewer than two ranks.
  [[nodiscard]] LoneTime collective(const std::vector<std::uint32_t>& ranks, CollectiveKind kind, Bytes bytes,
                                    DataType type);
  [[nodiscard]] LoneTime message(std::uint32_t from, std::uint32_t to, Bytes bytes);

 private:
  struct GroupPlans {
    StepTrace trace;
    std::unique_ptr<PlanCache> plans;
    std::map<std::tuple<CollectiveKind, Bytes, DataType>, LoneTime> known;
  };
  [[nodiscard]] LoneTime time_of(const PlannedOperation& planned);
  [[nodiscard]] double contention(const GroupRoutes& routes, std::uint32_t rank) const;

  const Topology& topology_;
  const Profile& profile_;
  std::mutex mutex_;
  Placement placement_;
  std::map<std::vector<std::uint32_t>, GroupPlans> groups_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Bytes>, LoneTime> messages_;
};

}  // namespace busbar
