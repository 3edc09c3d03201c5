#include "topologies/host_shapes.h"

#include <map>

namespace busbar {
namespace {

/// The host that both ends of the link are in, or kNoHost.
std::uint32_t host_of(const Topology& t, const Link& link) {
  const std::uint32_t host = t.device(link.from).host;
  return host == t.device(link.to).host ? host : kNoHost;
}

/// Sorts ids by host, keeping their order: fills `first` (CSR offsets), `sorted` and `place` (number within
/// the host).
template <class IdType>
void sort_by_host(const std::vector<std::uint32_t>& hosts, std::vector<std::uint32_t>& first,
                  std::vector<IdType>& sorted, std::vector<std::uint32_t>& place) {
  place.assign(hosts.size(), 0);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] != kNoHost) place[i] = first[hosts[i] + 1]++;
  }
  for (std::size_t h = 0; h + 1 < first.size(); ++h) first[h + 1] += first[h];
  sorted.resize(first.back());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] != kNoHost) sorted[first[hosts[i]] + place[i]] = IdType::from_index(i);
  }
}

}  // namespace

HostShapes::HostShapes(const Topology& topology) : t_(topology) {
  list_devices();
  list_links();
  find_representatives();
}

void HostShapes::list_devices() {
  std::vector<std::uint32_t> hosts;
  hosts.reserve(t_.devices().size());
  for (const Device& device : t_.devices()) hosts.push_back(device.host);
  first_device_.assign(t_.hosts().size() + 1, 0);
  sort_by_host(hosts, first_device_, devices_, device_place_);
}

void HostShapes::list_links() {
  std::vector<std::uint32_t> hosts;
  hosts.reserve(t_.links().size());
  for (const Link& link : t_.links()) hosts.push_back(host_of(t_, link));
  first_link_.assign(t_.hosts().size() + 1, 0);
  sort_by_host(hosts, first_link_, links_, link_place_);
}

std::vector<std::uint32_t> HostShapes::description(std::uint32_t host) const {
  std::vector<std::uint32_t> words = {first_device_[host + 1] - first_device_[host]};
  words.reserve(words[0] + 1 + 3 * (first_link_[host + 1] - first_link_[host]));
  for (std::uint32_t d = first_device_[host]; d < first_device_[host + 1]; ++d) {
    words.push_back(static_cast<std::uint32_t>(t_.device(devices_[d]).kind));
  }
  for (std::uint32_t l = first_link_[host]; l < first_link_[host + 1]; ++l) {
    const Link& link = t_.link(links_[l]);
    words.push_back(device_place_[link.from.index()]);
    words.push_back(device_place_[link.to.index()]);
    words.push_back(static_cast<std::uint32_t>(link.type));
  }
  return words;
}

void HostShapes::find_representatives() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> first_of;
  for (std::uint32_t host = 0; host < t_.hosts().size(); ++host) {
    representative_.push_back(first_of.try_emplace(description(host), host).first->second);
  }
}

DeviceId HostShapes::representative(DeviceId device) const {
  return device_in(representative_[t_.device(device).host], device);
}

DeviceId HostShapes::device_in(std::uint32_t host, DeviceId of_representative) const {
  return devices_[first_device_[host] + device_place_[of_representative.index()]];
}

LinkId HostShapes::link_in(std::uint32_t host, LinkId of_representative) const {
  return links_[first_link_[host] + link_place_[of_representative.index()]];
}

}  // namespace busbar
