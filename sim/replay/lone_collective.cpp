#include "sim/replay/lone_collective.h"

#include "sim/replay/lone_run.h"

namespace busbar {

namespace {

StepTrace one_group(const std::vector<std::uint32_t>& ranks) {
  StepTrace trace;
  Group group{.name = "all"};
  for (const std::uint32_t rank : ranks) group.members.push_back({rank, 1, 1});
  trace.groups.push_back(std::move(group));
  return trace;
}

}  // namespace

LoneCollective::LoneCollective(const Topology& topology, const Profile& profile, const Request& request)
    : trace_(one_group(request.ranks)),
      profile_(&profile),
      request_(request),
      placement_(topology, profile),
      plans_(trace_, placement_, profile, request.overrides) {
  const Op op{.kind = OpKind::kCollective,
              .collective = request.kind,
              .bytes = Bytes(static_cast<std::int64_t>(request.ranks.size()) << 20),
              .type = request.type};
  record_ = plans_.collective(GroupId(0), op, "all").record;
}

Time LoneCollective::device_time(Bytes bytes) {
  const OperationRecord& record = plans_.records()[record_];
  const PlanCosts costs = plans_.costs_at(record, bytes);
  auto& [latest, before] = known_[bytes];
  const auto is_known = [&](const std::optional<Known>& k) {
    return k && k->costs == costs && k->capacities == placement_.sort_capacities();
  };
  if (is_known(before)) std::swap(latest, before);
  if (is_known(latest)) return latest->device;
  std::swap(latest, before);
  const Plan plan = plans_.plan_at(record, bytes);
  latest = {costs, placement_.sort_capacities(),
            plan.latency() + transfers_.alone(plan, placement_.link_sorts(), placement_.sort_capacities())};
  return latest->device;
}

Time LoneCollective::time(Bytes bytes) {
  return with_launches(device_time(bytes), request_.calls, *profile_, placement_.oldest(request_.ranks));
}

Choice LoneCollective::choice(Bytes bytes) const {
  return choose({request_.kind, bytes, request_.type, plans_.routes(GroupId(0))}, *profile_,
                request_.overrides);
}

}  // namespace busbar
