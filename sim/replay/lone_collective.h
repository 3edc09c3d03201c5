// One collective on an idle machine, again and again: for fits and searches that change numbers between.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/replay/lone_run.h"
#include "sim/replay/plan_cache.h"
#include "topologies/topology.h"

namespace busbar {

/// Routes are found once; a time costs one plan and one run of its strands, and neither where it was asked
/// for at the same costs and capacities one or two numbers before, as fits do that move one at a time.
/// Borrows topology and profile, whose numbers (not lists) may change between calls.
class LoneCollective {
 public:
  struct Request {
    std::vector<std::uint32_t> ranks;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    DataType type = DataType::kFp32;
    Overrides overrides;
    CallStyle calls;
  };
  LoneCollective(const Topology& topology, const Profile& profile, const Request& request);
  /// After numbers in the profile have changed.
  void profile_changed() { placement_.profile_changed(); }
  /// On a machine with other factors from here on; what it chooses stays.
  void rescale(const Scales& scales) { placement_.rescale(scales); }
  /// Requires: bytes a multiple of what the kind needs.
  [[nodiscard]] Time time(Bytes bytes);
  /// Of the slowest member.
  [[nodiscard]] const Generation& generation() const { return placement_.oldest(request_.ranks); }
  [[nodiscard]] const GroupRoutes& routes() const { return *plans_.routes(GroupId(0)); }
  /// What it would run with.
  [[nodiscard]] Choice choice(Bytes bytes) const;

 private:
  /// Without launches, at costs and capacities.
  struct Known {
    PlanCosts costs;
    std::vector<double> capacities;
    Time device;
  };
  [[nodiscard]] Time device_time(Bytes bytes);

  StepTrace trace_;
  const Profile* profile_;
  Request request_;
  Placement placement_;
  PlanCache plans_;
  std::uint32_t record_ = 0;
  TransferTimes transfers_;
  std::map<Bytes, std::array<std::optional<Known>, 2>> known_;  // the latest first
};

}  // namespace busbar
