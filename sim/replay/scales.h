// What if: factors on the speeds and times that a prediction is made of.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/base/group_routes.h"
#include "topologies/topology.h"

namespace busbar {

/// Factors on what the machine and its software do; all 1: as described. What a library chooses (algorithm,
/// protocol, channels) stays as it is: it follows the hardware that it knows of, as with a fault. The last
/// one is of what it knows.
struct Scales {
  std::map<std::string, double, std::less<>> bandwidth;  // of links, by class (link_classes); absent: 1
  std::array<double, kTransports> latency;               // time of a hop, whoever states it
  double channel = 1;  // rate of a channel whatever its links carry: LL, windows of grouped sends
  double compute = 1;  // speed of kernels
  double memory = 1;   // rate of a GPU's memory, as communication beside kernels takes part of it
  double launch = 1;   // time: what an operation costs once, and the CPU's for launching
  /// Rate of a NIC as a library takes it: it chooses as for such NICs. Counts while a machine is built.
  double nics_known_as = 1;
  Scales() { latency.fill(1); }
  [[nodiscard]] double bandwidth_of(std::string_view link_class) const {
    const auto found = bandwidth.find(link_class);
    return found == bandwidth.end() ? 1 : found->second;
  }
};

/// Both directions of links of one kind: inside a host by their type ("nvlink", "pcie"); in the network "nic"
/// at a NIC, else by what they join ("leaf-spine", "switch-switch").
struct LinkClasses {
  std::vector<std::string> names;  // in order of their first link
  std::vector<std::uint8_t> of;    // by link, index into `names`
};
[[nodiscard]] LinkClasses link_classes(const Topology& topology);

/// The class of a NIC's cables.
inline constexpr std::string_view kNicClass = "nic";

}  // namespace busbar
