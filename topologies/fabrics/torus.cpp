// Torus: hosts at the points of a grid that closes on itself, cabled to their neighbours.
// Source: Dally & Towles, Principles and Practices of Interconnection Networks, chapters 5 and 8.1
// (dimension-order routing).
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "topologies/fabrics/tiers.h"

namespace busbar {
namespace {

/// Hosts are numbered with the first dimension fastest.
struct Grid {
  std::vector<std::size_t> sizes;
  std::size_t stride(std::size_t dimension) const {
    std::size_t hosts = 1;
    for (std::size_t d = 0; d < dimension; ++d) hosts *= sizes[d];
    return hosts;
  }
  std::size_t next(std::size_t host, std::size_t dimension) const {
    const std::size_t step = stride(dimension);
    const std::size_t at = host / step % sizes[dimension];
    return at + 1 < sizes[dimension] ? host + step : host - at * step;
  }
};

Grid grid_of(const FabricRequest& request) {
  Grid grid;
  for (const std::int64_t size : request.dimensions) grid.sizes.push_back(static_cast<std::size_t>(size));
  if (const std::size_t points = grid.stride(grid.sizes.size()); points != request.nics.size()) {
    throw Error({.message = fmt::format("a torus of {} points has one host at each, but there are {} hosts",
                                        points, request.nics.size())});
  }
  return grid;
}

std::string router_name(std::size_t host, std::size_t dimension) {
  constexpr std::string_view kAxes = "xyz";
  return dimension < kAxes.size() ? fmt::format("r{}.{}", host, kAxes[dimension])
                                  : fmt::format("r{}.d{}", host, dimension);
}

/// One cable of a host; unless the file says, as fast as its fastest NIC.
double cable_rate(const FabricRequest& request, std::size_t host) {
  if (request.link) return request.link->Bps();
  double rate = 0;
  for (const Bandwidth nic : request.rates[host]) rate = std::max(rate, nic.Bps());
  return rate;
}

/// A host's router is one switch per dimension, chained in one direction: traffic enters at the first, turns
/// only into later dimensions and leaves at the last. That is what makes the cheapest paths
/// dimension-ordered. The chain itself never binds: it carries all that the router's links can.
std::vector<DeviceId> add_router(TopologyBuilder& builder, const FabricRequest& request, std::size_t host,
                                 std::size_t dimensions) {
  std::vector<DeviceId> router;
  for (std::size_t d = 0; d < dimensions; ++d)
    router.push_back(builder.add_device(router_name(host, d), DeviceKind::kSwitch));
  double all = 2 * static_cast<double>(dimensions) * cable_rate(request, host);
  for (const Bandwidth rate : request.rates[host]) all += rate.Bps();
  for (std::size_t d = 0; d + 1 < dimensions; ++d)
    builder.add_directed_link(router[d], router[d + 1], Bandwidth::bytes_per_second(all), request.wire);
  for (std::size_t n = 0; n < request.nics[host].size(); ++n) {
    const DeviceId nic = request.nics[host][n];
    builder.add_directed_link(nic, router.front(), request.rates[host][n], request.wire);
    builder.add_directed_link(router.back(), nic, request.rates[host][n], request.wire);
  }
  return router;
}

void build(TopologyBuilder& builder, const FabricRequest& request) {
  const Grid grid = grid_of(request);
  std::vector<std::vector<DeviceId>> routers;
  for (std::size_t host = 0; host < request.nics.size(); ++host) {
    if (request.nics[host].empty())
      throw Error({.message = fmt::format("host {} has no NIC to join the torus", host)});
    routers.push_back(add_router(builder, request, host, grid.sizes.size()));
  }
  for (std::size_t host = 0; host < routers.size(); ++host) {
    for (std::size_t d = 0; d < grid.sizes.size(); ++d) {
      const std::size_t next = grid.next(host, d);
      // Two points in a row are joined by two cables: one link of twice the rate, added once.
      if (grid.sizes[d] < 2 || (grid.sizes[d] == 2 && next < host)) continue;
      const double rate = std::min(cable_rate(request, host), cable_rate(request, next));
      builder.add_link(routers[host][d], routers[next][d],
                       Bandwidth::bytes_per_second(grid.sizes[d] == 2 ? 2 * rate : rate), request.wire);
    }
  }
}

constexpr std::string_view kKeys[] = {"family", "dimensions", "link", "nic", "routing", "wire"};

}  // namespace

FabricFamily torus() {
  return {.name = "torus",
          .help = "hosts on a grid that closes on itself (\"dimensions\"), dimension-ordered minimal routes",
          .keys = kKeys,
          .build = build};
}

}  // namespace busbar
