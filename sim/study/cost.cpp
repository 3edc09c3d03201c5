#include "sim/study/cost.h"

namespace busbar {

namespace {

constexpr double kHour = 3600;
constexpr double kJoulesPerKwh = 3.6e6;

}  // namespace

ClusterSize size_of(const Topology& topology) {
  ClusterSize size{.gpus = static_cast<std::int64_t>(topology.ranks().size()),
                   .hosts = static_cast<std::int64_t>(topology.hosts().size())};
  // A cable is two directions and has two ends; links that only lead one way have one of each.
  for (std::size_t i = 0; i < topology.links().size(); ++i)
    if (is_network(topology.spec(LinkId::from_index(i)).type)) ++size.ports;
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
