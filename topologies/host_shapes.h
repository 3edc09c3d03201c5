// Which hosts look alike inside, so that what is found in one serves all.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/topology.h"

namespace busbar {

/// Two hosts are of one shape if they have the same kinds of device in the same order, with the same types of
/// link between the same places, in the same order. Routes inside a host depend on nothing else: no
/// bandwidth, so faults do not matter, and no name. Each shape is represented by its first host.
class HostShapes {
 public:
  explicit HostShapes(const Topology& topology);

  /// The device in the same place of the host that represents this one. Requires: `device` has a host.
  [[nodiscard]] DeviceId representative(DeviceId device) const;
  /// From the representative back to `host`, one of its shape. Requires: the device (both ends of the link)
  /// has a host.
  [[nodiscard]] DeviceId device_in(std::uint32_t host, DeviceId of_representative) const;
  [[nodiscard]] LinkId link_in(std::uint32_t host, LinkId of_representative) const;
  [[nodiscard]] std::uint32_t representative_host(std::uint32_t host) const { return representative_[host]; }

 private:
  void list_devices();
  void list_links();
  void find_representatives();
  [[nodiscard]] std::vector<std::uint32_t> description(std::uint32_t host) const;

  const Topology& t_;
  std::vector<std::uint32_t> device_place_, link_place_;  // within the host
  std::vector<std::uint32_t> first_device_, first_link_;  // per host, and one past the last
  std::vector<DeviceId> devices_;                         // by host, then place
  std::vector<LinkId> links_;
  std::vector<std::uint32_t> representative_;  // per host
};

}  // namespace busbar
