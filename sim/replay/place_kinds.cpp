#include "sim/replay/place_kinds.h"

#include <bit>
#include <initializer_list>

#include "topologies/host_shapes.h"

namespace busbar {

std::uint32_t PlaceKinds::number(DeviceId gpu, DeviceId nic) {
  const HostShapes& shapes = placement_.shapes();
  const std::uint64_t key =
      (std::uint64_t{shapes.representative(gpu).value()} << 32) | shapes.representative(nic).value();
  const auto [it, is_new] = known_.try_emplace(key, 0);
  if (is_new)
    it->second =
        numbers_.try_emplace(signature(gpu, nic), static_cast<std::uint32_t>(numbers_.size())).first->second;
  return it->second;
}

PlaceKinds::Signature PlaceKinds::signature(DeviceId gpu, DeviceId nic) {
  const Topology& t = placement_.topology();
  const Device device = t.device(gpu);
  Signature s{static_cast<std::uint64_t>(device.gpu_model), std::bit_cast<std::uint64_t>(device.compute),
              static_cast<std::uint64_t>(t.hosts()[device.host].cpu)};
  for (const DeviceId end : {gpu, nic}) add_links(end, s);
  for (const Cable& cable :
       std::initializer_list<Cable>{placement_.shapes().up(nic), placement_.shapes().down(nic)}) {
    s.push_back(cable.links);
    if (cable.links > 0) s.push_back(t.spec_number(cable.link));
  }
  add_way(gpu, nic, s);
  add_way(nic, gpu, s);
  return s;
}

void PlaceKinds::add_links(DeviceId device, Signature& signature) const {
  const auto links = placement_.topology().out_links(device);
  signature.push_back(links.size());
  for (const LinkId link : links) add_link(link, signature);
}

void PlaceKinds::add_link(LinkId link, Signature& signature) const {
  const Topology& t = placement_.topology();
  signature.push_back(t.spec_number(link));
  signature.push_back(std::bit_cast<std::uint64_t>(placement_.capacities()[link.index()]));
  signature.push_back((std::uint64_t{static_cast<std::uint8_t>(t.kind(t.from(link)))} << 8) |
                      static_cast<std::uint8_t>(t.kind(t.to(link))));
}

void PlaceKinds::add_way(DeviceId from, DeviceId to, Signature& signature) {
  const std::optional<RouteRef> way = placement_.router().find(from, to, RouteScope::kHost);
  signature.push_back(way ? way->middle->path.size() : ~std::uint64_t{0});
  if (!way) return;
  for (const LinkId link : way->middle->path) add_link(way->own(link), signature);
  way->for_each_use([&](const ResourceUse& use) {
    add_link(LinkId(use.resource.value()), signature);
    signature.push_back(static_cast<std::uint64_t>(use.flows));
  });
}

}  // namespace busbar
