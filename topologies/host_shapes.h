// Which hosts (or racks of hosts on one NVLink switch) look alike inside, so that what is found in one serves
// all.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/topology.h"

namespace busbar {

/// The island of each device: what is reached without a network. It is the NVLink domain of the device's host
/// (Host::domain); for an NVLink switch without a host, that of the first GPU linked to it; else kNoHost.
[[nodiscard]] std::vector<std::uint32_t> islands_of(const Topology& topology);

/// Two islands are of one shape if they have the same kinds of device in the same order, with the same types
/// of link between the same places, in the same order. Routes inside an island depend on nothing else: no
/// bandwidth, so faults do not matter, and no name. Each shape is represented by its first island.
class HostShapes {
 public:
  explicit HostShapes(const Topology& topology);

  [[nodiscard]] std::uint32_t island(DeviceId device) const { return island_[device.index()]; }
  /// The device in the same place of the island that represents this one. Requires: `device` has an island.
  [[nodiscard]] DeviceId representative(DeviceId device) const;
  /// From the representative back to `island`, one of its shape. Requires: both ends of the link are in it.
  [[nodiscard]] LinkId link_in(std::uint32_t island, LinkId of_representative) const;
  [[nodiscard]] std::uint32_t representative_of(std::uint32_t island) const {
    return representative_[island];
  }

 private:
  void list_devices();
  void list_links();
  void find_representatives();
  [[nodiscard]] std::vector<std::uint32_t> description(std::uint32_t island) const;

  const Topology& t_;
  std::vector<std::uint32_t> island_;                     // per device
  std::vector<std::uint32_t> device_place_, link_place_;  // within the island
  std::vector<std::uint32_t> first_device_, first_link_;  // per island, and one past the last
  std::vector<DeviceId> devices_;                         // by island, then place
  std::vector<LinkId> links_;
  std::vector<std::uint32_t> representative_;  // per island
};

}  // namespace busbar
