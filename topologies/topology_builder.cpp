#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "topologies/topology.h"

namespace busbar {
namespace {

[[noreturn]] void fail(std::string message) { throw Error({.message = std::move(message)}); }

using End = DeviceId (Topology::*)(LinkId) const;  // from or to

/// The links that touch each device at one end, in file order.
template <End end>
Rows<LinkId> links_by(const Topology& t) {
  return {t.devices().size(), [&](const auto& add) {
            for (std::size_t l = 0; l < t.links().size(); ++l)
              add((t.*end)(LinkId::from_index(l)).index(), LinkId::from_index(l));
          }};
}

/// Which devices a walk from `start` reaches that goes along `adjacency` and leaves each link at its `far`
/// end.
template <End far>
std::vector<bool> reached(const Topology& t, const Rows<LinkId>& adjacency, DeviceId start) {
  std::vector<bool> seen(adjacency.size(), false);
  std::vector<DeviceId> frontier = {start};
  seen[start.index()] = true;
  while (!frontier.empty()) {
    const DeviceId here = frontier.back();
    frontier.pop_back();
    for (const LinkId link : adjacency[here.index()]) {
      const DeviceId there = (t.*far)(link);
      if (seen[there.index()]) continue;
      seen[there.index()] = true;
      frontier.push_back(there);
    }
  }
  return seen;
}

/// Fails unless the first GPU reaches each other one, and each other one the first: then all reach all.
void require_connected(const Topology& t, const Rows<LinkId>& out, bool has_directed_links) {
  const auto check = [&t](const std::vector<bool>& seen, const char* words) {
    for (const DeviceId gpu : t.ranks()) {
      if (seen[gpu.index()]) continue;
      fail(fmt::format(fmt::runtime(words), quoted(t.name_of(t.ranks()[0])), quoted(t.name_of(gpu))));
    }
  };
  check(reached<&Topology::to>(t, out, t.ranks()[0]), "no path connects GPU {} to GPU {}");
  if (!has_directed_links) return;
  const Rows<LinkId> in = links_by<&Topology::to>(t);
  check(reached<&Topology::from>(t, in, t.ranks()[0]), "no path connects GPU {1} to GPU {0}");
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

std::uint32_t TopologyBuilder::part_number(std::string_view part) {
  const auto [it, is_new] =
      part_numbers_.try_emplace(std::string(part), static_cast<std::uint32_t>(t_.parts_.size()));
  if (is_new) t_.parts_.push_back(it->first);
  return it->second;
}

DeviceId TopologyBuilder::add_device(std::string id, DeviceKind kind, std::uint32_t host,
                                     std::int32_t gpu_model) {
  if (std::ssize(t_.devices_) >= kMaxDevices)
    fail(fmt::format("more than the limit of {} devices", kMaxDevices));
  BUSBAR_CHECK(host == kNoHost || host < t_.hosts_.size());
  const auto number = static_cast<std::uint32_t>(t_.devices_.size());
  if (find_device(id)) fail(fmt::format("two devices are called {}", quoted(id)));
  const std::string_view host_name = host == kNoHost ? std::string_view() : t_.hosts_[host].name;
  Topology::StoredDevice device{
      .host = host, .gpu_model = static_cast<std::int16_t>(gpu_model), .kind = kind};
  device.part_of_host = host != kNoHost && id.size() > host_name.size() && id.starts_with(host_name) &&
                        id[host_name.size()] == '.';
  const auto name_at = [this](std::uint32_t d) { return t_.name_of(DeviceId(d)); };
  BUSBAR_CHECK(by_id_.insert(id, number, name_at));
  if (device.part_of_host) {
    device.name = part_number(std::string_view(id).substr(host_name.size() + 1));
  } else {
    device.name = static_cast<std::uint32_t>(t_.names_.size());
    t_.names_.push_back(std::move(id));
  }
  t_.devices_.push_back(device);
  if (kind == DeviceKind::kGpu && host != kNoHost) t_.hosts_[host].gpus.push_back(DeviceId(number));
  return DeviceId(number);
}

void TopologyBuilder::copy_host(const HostParts& parts, std::string name) {
  const Host& model = t_.hosts_[parts.host];
  std::size_t count = 0;
  while (parts.first_device + count < t_.devices_.size() &&
         t_.devices_[parts.first_device + count].host == parts.host)
    ++count;
  if (std::ssize(t_.devices_) + std::ssize(t_.devices_) > 2 * kMaxDevices - static_cast<std::int64_t>(count))
    fail(fmt::format("more than the limit of {} devices", kMaxDevices));
  const auto host = static_cast<std::uint32_t>(t_.hosts_.size());
  const auto shift = static_cast<std::uint32_t>(t_.devices_.size() - parts.first_device);
  Host copy{name, model.type, {}, {}, host, model.cpu};
  copy.gpus.reserve(model.gpus.size());
  for (const DeviceId gpu : model.gpus) copy.gpus.push_back(DeviceId(gpu.value() + shift));
  if (!copied_hosts_.try_emplace(std::move(name), static_cast<std::uint32_t>(t_.devices_.size())).second)
    fail(fmt::format("two hosts are called {}", quoted(copy.name)));
  t_.hosts_.push_back(std::move(copy));
  for (std::size_t d = 0; d < count; ++d) {
    Topology::StoredDevice device = t_.devices_[parts.first_device + d];
    BUSBAR_CHECK(device.part_of_host);
    device.host = host;
    t_.devices_.push_back(device);
  }
  for (std::size_t l = 0; l < parts.links; ++l) {
    const Topology::StoredLink link = t_.links_[parts.first_link + l];
    t_.links_.push_back({link.from + shift, link.to + shift, link.spec});
  }
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
  if (from == to) fail(fmt::format("a link from {} to itself", quoted(t_.name_of(from))));
  require_positive(bw);
  t_.links_.push_back({from.value(), to.value(), number_of({bw, bw, latency, type, 1})});
  has_directed_links_ = true;
  return LinkId::from_index(t_.links_.size() - 1);
}

std::size_t TopologyBuilder::SpecHash::operator()(const LinkSpec& spec) const {
  std::uint64_t h = std::bit_cast<std::uint64_t>(spec.bandwidth.Bps());
  h = mix(h, std::bit_cast<std::uint64_t>(spec.nominal.Bps()));
  h = mix(h, spec.latency ? static_cast<std::uint64_t>(spec.latency->ps()) : ~std::uint64_t{0});
  return mix(h, (std::uint64_t{spec.weight} << 8) | static_cast<std::uint64_t>(spec.type));
}

std::uint32_t TopologyBuilder::number_of(const LinkSpec& spec) {
  if (last_spec_ < t_.specs_.size() && t_.specs_[last_spec_] == spec) return last_spec_;
  const auto [it, is_new] = spec_numbers_.try_emplace(spec, static_cast<std::uint32_t>(t_.specs_.size()));
  if (is_new) t_.specs_.push_back(spec);
  return last_spec_ = it->second;
}

void TopologyBuilder::set_weight(LinkId link, std::uint16_t weight) {
  const auto weigh = [&](Topology::StoredLink& l) {
    LinkSpec spec = t_.specs_[l.spec];
    spec.weight = weight;
    l.spec = number_of(spec);
  };
  Topology::StoredLink& forward = t_.links_[link.index()];
  weigh(forward);
  if (link.index() + 1 == t_.links_.size()) return;
  Topology::StoredLink& next = t_.links_[link.index() + 1];
  if (next.from == forward.to && next.to == forward.from) weigh(next);
}

void TopologyBuilder::add_note(std::string note) { t_.notes_.push_back(std::move(note)); }

std::optional<DeviceId> TopologyBuilder::find_device(std::string_view id) const {
  const auto name_at = [this](std::uint32_t d) { return t_.name_of(DeviceId(d)); };
  if (const auto found = by_id_.find(id, name_at)) return DeviceId(*found);
  if (copied_hosts_.empty()) return std::nullopt;
  for (auto dot = id.find('.'); dot != id.npos; dot = id.find('.', dot + 1)) {
    const auto host = copied_hosts_.find(std::string(id.substr(0, dot)));
    if (host == copied_hosts_.end()) continue;
    const std::string_view part = id.substr(dot + 1);
    const std::uint32_t number = t_.devices_[host->second].host;
    for (std::uint32_t d = host->second; d < t_.devices_.size() && t_.devices_[d].host == number; ++d)
      if (t_.parts_[t_.devices_[d].name] == part) return DeviceId(d);
  }
  return std::nullopt;
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
        const Topology::StoredLink& link = t_.links_[l];
        const bool forward = link.from == a->value() && link.to == b->value();
        const bool backward = link.from == b->value() && link.to == a->value() && separator == "--";
        if (forward || backward) found.push_back(LinkId::from_index(l));
      }
    }
  }
  return found;
}

