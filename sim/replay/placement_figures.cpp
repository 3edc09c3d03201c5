// What a profile makes of the placed machine: sustained capacities and GPU generations.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/cost/cost_model.h"
#include "sim/replay/placement.h"

namespace busbar {

// Links of one specification, at GPUs of one generation and of one class sustain the same. The efficiency of
// links between GPUs is that of the host's GPUs.
void Placement::find_sorts() {
  std::vector<std::uint32_t> rank_of_host(topology_->hosts().size(), LinkSorts::kNoRank);
  for (std::uint32_t r = ranks(); r-- > 0;)
    if (const std::uint32_t host = topology_->host_of(device(r)); host != kNoHost) rank_of_host[host] = r;
  std::map<std::tuple<std::size_t, const Generation*, std::uint32_t>, std::uint32_t> known;
  const std::size_t links = topology_->links().size();
  sorts_ = {};
  sorts_.of.reserve(links);
  for (std::size_t l = 0; l < links; ++l) {
    const LinkId id = LinkId::from_index(l);
    const LinkSpec& spec = topology_->spec(id);
    const bool between_gpus = spec.type == LinkType::kNvlink || spec.type == LinkType::kXgmi;
    const std::uint32_t host = between_gpus ? topology_->host_of(topology_->from(id)) : kNoHost;
    const std::uint32_t rank = host == kNoHost ? LinkSorts::kNoRank : rank_of_host[host];
    const std::uint32_t own_class = link_classes_.of.empty() ? 0 : link_classes_.of[l];
    const auto [it, is_new] = known.try_emplace(
        {topology_->spec_number(id), &generation(rank == LinkSorts::kNoRank ? 0 : rank), own_class},
        static_cast<std::uint32_t>(sorts_.first.size()));
    if (is_new) {
      sorts_.first.push_back(id);
      sorts_.rank.push_back(rank);
    }
    sorts_.of.push_back(it->second);
  }
}

void Placement::find_capacities() {
  std::vector<double> capacity;
  for (std::size_t s = 0; s < sorts_.first.size(); ++s) {
    const LinkSpec& spec = topology_->spec(sorts_.first[s]);
    const Generation& g = generation(sorts_.rank[s] == LinkSorts::kNoRank ? 0 : sorts_.rank[s]);
    capacity.push_back(spec.bandwidth.Bps() * link_efficiency(spec.type, *profile_, g));
    if (!scales_.bandwidth.empty())
      capacity.back() *= scales_.bandwidth_of(link_classes_.names[link_classes_.of[sorts_.first[s].index()]]);
  }
  if (capacity == sorts_.capacity) return;
  sorts_.capacity = std::move(capacity);
  capacity_.resize(sorts_.of.size());
  for (std::size_t l = 0; l < capacity_.size(); ++l) capacity_[l] = sorts_.capacity[sorts_.of[l]];
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
  const bool needs_classes = !scales_.bandwidth.empty() && link_classes_.of.empty();
  if (needs_classes) link_classes_ = link_classes(*topology_);
  if (needs_classes || sorts_.of.empty()) find_sorts();
  find_capacities();
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
