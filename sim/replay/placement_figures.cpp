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
    const std::uint32_t host = topology_->host_of(device(r));
    if (host != kNoHost && by_host[host] == nullptr) by_host[host] = &generation(r);
  }
  const Generation& fallback = generation(0);
  std::vector<double> capacity;
  const std::size_t links = topology_->links().size();
  capacity.reserve(links);
  for (std::size_t l = 0; l < links; ++l) {
    const LinkSpec& spec = topology_->spec(LinkId::from_index(l));
    const bool between_gpus = spec.type == LinkType::kNvlink || spec.type == LinkType::kXgmi;
    const std::uint32_t host =
        between_gpus ? topology_->host_of(topology_->from(LinkId::from_index(l))) : kNoHost;
    const Generation* g = host == kNoHost ? nullptr : by_host[host];
    capacity.push_back(spec.bandwidth.Bps() *
                       link_efficiency(spec.type, *profile_, g == nullptr ? fallback : *g));
  }
  if (scales_.bandwidth.empty()) return capacity;
  std::vector<double> scale;
  for (const std::string& name : link_classes_.names) scale.push_back(scales_.bandwidth_of(name));
  for (std::size_t l = 0; l < links; ++l) capacity[l] *= scale[link_classes_.of[l]];
  return capacity;
}

void Placement::rescale(Scales scales) {
  scales_ = std::move(scales);
  profile_changed();
}

CostScales Placement::cost_scales(const GroupRoutes& routes) const {
  CostScales scales;
  scales.inside = scales_.bandwidth_of(busbar::name_of(routes.intra_link));
  scales.between = scales_.bandwidth_of(kNicClass);
  scales.channel = scales_.channel;
  scales.launch = scales_.launch;
  scales.latency = scales_.latency;
  return scales;
}

const Generation& Placement::oldest(std::span<const std::uint32_t> members) const {
  const Generation* oldest = &generation(members.front());
  for (const std::uint32_t rank : members)
    if (&generation(rank) < oldest) oldest = &generation(rank);  // the profile lists them oldest first
  return *oldest;
}

void Placement::profile_changed() {
  generations_.clear();
  for (const GpuModel& model : topology_->gpu_models())
    generations_.push_back(generation_of(*profile_, model.name).generation);
  generations_.push_back(generation_of(*profile_, "").generation);
  if (!scales_.bandwidth.empty() && link_classes_.of.empty()) link_classes_ = link_classes(*topology_);
  capacity_ = sustained();
}

const Generation& Placement::generation(std::uint32_t rank) const {
  const std::int32_t model = topology_->gpu_model_of(device(rank));
  return *(model < 0 ? generations_.back() : generations_[static_cast<std::size_t>(model)]);
}

std::string_view Placement::gpu_model(std::uint32_t rank) const {
  const std::int32_t model = topology_->gpu_model_of(device(rank));
  return model < 0 ? "" : std::string_view(topology_->gpu_models()[static_cast<std::size_t>(model)].name);
}

std::vector<std::string> Placement::unmatched_models() const {
  std::set<std::string> names;
  for (const GpuModel& model : topology_->gpu_models())
    if (!generation_of(*profile_, model.name).matched) names.insert(model.name);
  return {names.begin(), names.end()};
}

}  // namespace busbar
