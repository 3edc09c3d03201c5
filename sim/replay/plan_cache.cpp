#include "sim/replay/plan_cache.h"

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
  const bool neighbours = op.collective == CollectiveKind::kSendRecv;
  if (!state.routes) state.routes = std::make_unique<GroupRoutes>(placement_->group(ranks));
  if (neighbours && state.routes->neighbours.empty())
    state.routes->neighbours = placement_->neighbours(ranks).neighbours;
  return plan(state, {op.collective, op.bytes, kind_name});
}

const PlannedOperation& PlanCache::transfer(std::uint32_t from, std::uint32_t to, Bytes bytes,
                                            const std::string& kind_name) {
  GroupState& state = pairs_[(std::uint64_t{from} << 32) | to];
  if (!state.routes) {
    state.members = {from, to};
    state.routes = std::make_unique<GroupRoutes>(placement_->pair(from, to));
  }
  return plan(state, {CollectiveKind::kSendRecv, bytes, kind_name});
}

const PlannedOperation& PlanCache::plan(GroupState& state, const Key& key) {
  if (const auto it = state.plans.find(key); it != state.plans.end()) return it->second;
  Chosen chosen = choose_and_plan(key.kind, key.bytes, *state.routes, state.members.front());
  PlannedOperation planned{.plan = std::move(chosen.plan)};
  planned.record = record_of(state, key, chosen.choice, planned.plan);
  return state.plans.emplace(key, std::move(planned)).first->second;
}

PlanCache::Chosen PlanCache::choose_and_plan(CollectiveKind kind, Bytes bytes, const GroupRoutes& routes,
                                             std::uint32_t first_rank) const {
  const Generation& generation = placement_->generation(first_rank);
  // Overrides name an algorithm of the collective under study; point-to-point keeps its own.
  const Overrides overrides = kind == CollectiveKind::kSendRecv || kind == CollectiveKind::kBarrier
                                  ? Overrides{.protocol = overrides_.protocol}
                                  : overrides_;
  const Choice choice = choose(kind, bytes, routes, *profile_, generation, overrides);
  const PlanRequest request{.kind = kind,
                            .bytes = bytes,
                            .routes = &routes,
                            .costs = costs_of(choice, kind, bytes, routes, *profile_, generation)};
  return {choice, choice.algorithm->plan(request)};
}

Plan PlanCache::plan_at(const OperationRecord& record, Bytes bytes) const {
  BUSBAR_CHECK(record.routes != nullptr);
  return choose_and_plan(record.kind, bytes, *record.routes, record.first_rank).plan;
}

std::uint32_t PlanCache::record_of(const GroupState& state, const Key& key, const Choice& choice,
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
                        .latency = plan.latency + plan.tail,
                        .routes = state.routes.get(),
                        .first_rank = state.members.front()});
  ++records_[it->second].groups;
  return it->second;
}

}  // namespace busbar
