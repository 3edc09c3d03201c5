// Everybody to everybody else, on the graph. Inside a host pair by pair. Between hosts a message takes the
// rail of its receiver, so that flows add up: a GPU sends over rail k once per remote GPU on that rail; NIC k
// of host a sends to NIC k of host b once per pair of a GPU of a and a GPU of b on rail k.
#include <algorithm>
#include <array>
#include <map>

#include "sim/replay/placement.h"

namespace busbar {

// Who sends and receives over which NIC of one rail, by host.
struct Placement::RailTraffic {
  using Counts = std::map<DeviceId, double>;
  std::vector<Counts> out, in;             // by host: GPUs that leave by a NIC, and that it serves
  std::vector<double> senders, receivers;  // by host
  double all_senders = 0, all_receivers = 0;
};

void note_hop(std::vector<Hop>& hops, const Hop& hop) {
  const bool known = std::any_of(hops.begin(), hops.end(), [&](const Hop& h) {
    return h.link == hop.link && h.transport == hop.transport && h.latency == hop.latency;
  });
  if (!known) hops.push_back(hop);
}

void Placement::load(DeviceId from, DeviceId to, double flows) {
  static_cast<void>(cross(std::array{from, to}, flows));
}

void Placement::exchange_inside(std::span<const std::uint32_t> members, const HostMembers& host,
                                std::vector<Hop>& hops) {
  for (const std::uint32_t from : host.members)
    for (const std::uint32_t to : host.members)
      if (from != to) note_hop(hops, pair_hop(device(members[from]), device(members[to])));
}

std::map<std::size_t, Placement::RailTraffic> Placement::traffic_by_rail(
    std::span<const std::uint32_t> members, const std::vector<HostMembers>& hosts) {
  const auto nics_of = [&](std::uint32_t m) -> const std::vector<DeviceId>& {
    return topology_->hosts()[topology_->device(device(members[m])).host].nics;
  };
  const auto nearest = [&](std::uint32_t m) { return *router_.nearest_nic(device(members[m])); };
  const auto rail_of = [&](std::uint32_t m) {
    const std::vector<DeviceId>& nics = nics_of(m);
    return static_cast<std::size_t>(std::find(nics.begin(), nics.end(), nearest(m)) - nics.begin());
  };
  std::map<std::size_t, RailTraffic> rails;
  for (const HostMembers& host : hosts)
    for (const std::uint32_t m : host.members) rails.try_emplace(rail_of(m));
  for (auto& [number, rail] : rails) {
    rail.out.resize(hosts.size());
    rail.in.resize(hosts.size());
    rail.senders.resize(hosts.size());
    rail.receivers.resize(hosts.size());
    for (std::size_t h = 0; h < hosts.size(); ++h)
      for (const std::uint32_t m : hosts[h].members) {
        const std::vector<DeviceId>& nics = nics_of(m);
        rail.out[h][number < nics.size() ? nics[number] : nearest(m)] += 1;
        rail.senders[h] += 1;
        if (rail_of(m) != number) continue;
        rail.in[h][nearest(m)] += 1;
        rail.receivers[h] += 1;
      }
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      rail.all_senders += rail.senders[h];
      rail.all_receivers += rail.receivers[h];
    }
  }
  return rails;
}

void Placement::load_by_pairs(const RailTraffic& rail) {
  for (std::size_t a = 0; a < rail.out.size(); ++a)
    for (std::size_t b = 0; b < rail.in.size(); ++b) {
      if (a == b) continue;
      for (const auto& [leaves, senders] : rail.out[a])
        for (const auto& [enters, takers] : rail.in[b]) load(leaves, enters, senders * takers);
    }
}

bool Placement::one_cable(const RailTraffic& rail) const {
  const auto cables = [&](DeviceId nic) {
    const std::span<const LinkId> links = topology_->out_links(nic);
    return std::count_if(links.begin(), links.end(),
                         [&](LinkId id) { return is_network(topology_->link(id).type); });
  };
  const auto one = [&](const RailTraffic::Counts& nics) {
    return std::all_of(nics.begin(), nics.end(), [&](const auto& n) { return cables(n.first) == 1; });
  };
  return std::all_of(rail.out.begin(), rail.out.end(), one) &&
         std::all_of(rail.in.begin(), rail.in.end(), one);
}

