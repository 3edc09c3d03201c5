// The plans of a run: one per distinct (group, operation, size), with the record that its occurrences add up
// in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/engine/max_min.h"
#include "sim/replay/placement.h"
#include "workloads/trace.h"

namespace busbar {

/// Totals over all occurrences of one kind of operation.
struct OperationRecord {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string group;  // "dp"
  std::uint32_t ranks = 0;
  Bytes bytes;
  std::string algorithm, protocol;
  std::int64_t channels = 0;
  std::uint64_t groups = 0;  // distinct groups that run it, counted by who replays them
  std::uint64_t runs = 0;    // over all groups
  double time_ps = 0;        // over all runs; a sum that may pass the range of Time
  double exposed_ps = 0;     // over all runs and member ranks
  Time latency;              // of the plan: time that moves no bytes
  std::string rate_bound;    // what its own cap stands for
  std::uint32_t bottleneck =
      MaxMinSolver::kNone;  // resource that held the last strand of the last run; none: its cap

  /// Of one run, from the last arrival to the end. Requires: it has run.
  [[nodiscard]] Time mean_time() const {
    return Time::picoseconds(std::llround(time_ps / static_cast<double>(runs)));
  }
  /// Runs of each member rank, the mean over groups, rounded down.
  [[nodiscard]] std::int64_t runs_per_group() const {
    return static_cast<std::int64_t>(runs / std::max<std::uint64_t>(1, groups));
  }
};

struct PlannedOperation {
  Plan plan;
  std::uint32_t record = 0;
  const GroupRoutes* routes = nullptr;  // what the plan was made for, for explanations
  PlanCosts costs;
  std::span<const PipelineChannel> pipelines;  // where it is planned as pipelines
  /// By phase and strand: how many strands on other channels of the same group it stands for (itself too),
  /// where classes are merged; empty: one each.
  std::vector<std::vector<std::int64_t>> alike;
  std::uint32_t number = 0;  // in the order in which the cache made them
};

class PlanCache {
 public:
  PlanCache(const StepTrace& trace, Placement& placement, const Profile& profile, const Overrides& overrides);

  /// What a record's plan was made of, for the executors that look inside.
  struct Detail {
    const Algorithm* algorithm;
    Plan plan;
    PlanCosts costs;
    std::span<const std::uint32_t> members;
    GroupShape shape;
    std::span<const RingChannel> channels;  // where it is wired as rings or chains
  };
  [[nodiscard]] Detail detail_of(const OperationRecord& record);

  /// Members of a group by member number (ranks).
  [[nodiscard]] std::span<const std::uint32_t> members(GroupId group);
  [[nodiscard]] const PlannedOperation& collective(GroupId group, const Op& op, const std::string& kind_name);
  [[nodiscard]] const PlannedOperation& transfer(std::uint32_t from, std::uint32_t to, Bytes bytes,
                                                 const std::string& kind_name);
  /// The rounds between members alone whose usages a group's plans hold, by those.
  using RoundsByUsage = std::unordered_map<const ResourceUse*, Round>;
  [[nodiscard]] RoundsByUsage rounds_by_usage(GroupId group) const;
  [[nodiscard]] std::vector<OperationRecord>& records() { return records_; }
  /// NCCL's table for a record's operation, where it has one.
  [[nodiscard]] std::optional<NcclTable> table_of(const OperationRecord& record);
  /// The same without what --algorithm and --protocol rule out.
  [[nodiscard]] std::optional<NcclTable> whole_table_of(const OperationRecord& record);
  /// What decided for a record's operation, where NCCL has a table for it; nullopt: the user did.
  [[nodiscard]] std::optional<NcclDecider> decider_of(const OperationRecord& record);
  [[nodiscard]] std::span<const std::uint32_t> members_of(const OperationRecord& record) const;
  [[nodiscard]] const GroupFacts& facts_of(const OperationRecord& record) const;
  [[nodiscard]] const Overrides& overrides() const { return overrides_; }
  [[nodiscard]] const Profile& profile() const { return *profile_; }
  /// Plans an operation again, after its placement was rescaled. Its strands stay the same in number, order,
  /// volume and usage.
  [[nodiscard]] Plan planned_again(const PlannedOperation& planned);
  /// All of them, where they lie.
  void reprice();
  /// Counts what runs from zero.
  void forget_runs();
  /// The plan of the same operation on the first of its groups at another size.
  [[nodiscard]] Plan plan_at(const OperationRecord& record, Bytes bytes);
  /// All that this plan takes from the profile.
  [[nodiscard]] PlanCosts costs_at(const OperationRecord& record, Bytes bytes);
  /// Routes of every group that communicated (or of one alike), for warnings; nullptr for those that did not.
  [[nodiscard]] const GroupRoutes* routes(GroupId group) const {
    const GroupState& state = groups_[group.index()];
    return state.routes ? state.routes.get() : state.alike;
  }
  /// `group` is like `planned` in all that routes() is asked for.
  void share_routes(GroupId group, GroupId planned) {
    groups_[group.index()].alike = groups_[planned.index()].routes.get();
  }

