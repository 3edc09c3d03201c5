// What a profile makes of the placed machine: sustained capacities and GPU generations.
#include <algorithm>
#include <map>
#include <set>

#include "sim/cost/cost_model.h"
#include "sim/replay/placement.h"

namespace busbar {

std::vector<double> Placement::capacities() const {
  std::map<std::uint32_t, const Generation*> by_host;
  for (std::uint32_t r = 0; r < ranks(); ++r)
    by_host.try_emplace(topology_->device(device(r)).host, &generation(r));
  const Generation* fallback = &generation(0);
  std::vector<double> capacity;
  capacity.reserve(topology_->links().size());
  for (const Link& link : topology_->links()) {
    const Generation* g = fallback;
    if (link.type == LinkType::kNvlink)
      if (const auto it = by_host.find(topology_->device(link.from).host); it != by_host.end())
        g = it->second;
    capacity.push_back(link.bandwidth.Bps() * link_efficiency(link.type, *profile_, *g));
  }
  return capacity;
}

const Generation& Placement::oldest(std::span<const std::uint32_t> members) const {
  const Generation* oldest = &generation(members.front());
  for (const std::uint32_t rank : members)
    if (generation(rank).compute_capability < oldest->compute_capability) oldest = &generation(rank);
  return *oldest;
}

const Generation& Placement::generation(std::uint32_t rank) const {
  const std::int32_t model = topology_->device(device(rank)).gpu_model;
  const std::string_view name =
      model < 0 ? "" : std::string_view(topology_->gpu_models()[static_cast<std::size_t>(model)].name);
  return *generation_of(*profile_, name).generation;
}

std::vector<std::string> Placement::unmatched_models() const {
  std::set<std::string> names;
  for (const GpuModel& model : topology_->gpu_models())
    if (!generation_of(*profile_, model.name).matched) names.insert(model.name);
  return {names.begin(), names.end()};
}

}  // namespace busbar
