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

Time LoneCollective::time(Bytes bytes) {
  const Plan plan = plans_.plan_at(plans_.records()[record_], bytes);
  const Time device = plan.latency() + transfer_alone(plan, placement_.capacities());
  return with_launches(device, request_.calls, *profile_, placement_.oldest(request_.ranks));
}

Choice LoneCollective::choice(Bytes bytes) const {
  return choose({request_.kind, bytes, request_.type, plans_.routes(GroupId(0))}, *profile_,
                request_.overrides);
}

}  // namespace busbar
