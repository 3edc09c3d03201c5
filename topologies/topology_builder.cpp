#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.h"
#include "topologies/topology.h"

namespace busbar {
namespace {

[[noreturn]] void fail(std::string message) { throw Error({.message = std::move(message)}); }

/// The links that touch each device at one end: adjacency in compressed form.
struct Adjacency {
  std::vector<std::uint32_t> first;  // per device, and one past the last
  std::vector<LinkId> links;         // in file order within a device
};

Adjacency adjacency_by(DeviceId Link::*end, std::span<const Link> links, std::size_t devices) {
  Adjacency a;
  a.first.assign(devices + 1, 0);
  for (const Link& link : links) ++a.first[(link.*end).index() + 1];
  for (std::size_t d = 0; d < devices; ++d) a.first[d + 1] += a.first[d];
  std::vector<std::uint32_t> next(a.first.begin(), a.first.end() - 1);
  a.links.resize(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) {
    a.links[next[(links[l].*end).index()]++] = LinkId::from_index(l);
  }
  return a;
}

/// Which devices a walk from `start` reaches that goes along `adjacency` and leaves each link at its `far`
/// end.
std::vector<bool> reached(const Adjacency& adjacency, DeviceId Link::*far, std::span<const Link> links,
                          DeviceId start) {
  std::vector<bool> seen(adjacency.first.size() - 1, false);
  std::vector<DeviceId> frontier = {start};
  seen[start.index()] = true;
  while (!frontier.empty()) {
    const DeviceId here = frontier.back();
    frontier.pop_back();
    for (std::uint32_t i = adjacency.first[here.index()]; i < adjacency.first[here.index() + 1]; ++i) {
      const DeviceId there = links[adjacency.links[i].index()].*far;
      if (seen[there.index()]) continue;
      seen[there.index()] = true;
      frontier.push_back(there);
    }
  }
  return seen;
}

/// Fails unless the first GPU reaches each other one, and each other one the first: then all reach all.
void require_connected(const Topology& t, const Adjacency& out, bool has_directed_links) {
  const auto check = [&t](const std::vector<bool>& seen, const char* words) {
    for (const DeviceId gpu : t.ranks()) {
      if (seen[gpu.index()]) continue;
      fail(fmt::format(fmt::runtime(words), quoted(t.device(t.ranks()[0]).id), quoted(t.device(gpu).id)));
    }
  };
  check(reached(out, &Link::to, t.links(), t.ranks()[0]), "no path connects GPU {} to GPU {}");
  if (!has_directed_links) return;
  const Adjacency in = adjacency_by(&Link::to, t.links(), t.devices().size());
  check(reached(in, &Link::from, t.links(), t.ranks()[0]), "no path connects GPU {1} to GPU {0}");
}

void require_share(double share) {
  if (!(share > 0 && share <= 1))
    fail(fmt::format("a fault leaves more than 0% and at most 100%, not {}%", share * 100));
}

void require_positive(Bandwidth bandwidth) {
  if (!(bandwidth.Bps() > 0)) fail("the bandwidth of a link is above 0");
}

}  // namespace

TopologyBuilder::TopologyBuilder(std::string name, std::string source) {
  t_.name_ = std::move(name);
  t_.source_ = std::move(source);
}

void TopologyBuilder::reserve(std::size_t devices, std::size_t links) {
  t_.devices_.reserve(t_.devices_.size() + devices);
  t_.links_.reserve(t_.links_.size() + links);
  by_id_.reserve(t_.devices_.size() + devices);
}

std::uint32_t TopologyBuilder::add_host(std::string name, std::string type) {
  const auto index = static_cast<std::uint32_t>(t_.hosts_.size());
  t_.hosts_.push_back({std::move(name), std::move(type), {}, {}, index, CpuVendor::kIntel});
  return index;
}

void TopologyBuilder::set_domain(std::uint32_t host, std::uint32_t domain) {
  t_.hosts_[host].domain = domain;
}

std::int32_t TopologyBuilder::add_gpu_model(GpuModel model) {
  auto& models = t_.gpu_models_;
  const auto same =
      std::find_if(models.begin(), models.end(), [&](const GpuModel& m) { return m.name == model.name; });
  if (same == models.end()) {
    models.push_back(std::move(model));
    return static_cast<std::int32_t>(models.size() - 1);
  }
  return static_cast<std::int32_t>(same - models.begin());
}

DeviceId TopologyBuilder::add_device(std::string id, DeviceKind kind, std::uint32_t host,
                                     std::int32_t gpu_model) {
  if (std::ssize(t_.devices_) >= kMaxDevices)
    fail(fmt::format("more than the limit of {} devices", kMaxDevices));
  BUSBAR_CHECK(host == kNoHost || host < t_.hosts_.size());
  t_.devices_.push_back({std::move(id), kind, host, gpu_model, 1.0});
  if (!by_id_.insert_last(t_.devices_))
    fail(fmt::format("two devices are called {}", quoted(t_.devices_.back().id)));
  const DeviceId device = DeviceId::from_index(t_.devices_.size() - 1);
  if (kind == DeviceKind::kGpu && host != kNoHost) t_.hosts_[host].gpus.push_back(device);
  return device;
}

LinkId TopologyBuilder::add_link(DeviceId a, DeviceId b, Bandwidth each_way, LinkType type,
                                 std::optional<Time> latency) {
  const bool had_directed_links = has_directed_links_;
  const LinkId forward = add_directed_link(a, b, each_way, type, latency);
  add_directed_link(b, a, each_way, type, latency);
  has_directed_links_ = had_directed_links;
  return forward;
}

LinkId TopologyBuilder::add_directed_link(DeviceId from, DeviceId to, Bandwidth bw, LinkType type,
                                          std::optional<Time> latency) {
  if (std::max(from, to).index() >= t_.devices_.size()) fail("a link to an unknown device");
  if (from == to) fail(fmt::format("a link from {} to itself", quoted(t_.device(from).id)));
  require_positive(bw);
  t_.links_.push_back({from, to, bw, bw, latency, type, 1});
  has_directed_links_ = true;
  return LinkId::from_index(t_.links_.size() - 1);
}

void TopologyBuilder::set_weight(LinkId link, std::uint16_t weight) {
  Link& forward = t_.links_[link.index()];
  forward.weight = weight;
  if (link.index() + 1 == t_.links_.size()) return;
  Link& next = t_.links_[link.index() + 1];
  if (next.from == forward.to && next.to == forward.from) next.weight = weight;
}

void TopologyBuilder::add_note(std::string note) { t_.notes_.push_back(std::move(note)); }

std::optional<DeviceId> TopologyBuilder::find_device(std::string_view id) const {
  return by_id_.find(id, t_.devices_);
}

/// Ids may contain the separator themselves ("a--b--c"), so every place where it stands is tried.
std::vector<LinkId> TopologyBuilder::find_links(std::string_view name) const {
  std::vector<LinkId> found;
  for (const std::string_view separator : {"--", "->"}) {
    for (auto at = name.find(separator); at != name.npos; at = name.find(separator, at + 1)) {
      const auto a = find_device(name.substr(0, at));
      const auto b = find_device(name.substr(at + 2));
      if (!a || !b) continue;
      for (std::size_t l = 0; l < t_.links_.size(); ++l) {
        const Link& link = t_.links_[l];
        const bool forward = link.from == *a && link.to == *b;
        const bool backward = link.from == *b && link.to == *a && separator == "--";
        if (forward || backward) found.push_back(LinkId::from_index(l));
      }
    }
  }
  return found;
}

void TopologyBuilder::scale_link(LinkId id, double share) {
  require_share(share);
  t_.links_[id.index()].bandwidth = t_.links_[id.index()].bandwidth * share;
}

void TopologyBuilder::set_bandwidth(LinkId id, Bandwidth bw) {
  require_positive(bw);
  t_.links_[id.index()].bandwidth = bw;
}

void TopologyBuilder::scale_compute(DeviceId id, double share) {
  require_share(share);
  t_.devices_[id.index()].compute *= share;
}

void TopologyBuilder::set_rank_order(std::vector<DeviceId> gpus) {
  std::vector<bool> ranked(t_.devices_.size(), false);
  for (const DeviceId gpu : gpus) {
    const std::string& id = t_.device(gpu).id;
    if (t_.device(gpu).kind != DeviceKind::kGpu)
      fail(fmt::format("only GPUs have ranks, and {} is none", quoted(id)));
    if (ranked[gpu.index()]) fail(fmt::format("GPU {} has two ranks", quoted(id)));
    ranked[gpu.index()] = true;
  }
  for (std::size_t d = 0; d < t_.devices_.size(); ++d) {
    const Device& device = t_.devices_[d];
    if (device.kind == DeviceKind::kGpu && !ranked[d])
      fail(fmt::format("GPU {} has no rank", quoted(device.id)));
  }
  t_.ranks_ = std::move(gpus);
}

Topology TopologyBuilder::build() && {
  std::vector<DeviceId> gpus;
  for (std::size_t d = 0; d < t_.devices_.size(); ++d) {
    if (t_.devices_[d].kind == DeviceKind::kGpu) gpus.push_back(DeviceId::from_index(d));
  }
  if (gpus.empty()) fail("a topology needs at least one GPU");
  if (t_.ranks_.empty())
    t_.ranks_ = std::move(gpus);
  else
    BUSBAR_CHECK(t_.ranks_.size() == gpus.size());

  std::vector<bool> networked(t_.devices_.size(), false);
  for (const Link& link : t_.links_) {
    if (is_network(link.type)) networked[link.from.index()] = networked[link.to.index()] = true;
  }
  for (std::size_t d = 0; d < t_.devices_.size(); ++d) {
    const Device& device = t_.devices_[d];
    if (device.kind != DeviceKind::kNic || device.host == kNoHost || !networked[d]) continue;
    t_.hosts_[device.host].nics.push_back(DeviceId::from_index(d));
  }

  Adjacency out = adjacency_by(&Link::from, t_.links_, t_.devices_.size());
  require_connected(t_, out, has_directed_links_);
  t_.out_first_ = std::move(out.first);
  t_.out_ = std::move(out.links);
  return std::move(t_);
}

}  // namespace busbar
