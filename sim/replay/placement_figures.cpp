// What a profile makes of the placed machine: sustained capacities and GPU generations.
#include <algorithm>
#include <set>

#include "sim/cost/cost_model.h"
#include "sim/replay/placement.h"

namespace busbar {

std::vector<double> Placement::sustained() const {
  // The efficiency of links between GPUs is that of the host's GPUs.
  std::vector<const Generation*> by_host(topology_->hosts().size(), nullptr);
  for (std::uint32_t r = 0; r < ranks(); ++r) {
    const std::uint32_t host = topology_->device(device(r)).host;
    if (host != kNoHost && by_host[host] == nullptr) by_host[host] = &generation(r);
  }
  const Generation& fallback = generation(0);
  std::vector<double> capacity;
  capacity.reserve(topology_->links().size());
  for (const Link& link : topology_->links()) {
    const bool between_gpus = link.type == LinkType::kNvlink || link.type == LinkType::kXgmi;
    const std::uint32_t host = between_gpus ? topology_->device(link.from).host : kNoHost;
    const Generation* g = host == kNoHost ? nullptr : by_host[host];
    capacity.push_back(link.bandwidth.Bps() *
                       link_efficiency(link.type, *profile_, g == nullptr ? fallback : *g));
  }
  return capacity;
}

const Generation& Placement::oldest(std::span<const std::uint32_t> members) const {
  const Generation* oldest = &generation(members.front());
  for (const std::uint32_t rank : members)
    if (&generation(rank) < oldest) oldest = &generation(rank);  // the profile lists them oldest first
  return *oldest;
}

const Generation& Placement::generation(std::uint32_t rank) const {
  return *generation_of(*profile_, gpu_model(rank)).generation;
}

std::string_view Placement::gpu_model(std::uint32_t rank) const {
  const std::int32_t model = topology_->device(device(rank)).gpu_model;
  return model < 0 ? "" : std::string_view(topology_->gpu_models()[static_cast<std::size_t>(model)].name);
}

std::vector<std::string> Placement::unmatched_models() const {
  std::set<std::string> names;
  for (const GpuModel& model : topology_->gpu_models())
    if (!generation_of(*profile_, model.name).matched) names.insert(model.name);
  return {names.begin(), names.end()};
}

}  // namespace busbar
