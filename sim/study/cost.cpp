#include "sim/study/cost.h"

#include <cmath>

namespace busbar {

namespace {

constexpr double kHour = 3600;
constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kPartOfPort = 1e-6;

}  // namespace

ClusterSize size_of(const Topology& topology) {
  ClusterSize size{.gpus = static_cast<std::int64_t>(topology.ranks().size()),
                   .hosts = static_cast<std::int64_t>(topology.hosts().size())};
  // A cable is two directions and has two ends; links that only lead one way have one of each. A link between
  // switches may stand for all cables of the two: as many as it has times the rate of the slowest port.
  const auto rate_of = [&](std::size_t i) {
    const LinkSpec& spec = topology.spec(LinkId::from_index(i));
    return is_network(spec.type) ? spec.nominal.Bps() : 0;
  };
  double port = 0;
  for (std::size_t i = 0; i < topology.links().size(); ++i)
    if (const double rate = rate_of(i); rate > 0 && (port == 0 || rate < port)) port = rate;
  for (std::size_t i = 0; i < topology.links().size(); ++i)
    if (const double rate = rate_of(i); rate > 0)
      size.ports += std::llround(std::ceil(rate / port - kPartOfPort));
  return size;
}

std::optional<double> energy_of(const Prices& p, const ClusterSize& size, double seconds) {
  if (!p.host_watts) return std::nullopt;
  return static_cast<double>(size.hosts) * *p.host_watts * p.power_usage * seconds;
}

std::optional<double> cost_of(const Prices& p, const ClusterSize& size, double seconds) {
  std::optional<double> sum;
  const auto add = [&](double amount) { sum = sum.value_or(0) + amount; };
  if (p.gpu_hour) add(*p.gpu_hour * static_cast<double>(size.gpus) * seconds / kHour);
  if (p.host) add(*p.host * static_cast<double>(size.hosts) * seconds / p.lifetime_s);
  if (p.port) add(*p.port * static_cast<double>(size.ports) * seconds / p.lifetime_s);
  if (const auto joules = energy_of(p, size, seconds); joules && p.electricity_kwh)
    add(*joules / kJoulesPerKwh * *p.electricity_kwh);
  return sum;
}

}  // namespace busbar
