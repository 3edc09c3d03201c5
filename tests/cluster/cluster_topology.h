// What the namespaces of an emulated cluster look like to the simulator.
#pragma once

#include <fmt/format.h>

#include <string>

namespace busbar {

/// Hosts of one rank at a switch, `Mbps` to it each way. A GPU without a model carries a rank; what it
/// computes with does not matter here.
inline std::string cluster_topology(int hosts, double Mbps) {
  std::string devices = R"({"id": "switch", "kind": "switch"})", links;
  for (int h = 0; h < hosts; ++h) {
    devices += fmt::format(
        R"(, {{"id": "h{0}.rank", "kind": "gpu", "host": "h{0}"}}, {{"id": "h{0}.nic", "kind": "nic", "host": "h{0}"}})",
        h);
    links +=
        fmt::format(R"({1}{{"from": "h{0}.rank", "to": "h{0}.nic", "bandwidth": "10 GB/s", "type": "pcie"}},)"
                    R"({{"from": "h{0}.nic", "to": "switch", "bandwidth": "{2} Mb/s", "type": "tcp"}})",
                    h, h == 0 ? "" : ", ", Mbps);
  }
  return fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "emulated cluster", "devices": [{}], "links": [{}]}})",
      devices, links);
}

}  // namespace busbar
