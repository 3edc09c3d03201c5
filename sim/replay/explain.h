// Explains operations: what each waited for, what bounds it, what it moves over which links.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/history.h"
#include "sim/replay/plan_cache.h"
#include "sim/replay/rendezvous.h"
#include "sim/result/explanation.h"
#include "sim/result/run_result.h"
#include "topologies/topology.h"

namespace busbar {

class Replay;

/// Counts, while a step is replayed, what its records do not: waits, causes, bytes by link class.
class Explainer {
 public:
  /// Borrows the topology.
  explicit Explainer(const Topology& topology);

  /// A communication starts; `cause`: what let its last member arrive, in `history`.
  void start(const PlannedOperation& planned, std::span<const Arrival> members, const Arrival& last,
             const History& history, std::uint32_t cause);
  /// One explanation per record of the replay, in its order. Cost: per record, three lone runs of its plan.
  [[nodiscard]] std::vector<Explanation> explanations(Replay& replay) const;

 private:
  struct Tally {
    const PlannedOperation* example = nullptr;  // the first plan that ran
    Time waited;                                // over members and runs
    std::uint64_t arrivals = 0;
    std::map<std::uint32_t, Time> caused;  // by player that came last
    // By program and operation; program kNone: the start of the step.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> causes;
    std::map<std::uint32_t, double> bytes;  // by link class
  };
  [[nodiscard]] Explanation explain(Replay& replay, const OperationRecord& record, const Tally& tally) const;
  void add_waits(Explanation& e, Replay& replay, const OperationRecord& record, const Tally& tally) const;
  void add_traffic(Explanation& e, const Tally& tally, const OperationRecord& record,
                   std::span<const double> peaks) const;
  void add_limit(Explanation& e, const PlannedOperation& planned, std::span<const double> capacity,
                 std::uint32_t bottleneck) const;

  const Topology* topology_;
  std::vector<std::string> classes_;
  std::vector<std::uint32_t> class_of_link_;
  std::vector<Tally> tallies_;  // by record
};

/// The steps of an algorithm among `ranks`, one round after the other.
[[nodiscard]] std::vector<ExplainedRound> rounds_of(const Algorithm& algorithm, const GroupShape& shape,
                                                    std::span<const std::uint32_t> ranks);

/// NCCL's table for a record's operation, and what decided.
[[nodiscard]] PricedChoices priced_choices(PlanCache& plans, const OperationRecord& record);

/// The warning that an NCCL log speaks of no group of this run, if there is a log and it does not.
[[nodiscard]] std::optional<Warning> unused_log_warning(const Replay& replay);

/// How the GPUs of a record's group talk, inside hosts and between them.
[[nodiscard]] std::vector<TransportUse> transports_of(Replay& replay, const OperationRecord& record,
                                                      const PlannedOperation& planned);

/// Why busbw may exceed the line rate of the links: busbw counts what a ring would carry. "" where a link
/// carries as much as busbw counts, or more.
[[nodiscard]] std::string beyond_line_rate(const OperationRecord& record, const GroupRoutes& routes);

/// The quantities of T = latency + V / r + tail with their numbers, for one plan. `rate`: what the strand
/// that ends last reaches with the machine to itself; `limit` says in words what holds it there.
struct TermRequest {
  const OperationRecord* record = nullptr;
  const PlannedOperation* planned = nullptr;
  double volume = 0, rate = 0;
  std::string limit;
};
[[nodiscard]] std::vector<FormulaTerm> terms_of(const TermRequest& request);

}  // namespace busbar
