#include "topologies/host_shapes.h"

#include <algorithm>

#include "sim/base/digest.h"

namespace busbar {
namespace {

/// Sorts ids by island, keeping their order: fills `first` (CSR offsets), `sorted` and `place` (number within
/// the island).
template <class IdType>
void sort_by_island(const std::vector<std::uint32_t>& islands, std::vector<std::uint32_t>& first,
                    std::vector<IdType>& sorted, std::vector<std::uint32_t>& place) {
  place.assign(islands.size(), 0);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (islands[i] != kNoHost) place[i] = first[islands[i] + 1]++;
  }
  for (std::size_t h = 0; h + 1 < first.size(); ++h) first[h + 1] += first[h];
  sorted.resize(first.back());
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (islands[i] != kNoHost) sorted[first[islands[i]] + place[i]] = IdType::from_index(i);
  }
}

}  // namespace

std::vector<std::uint32_t> islands_of(const Topology& t) {
  std::vector<std::uint32_t> islands;
  islands.reserve(t.devices().size());
  bool all_at_home = true;  // no NVLink switch stands outside the hosts
  for (std::size_t d = 0; d < t.devices().size(); ++d) {
    const DeviceId device = DeviceId::from_index(d);
    const std::uint32_t host = t.host_of(device);
    islands.push_back(host == kNoHost ? kNoHost : t.hosts()[host].domain);
    if (host == kNoHost && t.kind(device) == DeviceKind::kNvswitch) all_at_home = false;
  }
  for (std::size_t l = 0; l < t.links().size() && !all_at_home; ++l) {
    const DeviceId from = t.from(LinkId::from_index(l)), to = t.to(LinkId::from_index(l));
    std::uint32_t& island = islands[to.index()];
    if (island == kNoHost && t.kind(to) == DeviceKind::kNvswitch && t.kind(from) == DeviceKind::kGpu)
      island = islands[from.index()];
  }
  return islands;
}

HostShapes::HostShapes(const Topology& topology) : t_(topology), island_(islands_of(topology)) {
  list_devices();
  list_links();
  list_cables();
  find_representatives();
}

void HostShapes::list_devices() {
  first_device_.assign(t_.hosts().size() + 1, 0);  // islands are numbered like hosts
  sort_by_island(island_, first_device_, devices_, device_place_);
}

void HostShapes::list_links() {
  std::vector<std::uint32_t> islands;
  islands.reserve(t_.links().size());
  open_.assign(t_.hosts().size(), false);
  for (std::size_t l = 0; l < t_.links().size(); ++l) {
    const LinkId link = LinkId::from_index(l);
    const std::uint32_t from = island(t_.from(link)), to = island(t_.to(link));
    islands.push_back(from == to ? from : kNoHost);
    if (from == to || is_network(t_.spec(link).type)) continue;
    for (const std::uint32_t end : {from, to})
      if (end != kNoHost) open_[end] = true;
  }
  first_link_.assign(t_.hosts().size() + 1, 0);
  sort_by_island(islands, first_link_, links_, link_place_);
}

void HostShapes::list_cables() {
  up_.resize(t_.devices().size());
  down_.resize(t_.devices().size());
  const auto count = [](Cable& cable, LinkId link) {
    if (cable.links++ == 0) cable.link = link;
  };
  for (std::size_t l = 0; l < t_.links().size(); ++l) {
    const LinkId link = LinkId::from_index(l);
    if (!is_network(t_.spec(link).type)) continue;
    count(up_[t_.from(link).index()], link);
    count(down_[t_.to(link).index()], link);
  }
}

bool HostShapes::same_cable(const Cable& a, const Cable& b) const {
  return a.links == b.links && (a.links == 0 || t_.spec_number(a.link) == t_.spec_number(b.link));
}

bool HostShapes::alike(DeviceId a, DeviceId b) const {
  const Device x = t_.device(a), y = t_.device(b);
  if (x.kind != y.kind || x.gpu_model != y.gpu_model || x.compute != y.compute) return false;
  if ((x.host == kNoHost) != (y.host == kNoHost)) return false;
  if (x.host != kNoHost &&
      (x.host - island(a) != y.host - island(b) || t_.hosts()[x.host].cpu != t_.hosts()[y.host].cpu))
    return false;
  return x.kind != DeviceKind::kNic || (same_cable(up(a), up(b)) && same_cable(down(a), down(b)));
}

bool HostShapes::alike(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t devices = first_device_[a + 1] - first_device_[a];
  const std::uint32_t links = first_link_[a + 1] - first_link_[a];
  if (first_device_[b + 1] - first_device_[b] != devices || first_link_[b + 1] - first_link_[b] != links)
    return false;
  for (std::uint32_t d = 0; d < devices; ++d)
    if (!alike(devices_[first_device_[a] + d], devices_[first_device_[b] + d])) return false;
  const auto place = [this](DeviceId device) { return device_place_[device.index()]; };
  for (std::uint32_t l = 0; l < links; ++l) {
    const LinkId x = links_[first_link_[a] + l], y = links_[first_link_[b] + l];
    if (t_.spec_number(x) != t_.spec_number(y) || place(t_.from(x)) != place(t_.from(y)) ||
        place(t_.to(x)) != place(t_.to(y)))
      return false;
  }
  return true;
}

// Of part of what makes islands alike; those with equal digests are compared.
std::uint64_t HostShapes::digest(std::uint32_t island) const {
  std::uint64_t h = first_device_[island + 1] - first_device_[island];
  for (std::uint32_t l = first_link_[island]; l < first_link_[island + 1]; ++l)
    h = mix(h, t_.spec_number(links_[l]));
  return h;
}

void HostShapes::find_representatives() {
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known;
  for (std::uint32_t island = 0; island < t_.hosts().size(); ++island) {
    if (island > 0 && alike(island, representative_.back())) {
      representative_.push_back(representative_.back());
      continue;
    }
    std::vector<std::uint32_t>& candidates = known[digest(island)];
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [&](std::uint32_t other) { return alike(island, other); });
    representative_.push_back(found != candidates.end() ? *found : island);
    if (found == candidates.end()) candidates.push_back(island);
  }
}

}  // namespace busbar
