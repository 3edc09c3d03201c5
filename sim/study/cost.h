// What a cluster costs: rented by the GPU-hour, or bought and powered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "topologies/topology.h"

namespace busbar {

/// Amounts are all in one currency. Rented: `gpu_hour`. Bought: `host` and `port` over `lifetime_s`. Energy
/// is paid by either where `electricity_kwh` is given.
struct Prices {
  std::string currency;
  std::optional<double> gpu_hour, host, port, electricity_kwh;
  std::optional<double> host_watts;  // at full load, with cooling inside the host
  double lifetime_s = 4 * 365 * 86400.0;
  double power_usage = 1;  // all power of the site over that of its hosts (PUE)
};

/// A cluster as far as its price goes.
struct ClusterSize {
  std::int64_t gpus = 0, hosts = 0, ports = 0;
};
/// Ports: both ends of every network link.
[[nodiscard]] ClusterSize size_of(const Topology& topology);

/// Of `seconds` on the whole cluster; none: no price is given.
///   rent    GPUs x hours x price
///   bought  (hosts x price + ports x price) x seconds / lifetime
///   energy  hosts x watts x PUE x hours x price of a kWh
[[nodiscard]] std::optional<double> cost_of(const Prices& prices, const ClusterSize& size, double seconds);
/// Joules of `seconds`; none: the power is not known.
[[nodiscard]] std::optional<double> energy_of(const Prices& prices, const ClusterSize& size, double seconds);

}  // namespace busbar
