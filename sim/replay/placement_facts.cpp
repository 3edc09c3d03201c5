// What a library may know of a group's hardware before it chooses an algorithm.
#include <algorithm>
#include <array>

#include "sim/replay/placement.h"

namespace busbar {
namespace {

/// What a path inside a host meets on its way.
struct Met {
  bool relay = false, c2c = false, pcie = false, bridge = false, socket = false;
  int switches = 0;
};

// As in ncclTopoSetPaths; PXN and P2C are for NICs. PXN needs a GPU that reaches the NIC without the bridge.
PathType type_of(const Met& met, bool to_nic) {
  if (met.socket) return PathType::kSys;
  if (met.bridge) return to_nic && met.c2c && !met.relay ? PathType::kP2c : PathType::kPhb;
  if (met.relay && to_nic) return PathType::kPxn;
  if (met.switches > 1) return PathType::kPxb;
  if (met.pcie) return PathType::kPix;
  if (met.c2c) return PathType::kC2c;
  return met.relay ? PathType::kNvb : PathType::kNvl;
}

// Mixed counts as AMD, as in NCCL's table of LL rates between hosts.
CpuVendor together(CpuVendor a, CpuVendor b) { return a == b ? a : CpuVendor::kAmd; }

}  // namespace

Placement::NetworkRate Placement::network_rate(DeviceId nic) const {
  NetworkRate sum;
  for (const LinkId id : topology_->out_links(nic)) {
    const Link link = topology_->link(id);
    if (!is_network(link.type)) continue;
    sum.now += link.bandwidth.Bps();
    sum.nominal += scales_.nics_known_as * link.nominal.Bps();
  }
  return sum;
}

LinkType Placement::network_type(DeviceId nic) const {
  for (const LinkId id : topology_->out_links(nic))
    if (is_network(topology_->link(id).type)) return topology_->link(id).type;
  return LinkType::kRdma;
}

// Where the slowest class of link is not at the GPU (between sockets, say): the narrowest link of the route.
double Placement::narrowest(DeviceId a, DeviceId b, Bandwidth Link::*rate) {
  double least = Bandwidth::unlimited().Bps();
  std::optional<Route> route = router_.route(a, b, RouteScope::kHost);
  if (!route) route = router_.route(a, b, RouteScope::kAnywhere);
  for (const LinkId id : route->path) least = std::min(least, (topology_->link(id).*rate).Bps());
  return least;
}

// Of one class, from the first member; direct links only to other members.
double Placement::gpu_links(const HostMembers& host, std::span<const std::uint32_t> members, LinkType type,
                            Bandwidth Link::*rate) const {
  double sum = 0;
  for (const LinkId id : topology_->out_links(device(members[host.members.front()]))) {
    const Link link = topology_->link(id);
    if (link.type != type) continue;
    const auto is_end = [&](std::uint32_t m) { return device(members[m]) == link.to; };
    if (topology_->device(link.to).kind != DeviceKind::kGpu ||
        std::any_of(host.members.begin(), host.members.end(), is_end))
      sum += (link.*rate).Bps();
  }
  return sum;
}

void Placement::describe_inside(GroupRoutes& routes, const Rings& rings) {
  const auto several = std::find_if(rings.hosts.begin(), rings.hosts.end(),
                                    [](const HostMembers& h) { return h.members.size() > 1; });
  if (several == rings.hosts.end()) return;
  const DeviceId a = device(rings.members[several->members[0]]);
  const DeviceId b = device(rings.members[several->members[1]]);
  routes.intra_link = cross(std::array{a, b}).link;
  static_cast<void>(sum_.take());
  double rate = gpu_links(*several, rings.members, routes.intra_link, &Link::bandwidth);
  if (rate == 0) rate = narrowest(a, b, &Link::bandwidth);
  routes.intra = Bandwidth::bytes_per_second(rate);
  for (const HostMembers& h : rings.hosts)
    if (h.members.size() > 1) routes.intra_transport = std::max(routes.intra_transport, h.paths->transport);
}

void Placement::describe_network(GroupRoutes& routes, const Rings& rings) const {
  if (rings.hosts.size() < 2) return;
  double least = 0, slowest = Bandwidth::unlimited().Bps();
  for (const HostMembers& h : rings.hosts) {
    double total = 0, first = 0;
    for (const DeviceId nic : h.rails) {
      const NetworkRate rate = network_rate(nic);
      if (total == 0) first = rate.now;
      total += rate.now;
      slowest = std::min(slowest, rate.nominal);
    }
    if (&h != &rings.hosts.front() && total >= least) continue;
    least = total;
    if (h.rails.empty()) continue;
    routes.inter_nic = Bandwidth::bytes_per_second(first);
    routes.inter_link = network_type(h.rails.front());
  }
  routes.inter = Bandwidth::bytes_per_second(least);
  routes.inter_transport = transport_over(routes.inter_link);
  if (rings.has_rails()) routes.facts.nic = Bandwidth::bytes_per_second(slowest);
}

PathType Placement::path_type(DeviceId from, DeviceId to) {
  const std::optional<Route> route = router_.route(from, to, RouteScope::kHost);
  if (!route) return PathType::kNet;
  if (route->path.empty()) return PathType::kLoc;
  Met met;
  for (const LinkId id : route->path) {
    const Link link = topology_->link(id);
    const auto ends_at = [&](DeviceKind kind) {
      return topology_->device(link.from).kind == kind || topology_->device(link.to).kind == kind;
    };
    met.relay = met.relay || (link.to != to && topology_->device(link.to).kind == DeviceKind::kGpu);
    met.c2c = met.c2c || link.type == LinkType::kC2c;
    met.pcie = met.pcie || link.type == LinkType::kPcie;
    met.bridge = met.bridge || (link.type == LinkType::kPcie && ends_at(DeviceKind::kCpu));
    met.socket = met.socket || link.type == LinkType::kUpi;
    if (topology_->device(link.to).kind == DeviceKind::kPcieSwitch) ++met.switches;
  }
  return type_of(met, topology_->device(to).kind == DeviceKind::kNic);
}

void Placement::find_paths(HostPaths& paths, const HostMembers& host,
                           std::span<const std::uint32_t> members) {
  const auto gpu = [&](std::uint32_t place) { return device(members[host.members[place]]); };
  const auto n = static_cast<std::uint32_t>(host.members.size());
  if (n > 1 && host.mesh == nullptr && !joined_by_gpu_links(gpu(0), gpu(1)))
    paths.tree = tree_order(host, members);
  const Orders& orders = host.mesh != nullptr ? host.mesh->rings : paths.tree;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t next = (i + 1) % n;
    const DeviceId a = gpu(orders.empty() ? i : orders[0][i]);
    const DeviceId b = gpu(orders.empty() ? next : orders[0][next]);
    if (n > 1) {
      paths.intra = std::max(paths.intra, path_type(a, b));
      paths.transport = std::max(paths.transport, cross(std::array{a, b}, 0).transport);
    }
    const std::optional<DeviceId> nic = router_.nearest_nic(a);
    if (!nic) continue;
    paths.inter = std::max(paths.inter, path_type(a, *nic));
    for (const LinkId id : topology_->out_links(*nic))
      if (topology_->device(topology_->link(id).to).kind == DeviceKind::kCpu) paths.nic_at_cpu = true;
  }
  static_cast<void>(sum_.take());
}

