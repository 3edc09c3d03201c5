#include "sim/replay/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/error.h"
#include "sim/cost/cost_model.h"

namespace busbar {

void UsageSum::add(std::span<const ResourceUse> uses, double times) {
  for (const ResourceUse& use : uses) {
    std::uint32_t& at = index_[use.resource.index()];
    if (at == kUnseen) {
      at = static_cast<std::uint32_t>(sum_.size());
      sum_.push_back({use.resource, 0});
    }
    sum_[at].flows += times == 1 ? use.flows : std::llround(static_cast<double>(use.flows) * times);
  }
}

std::vector<ResourceUse> UsageSum::take() {
  for (const ResourceUse& use : sum_) index_[use.resource.index()] = kUnseen;
  std::vector<ResourceUse> result(sum_.begin(), sum_.end());
  sum_.clear();
  return result;
}

Placement::Placement(const Topology& topology, const Profile& profile)
    : topology_(&topology),
      profile_(&profile),
      router_(topology),
      sum_(topology.links().size()),
      capacity_(sustained()) {}

std::vector<Placement::HostMembers> Placement::by_host(std::span<const std::uint32_t> members) {
  std::vector<HostMembers> hosts;
  std::map<std::uint32_t, std::size_t> seen;
  std::size_t last = 0;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    const std::uint32_t host = domain(device(members[m]));
    if (hosts.empty() || hosts[last].host != host) {
      const auto [it, is_new] = seen.try_emplace(host, hosts.size());
      if (is_new) hosts.push_back({host, {}, {}});
      last = it->second;
    }
    hosts[last].members.push_back(m);
  }
  if (hosts.size() == 1) return hosts;
  for (HostMembers& h : hosts)
    for (const std::uint32_t m : h.members) {
      const std::vector<DeviceId>& nics = router_.nics_by_distance(device(members[m]));
      if (!nics.empty() && std::find(h.rails.begin(), h.rails.end(), nics.front()) == h.rails.end())
        h.rails.push_back(nics.front());
    }
  align_rails(hosts);
  return hosts;
}

DeviceId Placement::switch_of(DeviceId nic) const {
  for (const LinkId id : topology_->out_links(nic))
    if (is_network(topology_->link(id).type)) return topology_->link(id).to;
  return nic;
}

// NCCL leaves a host by NIC k and enters the next by its NIC k. NICs are numbered by the switch they are
// cabled to, then in file order: equal numbers meet on one leaf where the cabling has it so. Where the hosts'
// sets of rails differ, the i-th of one meets the i-th of the next, over the spine.
void Placement::align_rails(std::vector<HostMembers>& hosts) const {
  std::size_t rails = hosts.front().rails.size();
  for (HostMembers& h : hosts) {
    rails = std::min(rails, h.rails.size());
    std::sort(h.rails.begin(), h.rails.end(), [&](DeviceId a, DeviceId b) {
      return std::pair(switch_of(a), a) < std::pair(switch_of(b), b);
    });
  }
  for (HostMembers& h : hosts) h.rails.resize(rails);
}

// NCCL lets GPUs reach each other up to PXB, through switches only.
bool Placement::passes_cpu(const Route& route) const {
  return std::any_of(route.path.begin(), route.path.end(), [&](LinkId id) {
    return topology_->device(topology_->link(id).to).kind == DeviceKind::kCpu;
  });
}

void Placement::extend(Hop& hop, const Route& route, double times) {
  for (const LinkId id : route.path) {
    const Link& link = topology_->link(id);
    hop.link = std::max(hop.link, link.type);
    hop.transport = std::max(hop.transport, transport_over(link.type));
    if (link.latency) hop.latency = hop.latency.value_or(Time::zero()) + *link.latency;
  }
  sum_.add(route.usage, times);
}

Hop Placement::cross(std::span<const DeviceId> stops, double times) {
  Hop hop;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const bool same_host = domain(stops[i]) == domain(stops[i + 1]);
    std::optional<Route> route =
        router_.route(stops[i], stops[i + 1], same_host ? RouteScope::kHost : RouteScope::kFabric);
    if (!route) route = router_.route(stops[i], stops[i + 1], RouteScope::kAnywhere);
    if (!route)
      throw Error(
          {.where = topology_->name(),
           .message = fmt::format("no path leads from {} to {}", quoted(topology_->device(stops[i]).id),
                                  quoted(topology_->device(stops[i + 1]).id))});
    extend(hop, *route, times);
    const auto is_gpu = [&](DeviceId id) { return topology_->device(id).kind == DeviceKind::kGpu; };
    if (hop.transport == Transport::kPciePeer && is_gpu(stops[i]) && is_gpu(stops[i + 1]) &&
        passes_cpu(*route))
      hop.transport = Transport::kHostMemory;
  }
  return hop;
}

// Between hosts a message leaves by the NIC nearest to its sender and, since rails are switched apart, enters
// by the NIC of the same number; that NIC's GPU hands it on.
Hop Placement::pair_hop(DeviceId from, DeviceId to, double times) {
  const std::uint32_t a = topology_->device(from).host;
  const std::uint32_t b = topology_->device(to).host;
  if (domain(from) == domain(to) || a == kNoHost || b == kNoHost) return cross(std::array{from, to}, times);
  const std::vector<DeviceId>& senders = router_.nics_by_distance(from);
  const std::vector<DeviceId>& receivers = router_.nics_by_distance(to);
  if (senders.empty() || receivers.empty()) return cross(std::array{from, to}, times);
  // PXN: through the NIC on the receiver's switch, or of its number, reached over NVLink.
  const std::vector<DeviceId>& out = topology_->hosts()[a].nics;
  const std::vector<DeviceId>& in = topology_->hosts()[b].nics;
  const auto same_switch = std::find_if(senders.begin(), senders.end(), [&](DeviceId nic) {
    return switch_of(nic) == switch_of(receivers.front());
  });
  const auto rail = static_cast<std::size_t>(std::find(in.begin(), in.end(), receivers.front()) - in.begin());
  const DeviceId numbered = rail < out.size() ? out[rail] : senders.front();
  const bool one_switch = switch_of(senders.front()) == switch_of(senders.back());
  const DeviceId leaves = same_switch != senders.end() && !one_switch ? *same_switch : numbered;
  return cross(std::array{from, leaves, receivers.front(), to}, times);
}

std::vector<PairRoute> Placement::neighbours(std::span<const std::uint32_t> members) {
  std::vector<PairRoute> routes;
  const auto n = static_cast<std::uint32_t>(members.size());
  for (std::uint32_t i = 0; i < n && n > 1; ++i) {
    routes.push_back(pair(members[i], members[(i + 1) % n]));
    routes.back().hop.from = i;
    routes.back().hop.to = (i + 1) % n;
  }
  return routes;
}

PairRoute Placement::pair(std::uint32_t from, std::uint32_t to) {
  PairRoute route{.hop = pair_hop(device(from), device(to))};
  route.hop.to = 1;
  route.usage = sum_.take();
  return route;
}

}  // namespace busbar
