#include "topologies/topology.h"

#include <fmt/format.h>

namespace busbar {

/// "leaf" of "leaf12": what fabrics call their tiers. Other switches go by their kind.
std::string Topology::role_of(DeviceId device) const {
  std::string kind_name(busbar::name_of(kind(device)));
  if (kind(device) != DeviceKind::kSwitch) return kind_name;
  const std::string id = name_of(device);
  const std::string stem = id.substr(0, id.find_last_not_of("0123456789") + 1);
  return stem == "leaf" || stem == "spine" || stem == "core" ? stem : kind_name;
}

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kNvswitch:
      return "nvswitch";
    case DeviceKind::kPcieSwitch:
      return "pcie-switch";
    case DeviceKind::kNic:
      return "nic";
    case DeviceKind::kSwitch:
      return "switch";
  }
  return "";
}

std::string Topology::name_of(DeviceId id) const {
  const StoredDevice& d = devices_[id.index()];
  return d.part_of_host ? fmt::format("{}.{}", hosts_[d.host].name, parts_[d.name]) : names_[d.name];
}

std::string Topology::link_name(LinkId id) const {
  return fmt::format("{}->{}", name_of(from(id)), name_of(to(id)));
}

std::string Topology::link_class(LinkId id) const {
  if (!is_network(spec(id).type)) return std::string(busbar::name_of(spec(id).type));
  return fmt::format("{}->{}", role_of(from(id)), role_of(to(id)));
}

std::optional<LinkId> Topology::way_back(LinkId id) const {
  for (const std::size_t other : {id.index() + 1, id.index() - 1}) {
    if (other >= links_.size()) continue;  // also before the first
    const LinkId back = LinkId::from_index(other);
    if (from(back) == to(id) && to(back) == from(id)) return back;
  }
  return std::nullopt;
}

}  // namespace busbar