// NICs with one cable each: beyond their switches, paths depend on the switches alone. Between switches s and
// t: senders(s) x receivers(t), less the pairs on one host.
void Placement::load_by_switches(const RailTraffic& rail) {
  std::map<DeviceId, double> senders, receivers;
  std::map<std::pair<DeviceId, DeviceId>, double> at_home;
  for (std::size_t h = 0; h < rail.out.size(); ++h) {
    for (const auto& [nic, count] : rail.out[h]) {
      load(nic, switch_of(nic), count * (rail.all_receivers - rail.receivers[h]));
      senders[switch_of(nic)] += count;
    }
    for (const auto& [nic, count] : rail.in[h]) {
      load(switch_of(nic), nic, count * (rail.all_senders - rail.senders[h]));
      receivers[switch_of(nic)] += count;
    }
    for (const auto& [out, some] : rail.out[h])
      for (const auto& [in, others] : rail.in[h]) at_home[{switch_of(out), switch_of(in)}] += some * others;
  }
  for (const auto& [s, some] : senders)
    for (const auto& [t, others] : receivers)
      if (const double pairs = some * others - at_home[{s, t}]; s != t && pairs > 0) load(s, t, pairs);
}

// GPUs that are cabled to switches themselves, each alone on its host: out of each and into each n - 1 flows,
// between switches s and t: senders(s) x receivers(t).
bool Placement::exchange_pendants(std::span<const std::uint32_t> members, std::size_t hosts,
                                  std::vector<Hop>& hops) {
  if (hosts != members.size() || topology_->routing().mode != RoutingMode::kAdaptive) return false;
  std::vector<Router::Pendant> pendants;
  for (const std::uint32_t rank : members) {
    const std::optional<Router::Pendant> pendant = router_.pendant(device(rank));
    if (!pendant) return false;
    pendants.push_back(*pendant);
  }
  struct End {  // GPUs that are cabled alike to one switch
    double count = 0;
    DeviceId first;
  };
  std::map<std::pair<DeviceId, std::uint32_t>, End> senders, receivers;  // by switch and kind of cable
  std::map<DeviceId, DeviceId> other;                                    // the last that is no `first`
  const auto others = static_cast<double>(members.size() - 1);
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Router::Pendant& p = pendants[m];
    sum_.add({ResourceId(p.out.value())}, others);
    sum_.add({ResourceId(p.in.value())}, others);
    End& out = senders[{p.at_out, topology_->spec_number(p.out)}];
    End& in = receivers[{p.at_in, topology_->spec_number(p.in)}];
    for (End* end : {&out, &in})
      if (end->count++ == 0) end->first = device(members[m]);
    if (in.count > 1) other[in.first] = device(members[m]);
  }
  for (const auto& [from, out] : senders)
    for (const auto& [to, in] : receivers) {
      if (from.first != to.first) load(from.first, to.first, out.count * in.count);
      const bool itself = out.first == in.first;
      if (!itself || other.contains(in.first))
        note_hop(hops, pair_hop(out.first, itself ? other.at(in.first) : in.first, 0));
    }
  return true;
}

std::vector<Hop> Placement::exchange(std::span<const std::uint32_t> members) {
  std::vector<Hop> hops;
  const std::vector<HostMembers> hosts = by_host(members);
  for (const HostMembers& host : hosts) exchange_inside(members, host, hops);
  if (hosts.size() < 2) return hops;
  if (std::any_of(hosts.begin(), hosts.end(), [](const auto& h) { return h.rails.empty(); })) {
    if (exchange_pendants(members, hosts.size(), hops)) return hops;
    for (const HostMembers& a : hosts)
      for (const HostMembers& b : hosts)
        for (const std::uint32_t from : a.members)
          for (const std::uint32_t to : b.members)
            if (&a != &b) note_hop(hops, pair_hop(device(members[from]), device(members[to])));
    return hops;
  }
  for (const auto& [number, rail] : traffic_by_rail(members, hosts)) {
    for (std::size_t h = 0; h < hosts.size(); ++h)
      for (const std::uint32_t m : hosts[h].members) {
        const DeviceId gpu = device(members[m]);
        const std::vector<DeviceId>& nics = topology_->hosts()[topology_->device(gpu).host].nics;
        const DeviceId nearest = *router_.nearest_nic(gpu);
        load(gpu, number < nics.size() ? nics[number] : nearest, rail.all_receivers - rail.receivers[h]);
        if (rail.in[h].contains(nearest)) load(nearest, gpu, rail.all_senders - rail.senders[h]);
      }
    if (topology_->routing().mode == RoutingMode::kAdaptive && one_cable(rail)) {
      load_by_switches(rail);
    } else {
      load_by_pairs(rail);
    }
  }
  hops.clear();
  for (const HostMembers& b : hosts)
    note_hop(hops,
             pair_hop(device(members[hosts.front().members.front()]), device(members[b.members.back()]), 0));
  return hops;
}

}  // namespace busbar