 private:
  static constexpr std::uint32_t kEven = 0xffffffffU;
  struct Key {
    CollectiveKind kind;
    Bytes bytes;
    std::uint32_t root;
    std::uint32_t splits;  // matrix, kEven: none
    DataType type;
    std::string group_kind;
    auto operator<=>(const Key&) const = default;
  };
  struct GroupState {
    std::vector<std::uint32_t> members;
    std::unique_ptr<GroupRoutes> routes;
    const GroupRoutes* alike = nullptr;  // of another group, where this one is not planned
    std::vector<PairRoute> neighbours;
    std::map<std::pair<std::uint32_t, bool>, std::vector<RingChannel>> chains;  // by root, into it
    // By algorithm, root and matrix.
    std::map<std::tuple<const Algorithm*, std::uint32_t, std::uint32_t>, std::vector<RoundRoutes>> rounds;
    // By wiring, and by kind where the traffic differs.
    std::map<std::pair<Wiring, CollectiveKind>, std::vector<PipelineChannel>> pipelines;
    // What numbers of the profile do not change. By kind, size and type.
    std::map<std::tuple<CollectiveKind, Bytes, DataType>, Choice> choices;
    std::map<Key, PlannedOperation> plans;  // stable addresses
  };
  using RecordKey =
      std::tuple<CollectiveKind, std::string, std::uint32_t, Bytes, std::string, std::string, std::int64_t>;

  struct Priced {
    Choice choice;
    PlanCosts costs;
  };
  struct Chosen {
    Choice choice;
    Plan plan;
    PlanCosts costs;
    std::span<const PipelineChannel> pipelines;
  };
  struct Origin {  // of a record: the first group that ran it
    GroupState* state;
    std::uint32_t root;
    std::uint32_t splits;
    DataType type;
  };

  struct Made {  // what a plan was made from, and where it lies
    Origin origin;
    CollectiveKind kind;
    Bytes bytes;
    PlannedOperation* planned;
  };

  [[nodiscard]] const PlannedOperation& plan(GroupState& state, const Key& key);
  void wire(const Origin& origin, const Algorithm& algorithm, PlanRequest& request);
  [[nodiscard]] std::vector<Round> rounds_of(const Origin& origin, const Algorithm& algorithm) const;
  [[nodiscard]] Priced choose_and_price(const Origin& origin, CollectiveKind kind, Bytes bytes);
  [[nodiscard]] Chosen choose_and_plan(const Origin& origin, CollectiveKind kind, Bytes bytes);
  [[nodiscard]] std::span<const PipelineChannel> pipelines(GroupState& state, const Algorithm& algorithm);
  [[nodiscard]] std::span<const RoundRoutes> rounds(const Origin& origin, const Algorithm& algorithm);
  [[nodiscard]] std::uint32_t record_of(GroupState& state, const Key& key, const Choice& choice,
                                        const Plan& plan);

  const StepTrace* trace_;
  Placement* placement_;
  const Profile* profile_;
  Overrides overrides_;
  std::vector<GroupState> groups_;
  std::unordered_map<std::uint64_t, GroupState> pairs_;
  std::vector<OperationRecord> records_;
  std::vector<Origin> origins_;  // by record
  std::vector<Made> made_;       // by number
  std::map<RecordKey, std::uint32_t> record_index_;
};

}  // namespace busbar
