// Which GPUs, with the NICs that they use, look alike to a group that has nobody else on their hosts.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "sim/replay/placement.h"

namespace busbar {

/// Equal numbers: the same GPU model at the same speed, the same ways from GPU to NIC and back (links,
/// devices on the way, rates), the same links at both, the same CPU. All that Placement::group and `outline`
/// read of the host of a lone member is among these. Borrows the placement.
class PlaceKinds {
 public:
  explicit PlaceKinds(Placement& placement) : placement_(placement) {}
  /// Requires: both on one host.
  [[nodiscard]] std::uint32_t number(DeviceId gpu, DeviceId nic);

 private:
  using Signature = std::vector<std::uint64_t>;
  [[nodiscard]] Signature signature(DeviceId gpu, DeviceId nic);
  void add_links(DeviceId device, Signature& signature) const;
  void add_way(DeviceId from, DeviceId to, Signature& signature);
  void add_link(LinkId link, Signature& signature) const;

  Placement& placement_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by the devices that stand for theirs
  std::map<Signature, std::uint32_t> numbers_;
};

}  // namespace busbar
