// Dragonfly: groups of routers, all routers of a group joined, all groups joined.
// Source: Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/base/error.h"
#include "topologies/fabrics/tiers.h"

namespace busbar {
namespace {

/// A minimal route is local, global, local. Two globals in a row are fewer links, so a global one weighs more
/// than the detour over two locals on either side saves.
constexpr std::uint16_t kGlobalWeight = 5;

struct Shape {
  std::size_t groups, routers;  // routers of one group
  Bandwidth local;              // between two routers of a group, each way
  Bandwidth global;             // between two groups
};

std::vector<SwitchBelow> add_routers(TopologyBuilder& builder, const FabricRequest& request) {
  const auto per_router = static_cast<std::size_t>(request.hosts_per_router);
  const auto routers = static_cast<std::size_t>(request.groups * request.routers_per_group);
  if (request.nics.size() > routers * per_router) {
    throw Error({.message = fmt::format("{} groups of {} routers of {} hosts take {} hosts, not {}",
                                        request.groups, request.routers_per_group, per_router,
                                        routers * per_router, request.nics.size())});
  }
  std::vector<SwitchBelow> added;
  for (std::size_t r = 0; r < routers; ++r) {
    std::vector<NicPlace> nics;
    for (std::size_t h = r * per_router; h < std::min(request.nics.size(), (r + 1) * per_router); ++h) {
      for (std::size_t n = 0; n < request.nics[h].size(); ++n) nics.push_back({h, n});
    }
    added.push_back(add_leaf(builder, request, fmt::format("router{}", r), nics));
  }
  return added;
}

/// Balanced as the source's section 3.1 has it, from the fullest router: per router as much global as NIC
/// bandwidth, and twice that local (a = 2p = 2h). "link": the rate of each cable, one per pair of routers of
/// a group and one per router towards other groups.
Shape shape_of(const FabricRequest& request, std::span<const SwitchBelow> routers) {
  double nics = 0;
  for (const SwitchBelow& router : routers) nics = std::max(nics, router.down.Bps());
  const auto a = static_cast<double>(request.routers_per_group);
  const double peers = std::max<double>(1, static_cast<double>(request.groups - 1));
  const double local = request.link ? request.link->Bps() : 2 * nics / a;
  const double global = (request.link ? request.link->Bps() : nics) * a / peers;
  return {static_cast<std::size_t>(request.groups), static_cast<std::size_t>(request.routers_per_group),
          Bandwidth::bytes_per_second(local), Bandwidth::bytes_per_second(global)};
}

void join_groups(TopologyBuilder& builder, const FabricRequest& request, const Shape& shape,
                 std::span<const SwitchBelow> routers) {
  // Peer k of a group is reached by `each` routers, from k x each on, so that every router has its share.
  const std::size_t each =
      std::max<std::size_t>(1, shape.routers / std::max<std::size_t>(1, shape.groups - 1));
  const auto port = [&](std::size_t group, std::size_t peer, std::size_t i) {
    const std::size_t k = peer < group ? peer : peer - 1;
    return routers[group * shape.routers + (k * each + i) % shape.routers].device;
  };
  for (std::size_t a = 0; a < shape.groups; ++a) {
    for (std::size_t b = a + 1; b < shape.groups; ++b) {
      for (std::size_t i = 0; i < each; ++i) {
        const LinkId link = builder.add_link(port(a, b, i), port(b, a, i),
                                             shape.global / static_cast<double>(each), request.wire);
        builder.set_weight(link, kGlobalWeight);
      }
    }
  }
}

void build(TopologyBuilder& builder, const FabricRequest& request) {
  const std::vector<SwitchBelow> routers = add_routers(builder, request);
  const Shape shape = shape_of(request, routers);
  for (std::size_t group = 0; group < shape.groups; ++group) {
    for (std::size_t i = 0; i < shape.routers; ++i) {
      for (std::size_t j = i + 1; j < shape.routers; ++j) {
        builder.add_link(routers[group * shape.routers + i].device, routers[group * shape.routers + j].device,
                         shape.local, request.wire);
      }
    }
  }
  join_groups(builder, request, shape, routers);
}

constexpr std::string_view kKeys[] = {"family", "groups", "routers_per_group", "hosts_per_router",
                                      "link",   "nic",    "routing",           "wire"};

}  // namespace

FabricFamily dragonfly() {
  return {.name = "dragonfly",
          .help = "groups of joined routers, every group joined to every other, minimal routes",
          .keys = kKeys,
          .build = build};
}

}  // namespace busbar
