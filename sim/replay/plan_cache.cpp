#include "sim/replay/plan_cache.h"

#include <algorithm>

#include "sim/base/error.h"

namespace busbar {

PlanCache::PlanCache(const StepTrace& trace, Placement& placement, const Profile& profile,
                     const Overrides& overrides)
    : trace_(&trace),
      placement_(&placement),
      profile_(&profile),
      overrides_(overrides),
      groups_(trace.groups.size()) {}

std::span<const std::uint32_t> PlanCache::members(GroupId group) {
  GroupState& state = groups_[group.index()];
  if (state.members.empty()) state.members = expand(trace_->groups[group.index()].members);
  return state.members;
}

const PlannedOperation& PlanCache::collective(GroupId group, const Op& op, const std::string& kind_name) {
  GroupState& state = groups_[group.index()];
  const std::span<const std::uint32_t> ranks = members(group);
  if (!state.routes) state.routes = std::make_unique<GroupRoutes>(placement_->group(ranks));
  return plan(state,
              {op.collective, op.bytes, op.root.value_or(0), op.splits.value_or(kEven), op.type, kind_name});
}

const PlannedOperation& PlanCache::transfer(std::uint32_t from, std::uint32_t to, Bytes bytes,
                                            const std::string& kind_name) {
  GroupState& state = pairs_[(std::uint64_t{from} << 32) | to];
  if (!state.routes) {
    state.members = {from, to};
    state.routes = std::make_unique<GroupRoutes>(placement_->outline(state.members));
    state.neighbours = {placement_->pair(from, to)};
  }
  return plan(state, {CollectiveKind::kSendRecv, bytes, 0, kEven, DataType::kInt8, kind_name});
}

// Routes are found once per group (and root, where one matters) and borrowed by its plans.
void PlanCache::wire(const Origin& origin, const Algorithm& algorithm, PlanRequest& request) {
  GroupState& state = *origin.state;
  const std::uint32_t root = origin.root;
  switch (algorithm.wiring) {
    case Wiring::kRings:
      request.channels = state.routes->rings;
      return;
    case Wiring::kChainsFromRoot:
    case Wiring::kChainsToRoot: {
      const bool into = algorithm.wiring == Wiring::kChainsToRoot;
      const auto [it, is_new] = state.chains.try_emplace({root, into});
      if (is_new) it->second = placement_->chains(state.members, root, into);
      request.channels = it->second;
      return;
    }
    case Wiring::kRounds:
      request.rounds = rounds(origin, algorithm);
      return;
    case Wiring::kTrees:
    case Wiring::kSwitch:
    case Wiring::kSwitchTrees:
    case Wiring::kNetworkSwitch:
      if (profile_->ideal) {
        request.rounds = rounds(origin, algorithm);
      } else {
        request.pipelines = pipelines(state, algorithm);
      }
      return;
    case Wiring::kNeighbours:
      if (state.neighbours.empty()) state.neighbours = placement_->neighbours(state.members);
      request.neighbours = state.neighbours;
      return;
  }
}

std::span<const RoundRoutes> PlanCache::rounds(const Origin& origin, const Algorithm& algorithm) {
  GroupState& state = *origin.state;
  const auto [it, is_new] = state.rounds.try_emplace({&algorithm, origin.root, origin.splits});
  if (is_new) it->second = placement_->rounds(state.members, rounds_of(origin, algorithm));
  return it->second;
}

PlanCache::RoundsByUsage PlanCache::rounds_by_usage(GroupId group) const {
  RoundsByUsage by_usage;
  const GroupState& state = groups_[group.index()];
  for (const auto& [key, routes] : state.rounds) {
    const auto& [algorithm, root, splits] = key;
    if (splits != kEven || algorithm->uses_switches) continue;
    std::vector<Round> rounds = algorithm->rounds({state.routes->ranks, root, state.routes->by_host});
    for (std::size_t r = 0; r < routes.size(); ++r)
      by_usage.emplace(routes[r].usage.data(), std::move(rounds[r]));
  }
  return by_usage;
}

std::span<const PipelineChannel> PlanCache::pipelines(GroupState& state, const Algorithm& algorithm) {
  const auto [it, is_new] = state.pipelines.try_emplace({algorithm.wiring, algorithm.kind});
  if (!is_new) return it->second;
  if (algorithm.wiring == Wiring::kTrees) it->second = placement_->trees(state.members);
  if (algorithm.wiring == Wiring::kSwitch) it->second = placement_->switches(state.members, algorithm.kind);
  if (algorithm.wiring == Wiring::kSwitchTrees) it->second = placement_->switch_trees(state.members);
  if (algorithm.wiring == Wiring::kNetworkSwitch) it->second = placement_->network_switches(state.members);
  return it->second;
}

// Uneven splits: one round of all pairs, the largest block a whole flow and the others lighter, so that all
// end together.
std::vector<Round> PlanCache::rounds_of(const Origin& origin, const Algorithm& algorithm) const {
  const GroupState& state = *origin.state;
  if (origin.splits == kEven)
    return algorithm.rounds({state.routes->ranks, origin.root, state.routes->by_host});
  const SplitMatrix& matrix = trace_->matrices[origin.splits];
  double largest = 0;
  for (std::uint32_t a = 0; a < matrix.members; ++a)
    for (std::uint32_t b = 0; b < matrix.members; ++b)
      if (a != b) largest = std::max(largest, matrix.at(a, b).as_double());
  Round round{.share = largest / std::max(1.0, matrix.size().as_double())};
  for (std::uint32_t a = 0; a < matrix.members; ++a)
    for (std::uint32_t b = 0; b < matrix.members; ++b)
      if (a != b && matrix.at(a, b).count() > 0)
        round.transfers.push_back({a, b, matrix.at(a, b).as_double() / largest});
  return {round};
}

const PlannedOperation& PlanCache::plan(GroupState& state, const Key& key) {
  if (const auto it = state.plans.find(key); it != state.plans.end()) return it->second;
  Chosen chosen = choose_and_plan({&state, key.root, key.splits, key.type}, key.kind, key.bytes);
  PlannedOperation planned{.plan = std::move(chosen.plan),
                           .routes = state.routes.get(),
                           .costs = chosen.costs,
                           .pipelines = chosen.pipelines};
  planned.record = record_of(state, key, chosen.choice, planned.plan);
  planned.number = static_cast<std::uint32_t>(made_.size());
  PlannedOperation& kept = state.plans.emplace(key, std::move(planned)).first->second;
  made_.push_back({{&state, key.root, key.splits, key.type}, key.kind, key.bytes, &kept});
  return kept;
}

Plan PlanCache::planned_again(const PlannedOperation& planned) {
  const Made& made = made_[planned.number];
  for (auto& [root, chains] : made.origin.state->chains)
    for (RingChannel& chain : chains) placement_->find_lone_rate(chain);
  return choose_and_plan(made.origin, made.kind, made.bytes).plan;
}

void PlanCache::reprice() {
  for (const Made& made : made_) made.planned->plan = planned_again(*made.planned);
}

void PlanCache::forget_runs() {
  for (OperationRecord& r : records_) {
    r.runs = 0;
    r.time_ps = r.exposed_ps = 0;
    r.bottleneck = MaxMinSolver::kNone;
  }
}

// A choice is made once: it knows the hardware, and of the profile only whether it is ideal.
PlanCache::Priced PlanCache::choose_and_price(const Origin& origin, CollectiveKind kind, Bytes bytes) {
  GroupState& state = *origin.state;
  const Operation operation{kind, bytes, origin.type, state.routes.get(),
                            placement_->cost_scales(*state.routes)};
  const auto [it, is_new] = state.choices.try_emplace({kind, bytes, origin.type});
  if (is_new) it->second = choose(operation, *profile_, overrides_);
  return {it->second,
          costs_of(it->second, operation, *profile_, placement_->oldest(state.members), overrides_)};
}

PlanCache::Chosen PlanCache::choose_and_plan(const Origin& origin, CollectiveKind kind, Bytes bytes) {
  GroupState& state = *origin.state;
  const auto [choice, costs] = choose_and_price(origin, kind, bytes);
  PlanRequest request{.kind = kind, .bytes = bytes, .routes = state.routes.get(), .costs = costs};
  if (state.routes->ranks > 1) wire(origin, *choice.algorithm, request);
  return {choice, choice.algorithm->plan(request), request.costs, request.pipelines};
}

PlanCache::Detail PlanCache::detail_of(const OperationRecord& record) {
  const Origin& origin = origins_[static_cast<std::size_t>(&record - records_.data())];
  GroupState& state = *origin.state;
  Chosen chosen = choose_and_plan(origin, record.kind, record.bytes);
  PlanRequest request{.routes = state.routes.get()};
  if (state.routes->ranks > 1) wire(origin, *chosen.choice.algorithm, request);
  return {chosen.choice.algorithm,
          std::move(chosen.plan),
          chosen.costs,
          state.members,
          {state.routes->ranks, origin.root, state.routes->by_host},
          request.channels};
}

std::optional<NcclTable> PlanCache::table_of(const OperationRecord& record) {
  const Origin& origin = origins_[static_cast<std::size_t>(&record - records_.data())];
  if (profile_->ideal || record.ranks < 2) return std::nullopt;
  return busbar::table_of({record.kind, record.bytes, origin.type, origin.state->routes.get()}, overrides_);
}

std::optional<NcclTable> PlanCache::whole_table_of(const OperationRecord& record) {
  const Origin& origin = origins_[static_cast<std::size_t>(&record - records_.data())];
  if (profile_->ideal || record.ranks < 2) return std::nullopt;
  Overrides unforced = overrides_;
  unforced.algorithm.reset();
  unforced.protocol.reset();
  return busbar::table_of({record.kind, record.bytes, origin.type, origin.state->routes.get()}, unforced);
}

std::optional<NcclDecider> PlanCache::decider_of(const OperationRecord& record) {
  const Origin& origin = origins_[static_cast<std::size_t>(&record - records_.data())];
  return busbar::decider_of({record.kind, record.bytes, origin.type, origin.state->routes.get()}, overrides_);
}

std::span<const std::uint32_t> PlanCache::members_of(const OperationRecord& record) const {
  return origins_[static_cast<std::size_t>(&record - records_.data())].state->members;
}

const GroupFacts& PlanCache::facts_of(const OperationRecord& record) const {
  return origins_[static_cast<std::size_t>(&record - records_.data())].state->routes->facts;
}

Plan PlanCache::plan_at(const OperationRecord& record, Bytes bytes) {
  const Origin& origin = origins_[static_cast<std::size_t>(&record - records_.data())];
  return choose_and_plan(origin, record.kind, bytes).plan;
}

PlanCosts PlanCache::costs_at(const OperationRecord& record, Bytes bytes) {
  return choose_and_price(origins_[static_cast<std::size_t>(&record - records_.data())], record.kind, bytes)
      .costs;
}

std::uint32_t PlanCache::record_of(GroupState& state, const Key& key, const Choice& choice,
                                   const Plan& plan) {
  const RecordKey record_key{key.kind,
                             key.group_kind,
                             state.routes->ranks,
                             key.bytes,
                             std::string(choice.algorithm->name),
                             std::string(name_of(choice.protocol)),
                             plan.channels};
  const auto [it, is_new] =
      record_index_.try_emplace(record_key, static_cast<std::uint32_t>(records_.size()));
  if (is_new)
    records_.push_back({.kind = key.kind,
                        .group = key.group_kind,
                        .ranks = state.routes->ranks,
                        .bytes = key.bytes,
                        .algorithm = std::string(choice.algorithm->name),
                        .protocol = std::string(name_of(choice.protocol)),
                        .channels = plan.channels,
                        .latency = plan.latency(),
                        .rate_bound = std::string(plan.rate_bound)});
  if (is_new) origins_.push_back({&state, key.root, key.splits, key.type});
  return it->second;
}

}  // namespace busbar
