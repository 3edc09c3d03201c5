#include "topologies/fabrics/tiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {
namespace {

[[noreturn]] void fail(std::string message) { throw Error({.message = std::move(message)}); }

std::size_t rails_of(const FabricRequest& request) {
  std::size_t rails = 0;
  for (const auto& nics : request.nics) rails = std::max(rails, nics.size());
  return rails;
}

/// ceil(a / b) that forgives the rounding of sums of rates.
std::size_t cables(double all, double one) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(all / one - 1e-9)));
}

std::vector<SwitchBelow> add_bundles(TopologyBuilder& builder, const FabricRequest& request,
                                     std::span<const SwitchBelow> below, const SwitchLayer& layer) {
  std::string id(layer.role);
  if (layer.block) id += std::to_string(*layer.block);
  SwitchBelow above{builder.add_device(std::move(id), DeviceKind::kSwitch), {}, {}};
  for (const SwitchBelow& b : below) {
    const Bandwidth up = b.down / layer.oversubscription;
    builder.add_link(b.device, above.device, up, request.wire);
    above.down = Bandwidth::bytes_per_second(above.down.Bps() + up.Bps());
    above.cable = std::max(above.cable, b.cable);
  }
  return {above};
}

}  // namespace

SwitchBelow add_leaf(TopologyBuilder& builder, const FabricRequest& request, std::string id,
                     std::span<const NicPlace> nics) {
  SwitchBelow leaf{builder.add_device(std::move(id), DeviceKind::kSwitch), {}, {}};
  double down = 0;
  for (const NicPlace& place : nics) {
    const Bandwidth rate = request.rates[place.host][place.nic];
    builder.add_link(request.nics[place.host][place.nic], leaf.device, rate, request.wire);
    down += rate.Bps();
    leaf.cable = std::max(leaf.cable, rate);
  }
  leaf.down = Bandwidth::bytes_per_second(down);
  return leaf;
}

std::vector<SwitchBelow> add_layer(TopologyBuilder& builder, const FabricRequest& request,
                                   std::span<const SwitchBelow> below, const SwitchLayer& layer) {
  if (request.routing == RoutingMode::kAdaptive && !layer.switches)
    return add_bundles(builder, request, below, layer);
  double up = 0;
  Bandwidth rate;
  for (const SwitchBelow& b : below) {
    up = std::max(up, b.down.Bps() / layer.oversubscription);
    rate = std::max(rate, b.cable);
  }
  const std::size_t switches =
      layer.switches ? static_cast<std::size_t>(*layer.switches) : cables(up, rate.Bps());
  const Bandwidth cable = Bandwidth::bytes_per_second(up / static_cast<double>(switches));
  std::vector<SwitchBelow> above;
  for (std::size_t s = 0; s < switches; ++s) {
    const std::size_t number = layer.block.value_or(0) * switches + s;
    const DeviceId device = builder.add_device(fmt::format("{}{}", layer.role, number), DeviceKind::kSwitch);
    for (const SwitchBelow& b : below) builder.add_link(b.device, device, cable, request.wire);
    above.push_back({device, cable * static_cast<double>(below.size()), cable});
  }
  return above;
}

double oversubscription_at(const FabricRequest& request, std::size_t tier) {
  const auto& given = request.oversubscription;
  if (given.size() == 1) return given[0];
  if (std::ssize(given) != request.tiers - 1) {
    fail(fmt::format(
        "{} tiers of switches have {} layers of up-links between them, but 'oversubscription' lists {}",
        request.tiers, request.tiers - 1, given.size()));
  }
  return given[tier];
}

std::size_t hosts_per_pod(const FabricRequest& request, std::size_t hosts_per_leaf) {
  const auto hosts = static_cast<std::size_t>(
      request.hosts_per_pod.value_or(static_cast<std::int64_t>(hosts_per_leaf * hosts_per_leaf)));
  if (hosts % hosts_per_leaf != 0)
    fail(fmt::format("'hosts_per_pod' {} is no multiple of {} hosts per leaf", hosts, hosts_per_leaf));
  return hosts;
}

void join_leaves(TopologyBuilder& builder, const FabricRequest& request, std::span<const SwitchBelow> leaves,
                 std::span<const std::size_t> pod_of) {
  if (leaves.size() < 2) return;
  const double over = oversubscription_at(request, 0);
  const std::size_t pods = request.tiers == 2 ? 1 : pod_of.back() + 1;
  if (pods == 1) {
    add_layer(builder, request, leaves, {"spine", {}, over, request.spines});
    return;
  }
  // planes[s]: spine s of every pod. All pods get the spines of the fullest.
  std::vector<std::vector<SwitchBelow>> planes;
  std::optional<std::int64_t> spines = request.spines;
  for (std::size_t pod = 0, first = 0; pod < pods; ++pod) {
    std::size_t end = first;
    while (end < leaves.size() && pod_of[end] == pod) ++end;
    const auto above =
        add_layer(builder, request, leaves.subspan(first, end - first), {"spine", pod, over, spines});
    if (request.routing == RoutingMode::kStatic) spines = std::ssize(above);
    planes.resize(std::max(planes.size(), above.size()));
    for (std::size_t s = 0; s < above.size(); ++s) planes[s].push_back(above[s]);
    first = end;
  }
  for (std::size_t s = 0; s < planes.size(); ++s) {
    const std::optional<std::size_t> plane = planes.size() > 1 ? std::optional(s) : std::nullopt;
    add_layer(builder, request, planes[s], {"core", plane, oversubscription_at(request, 1), {}});
  }
}

std::size_t rail_hosts_per_leaf(const FabricRequest& request) {
  return static_cast<std::size_t>(request.hosts_per_leaf.value_or(32));
}

std::vector<RailLeaf> add_rail_leaves(TopologyBuilder& builder, const FabricRequest& request) {
  const std::size_t rails = rails_of(request);
  const std::size_t per_leaf = rail_hosts_per_leaf(request);
  std::vector<RailLeaf> leaves;
  for (std::size_t first = 0; first < request.nics.size(); first += per_leaf) {
    const std::size_t end = std::min(request.nics.size(), first + per_leaf);
    for (std::size_t rail = 0; rail < rails; ++rail) {
      std::vector<NicPlace> nics;
      for (std::size_t host = first; host < end; ++host) {
        if (rail < request.nics[host].size()) nics.push_back({host, rail});
      }
      if (nics.empty()) continue;
      const std::string id = fmt::format("leaf{}", first / per_leaf * rails + rail);
      leaves.push_back({add_leaf(builder, request, id, nics), rail, first});
    }
  }
  return leaves;
}

}  // namespace busbar
