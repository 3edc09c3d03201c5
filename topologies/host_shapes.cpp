#include "topologies/host_shapes.h"

#include <map>

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
  for (const Device& device : t.devices())
    islands.push_back(device.host == kNoHost ? kNoHost : t.hosts()[device.host].domain);
  for (const Link& link : t.links()) {
    std::uint32_t& island = islands[link.to.index()];
    if (island == kNoHost && t.device(link.to).kind == DeviceKind::kNvswitch &&
        t.device(link.from).kind == DeviceKind::kGpu)
      island = islands[link.from.index()];
  }
  return islands;
}

HostShapes::HostShapes(const Topology& topology) : t_(topology), island_(islands_of(topology)) {
  list_devices();
  list_links();
  find_representatives();
}

void HostShapes::list_devices() {
  first_device_.assign(t_.hosts().size() + 1, 0);  // islands are numbered like hosts
  sort_by_island(island_, first_device_, devices_, device_place_);
}

void HostShapes::list_links() {
  std::vector<std::uint32_t> islands;
  islands.reserve(t_.links().size());
  for (const Link& link : t_.links())
    islands.push_back(island(link.from) == island(link.to) ? island(link.from) : kNoHost);
  first_link_.assign(t_.hosts().size() + 1, 0);
  sort_by_island(islands, first_link_, links_, link_place_);
}

std::vector<std::uint32_t> HostShapes::description(std::uint32_t island) const {
  std::vector<std::uint32_t> words = {first_device_[island + 1] - first_device_[island]};
  words.reserve(words[0] + 1 + 3 * (first_link_[island + 1] - first_link_[island]));
  for (std::uint32_t d = first_device_[island]; d < first_device_[island + 1]; ++d) {
    words.push_back(static_cast<std::uint32_t>(t_.device(devices_[d]).kind));
  }
  for (std::uint32_t l = first_link_[island]; l < first_link_[island + 1]; ++l) {
    const Link& link = t_.link(links_[l]);
    words.push_back(device_place_[link.from.index()]);
    words.push_back(device_place_[link.to.index()]);
    words.push_back(static_cast<std::uint32_t>(link.type));
  }
  return words;
}

void HostShapes::find_representatives() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> first_of;
  for (std::uint32_t island = 0; island < t_.hosts().size(); ++island) {
    representative_.push_back(first_of.try_emplace(description(island), island).first->second);
  }
}

DeviceId HostShapes::representative(DeviceId device) const {
  return devices_[first_device_[representative_[island(device)]] + device_place_[device.index()]];
}

LinkId HostShapes::link_in(std::uint32_t island, LinkId of_representative) const {
  return links_[first_link_[island] + link_place_[of_representative.index()]];
}

}  // namespace busbar
