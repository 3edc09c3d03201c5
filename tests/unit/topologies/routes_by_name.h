// Routes by the names of their ends and links, and small fabrics to find them in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unit/topologies/topology_text.h"
#include "topologies/routing.h"

namespace busbar::testing {

using Shares = std::map<std::string, std::int64_t>;

/// Routes by the names of devices and links.
struct Routes {
  explicit Routes(const Topology& topology) : t(topology), router(topology) {}

  std::optional<Route> route(const char* from, const char* to, RouteScope scope) {
    return router.route(device_called(t, from), device_called(t, to), scope);
  }
  std::vector<std::string> path(const char* from, const char* to, RouteScope scope) {
    const auto found = route(from, to, scope);
    if (!found) return {"no route"};
    std::vector<std::string> names;
    for (const LinkId link : found->path) names.push_back(t.link_name(link));
    return names;
  }
  Shares shares(const char* from, const char* to, RouteScope scope) {
    Shares by_name;
    const Route found = route(from, to, scope).value();
    for (const ResourceUse& use : found.usage) {
      by_name[t.link_name(LinkId(use.resource.value()))] += use.flows;
    }
    return by_name;
  }
  std::vector<std::string> nics(const char* gpu) {
    return ids_of(t, router.nics_by_distance(device_called(t, gpu)));
  }

  const Topology& t;
  Router router;
};

/// One GPU and one NIC on each side of the switches that are described; NICs "a.nic" and "b.nic" on "s"
/// and "t".
inline Topology between_switches(const std::string& switches, const std::string& links) {
  return topology_of(
      R"("devices": [{"id": "a.gpu", "kind": "gpu", "host": "a"}, {"id": "a.nic", "kind": "nic", "host": "a"},
      {"id": "b.gpu", "kind": "gpu", "host": "b"}, {"id": "b.nic", "kind": "nic", "host": "b"},
      {"id": "s", "kind": "switch"}, {"id": "t", "kind": "switch"})" +
      switches + R"(], "links": [{"from": "a.gpu", "to": "a.nic", "bandwidth": "63 GB/s"},
      {"from": "b.gpu", "to": "b.nic", "bandwidth": "63 GB/s"}, {"from": "a.nic", "to": "s", "bandwidth": "50 GB/s"},
      {"from": "b.nic", "to": "t", "bandwidth": "50 GB/s"})" +
      links + "]");
}

inline std::string switch_called(const std::string& id) {
  return R"(, {"id": ")" + id + R"(", "kind": "switch"})";
}
inline std::string cable(const std::string& from, const std::string& to) {
  return R"(, {"from": ")" + from + R"(", "to": ")" + to + R"(", "bandwidth": "100 GB/s"})";
}

}  // namespace busbar::testing