void TopologyBuilder::scale_link(LinkId id, double share) {
  require_share(share);
  set_bandwidth(id, t_.spec(id).bandwidth * share);
}

void TopologyBuilder::set_bandwidth(LinkId id, Bandwidth bw) {
  require_positive(bw);
  LinkSpec spec = t_.spec(id);
  spec.bandwidth = bw;
  t_.links_[id.index()].spec = number_of(spec);
}

void TopologyBuilder::scale_compute(DeviceId id, double share) {
  require_share(share);
  t_.slowed_.try_emplace(id.value(), 1.0).first->second *= share;
}

void TopologyBuilder::set_rank_order(std::vector<DeviceId> gpus) {
  std::vector<bool> ranked(t_.devices_.size(), false);
  for (const DeviceId gpu : gpus) {
    if (t_.kind(gpu) != DeviceKind::kGpu)
      fail(fmt::format("only GPUs have ranks, and {} is none", quoted(t_.name_of(gpu))));
    if (ranked[gpu.index()]) fail(fmt::format("GPU {} has two ranks", quoted(t_.name_of(gpu))));
    ranked[gpu.index()] = true;
  }
  for (std::size_t d = 0; d < t_.devices_.size(); ++d) {
    if (t_.devices_[d].kind == DeviceKind::kGpu && !ranked[d])
      fail(fmt::format("GPU {} has no rank", quoted(t_.name_of(DeviceId::from_index(d)))));
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
  for (const Topology::StoredLink& link : t_.links_) {
    if (is_network(t_.specs_[link.spec].type)) networked[link.from] = networked[link.to] = true;
  }
  for (std::size_t d = 0; d < t_.devices_.size(); ++d) {
    const Topology::StoredDevice& device = t_.devices_[d];
    if (device.kind != DeviceKind::kNic || device.host == kNoHost || !networked[d]) continue;
    t_.hosts_[device.host].nics.push_back(DeviceId::from_index(d));
  }

  t_.out_ = links_by<&Topology::from>(t_);
  require_connected(t_, t_.out_, has_directed_links_);
  return std::move(t_);
}

}  // namespace busbar
