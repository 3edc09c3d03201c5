// Which hosts (or racks of hosts on one NVLink switch) are alike inside, so that what is found in one serves
// all.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "topologies/topology.h"

namespace busbar {

/// The island of each device: what is reached without a network. It is the NVLink domain of the device's host
/// (Host::domain); for an NVLink switch without a host, that of the first GPU linked to it; else kNoHost.
[[nodiscard]] std::vector<std::uint32_t> islands_of(const Topology& topology);

/// A NIC's first network link in one direction, and how many it has.
struct Cable {
  LinkId link;
  std::uint32_t links = 0;
};

/// Two islands are of one shape if they have the same devices in the same order (kind, GPU model, what faults
/// left of it, place of the host in its domain, its CPU), joined by the same links between the same places in
/// the same order (all but their ends), with equal cables at equal NICs. Nothing that a route or a rate
/// inside depends on is left out but names. Each shape is represented by its first island.
class HostShapes {
 public:
  explicit HostShapes(const Topology& topology);

  [[nodiscard]] std::uint32_t island(DeviceId device) const { return island_[device.index()]; }
  /// Devices of an island.
  [[nodiscard]] std::uint32_t size(std::uint32_t island) const {
    return first_device_[island + 1] - first_device_[island];
  }
  [[nodiscard]] std::span<const DeviceId> devices(std::uint32_t island) const {
    return std::span(devices_).subspan(first_device_[island], size(island));
  }
  /// Links with both ends in it. Of islands of one shape, those in one place are alike.
  [[nodiscard]] std::span<const LinkId> links(std::uint32_t island) const {
    return std::span(links_).subspan(first_link_[island], first_link_[island + 1] - first_link_[island]);
  }
  /// Whether nothing but network links joins it to the rest.
  [[nodiscard]] bool is_closed(std::uint32_t island) const { return !open_[island]; }
  /// The device in the same place of the island that represents this one. Requires: `device` has an island.
  [[nodiscard]] DeviceId representative(DeviceId device) const {
    return devices_[first_device_[representative_[island(device)]] + device_place_[device.index()]];
  }
  /// From the representative back to `island`, one of its shape. Requires: both ends of the link are in it.
  [[nodiscard]] LinkId link_in(std::uint32_t island, LinkId of_representative) const {
    return links_[first_link_[island] + link_place_[of_representative.index()]];
  }
  [[nodiscard]] DeviceId device_in(std::uint32_t island, DeviceId of_representative) const {
    return devices_[first_device_[island] + device_place_[of_representative.index()]];
  }
  /// Whether both ends of a link are in `island`; the link in the same place of the representative.
  [[nodiscard]] bool is_inside(std::uint32_t island, LinkId link) const {
    return island_[t_.from(link).index()] == island && island_[t_.to(link).index()] == island;
  }
  [[nodiscard]] LinkId representative(LinkId link, std::uint32_t island) const {
    return links_[first_link_[representative_[island]] + link_place_[link.index()]];
  }
  [[nodiscard]] std::uint32_t representative_of(std::uint32_t island) const {
    return representative_[island];
  }
  /// Of any device that has network links: the way out, and the way in.
  [[nodiscard]] const Cable& up(DeviceId device) const { return up_[device.index()]; }
  [[nodiscard]] const Cable& down(DeviceId device) const { return down_[device.index()]; }

 private:
  void list_devices();
  void list_links();
  void list_cables();
  void find_representatives();
  [[nodiscard]] bool alike(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool alike(DeviceId a, DeviceId b) const;
  [[nodiscard]] bool same_cable(const Cable& a, const Cable& b) const;
  [[nodiscard]] std::uint64_t digest(std::uint32_t island) const;

  const Topology& t_;
  std::vector<std::uint32_t> island_;                     // per device
  std::vector<std::uint32_t> device_place_, link_place_;  // within the island
  std::vector<std::uint32_t> first_device_, first_link_;  // per island, and one past the last
  std::vector<DeviceId> devices_;                         // by island, then place
  std::vector<LinkId> links_;
  std::vector<Cable> up_, down_;               // per device
  std::vector<bool> open_;                     // per island
  std::vector<std::uint32_t> representative_;  // per island
};

}  // namespace busbar
