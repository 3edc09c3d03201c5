#include "sim/study/search_collectives.h"

#include <algorithm>

#include "sim/replay/lone_run.h"

namespace busbar {

LoneTime CollectiveTimes::time_of(const PlannedOperation& planned) {
  LoneTime time;
  const Time transfer = run_alone(planned.plan, placement_.capacities()).transfer;
  time.seconds = (planned.plan.latency() + transfer).seconds();
  time.shared = time.seconds;
  time.sms = static_cast<double>(planned.plan.sms);
  return time;
}

// All ranks of a host share its NICs: a group with p of the host's g ranks on k of its n NICs is due p / g of
// them and alone gets k / n.
double CollectiveTimes::contention(const GroupRoutes& routes, std::uint32_t rank) const {
  const std::uint32_t number = topology_.host_of(placement_.device(rank));
  if (routes.facts.hosts < 2 || number == kNoHost) return 1;
  const Host& host = topology_.hosts()[number];
  if (host.nics.empty() || host.gpus.empty()) return 1;
  const double used = static_cast<double>(routes.facts.nics) / static_cast<double>(host.nics.size());
  const double due = static_cast<double>(routes.facts.local_most) / static_cast<double>(host.gpus.size());
  return due > 0 ? std::max(1.0, used / due) : 1;
}

LoneTime CollectiveTimes::collective(const std::vector<std::uint32_t>& ranks, CollectiveKind kind,
                                     Bytes bytes, DataType type) {
  if (ranks.size() < 2 || bytes.count() == 0) return {};
  const std::scoped_lock lock(mutex_);
  GroupPlans& group = groups_[ranks];
  if (!group.plans) {
    Group members{.name = "all"};
    for (const std::uint32_t rank : ranks) members.members.push_back({rank, 1, 1});
    group.trace.groups.push_back(std::move(members));
    group.plans = std::make_unique<PlanCache>(group.trace, placement_, profile_, Overrides{});
  }
  const auto [it, is_new] = group.known.try_emplace({kind, bytes, type});
  if (!is_new) return it->second;
  Op op;
  op.kind = OpKind::kCollective;
  op.collective = kind;
  op.bytes = bytes;
  op.type = type;
  const PlannedOperation& planned = group.plans->collective(GroupId(0), op, "all");
  it->second = time_of(planned);
  it->second.shared *= contention(*group.plans->routes(GroupId(0)), ranks.front());
  return it->second;
}

LoneTime CollectiveTimes::message(std::uint32_t from, std::uint32_t to, Bytes bytes) {
  if (bytes.count() == 0) return {};
  const std::scoped_lock lock(mutex_);
  const auto [it, is_new] = messages_.try_emplace({from, to, bytes});
  if (!is_new) return it->second;
  GroupPlans& pairs = groups_[{}];
  if (!pairs.plans) pairs.plans = std::make_unique<PlanCache>(pairs.trace, placement_, profile_, Overrides{});
  it->second = time_of(pairs.plans->transfer(from, to, bytes, "pp"));
  return it->second;
}

}  // namespace busbar