void Placement::note_mesh(GroupFacts& facts, const Rings& rings) const {
  double least = Bandwidth::unlimited().Bps();
  for (const HostMembers& h : rings.hosts) {
    if (h.mesh == nullptr) continue;
    const double total = static_cast<double>(h.mesh->rings.size()) * h.mesh->speed.Bps();
    if (total >= least) continue;
    least = total;
    facts.intra_rings = static_cast<std::uint32_t>(h.mesh->rings.size());
    facts.intra_ring = h.mesh->speed;
  }
}

void Placement::note_inside(GroupFacts& facts, const Rings& rings) {
  double least = Bandwidth::unlimited().Bps();
  for (const HostMembers& h : rings.hosts) {
    if (h.members.size() < 2) continue;
    const DeviceId first = device(rings.members[h.members[0]]);
    double rate = gpu_links(h, rings.members, LinkType::kNvlink, &Link::nominal);
    if (rate == 0) rate = gpu_links(h, rings.members, LinkType::kXgmi, &Link::nominal);
    if (rate == 0) rate = narrowest(first, device(rings.members[h.members[1]]), &Link::nominal);
    least = std::min(least, rate);
    facts.intra_path = std::max(facts.intra_path, h.paths->intra);
    facts.intra = Bandwidth::bytes_per_second(least);
  }
}

void Placement::note_network(GroupFacts& facts, const Rings& rings) const {
  if (!rings.has_rails()) return;
  facts.nics = static_cast<std::uint32_t>(rings.rails());
  facts.inter_path = PathType::kLoc;
  for (const HostMembers& h : rings.hosts) {
    facts.inter_path = std::max(facts.inter_path, h.paths->inter);
    facts.nics_at_cpu_bridge = facts.nics_at_cpu_bridge || h.paths->nic_at_cpu;
  }
  facts.in_network_reduction = topology_->in_network_reduction();
}

void Placement::note_facts(GroupRoutes& routes, const Rings& rings) {
  GroupFacts& facts = routes.facts;
  facts.ranks = static_cast<std::uint32_t>(rings.members.size());
  facts.hosts = static_cast<std::uint32_t>(rings.hosts.size());
  facts.local_least = facts.ranks;
  const auto host_of = [&](const HostMembers& h) {
    return topology_->device(device(rings.members[h.members.front()])).host;
  };
  for (const HostMembers& h : rings.hosts) {
    const auto local = static_cast<std::uint32_t>(h.members.size());
    facts.local_least = std::min(facts.local_least, local);
    facts.local_most = std::max(facts.local_most, local);
    if (host_of(h) == kNoHost) continue;
    const CpuVendor cpu = topology_->hosts()[host_of(h)].cpu;
    facts.cpu = &h == &rings.hosts.front() ? cpu : together(facts.cpu, cpu);
  }
  note_capabilities(facts, rings);
  note_inside(facts, rings);
  note_mesh(facts, rings);
  note_network(facts, rings);
  facts.network = routes.inter_transport;
}

void Placement::note_capabilities(GroupFacts& facts, const Rings& rings) const {
  bool is_first = true;
  for (const std::uint32_t rank : rings.members) {
    const std::int32_t model = topology_->device(device(rank)).gpu_model;
    const int cc =
        model < 0 ? 90 : topology_->gpu_models()[static_cast<std::size_t>(model)].compute_capability;
    facts.cc_least = is_first ? cc : std::min(facts.cc_least, cc);
    facts.cc_most = is_first ? cc : std::max(facts.cc_most, cc);
    is_first = false;
  }
  for (const LinkId id : topology_->out_links(device(rings.members.front())))
    if (topology_->device(topology_->link(id).to).kind == DeviceKind::kNvswitch) facts.nvswitch = true;
}

}  // namespace busbar
