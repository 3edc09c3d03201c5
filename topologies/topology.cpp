#include "topologies/topology.h"

#include <fmt/format.h>

namespace busbar {
namespace {

/// "leaf" of "leaf12": what fabrics call their tiers. Other switches go by their kind.
std::string_view role_of(const Device& device) {
  if (device.kind != DeviceKind::kSwitch) return name_of(device.kind);
  const std::string_view id = device.id;
  const std::string_view stem = id.substr(0, id.find_last_not_of("0123456789") + 1);
  return stem == "leaf" || stem == "spine" || stem == "core" ? stem : name_of(device.kind);
}

}  // namespace

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

std::string Topology::link_name(LinkId id) const {
  return fmt::format("{}->{}", device(link(id).from).id, device(link(id).to).id);
}

std::string Topology::link_class(LinkId id) const {
  const Link& l = link(id);
  if (!is_network(l.type)) return std::string(name_of(l.type));
  return fmt::format("{}->{}", role_of(device(l.from)), role_of(device(l.to)));
}

std::span<const LinkId> Topology::out_links(DeviceId id) const {
  const std::uint32_t first = out_first_[id.index()];
  return std::span(out_).subspan(first, out_first_[id.index() + 1] - first);
}

}  // namespace busbar
