#include "sim/replay/drawing.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace busbar {

namespace {

// What a page of 1280 pixels has room for.
constexpr std::size_t kHostsDrawn = 2;
constexpr std::size_t kOfARoleDrawn = 16;

class Draft {
 public:
  explicit Draft(const Topology& topology) : topology_(topology), node_of_(topology.devices().size()) {
    choose_hosts();
    count_roles();
    for (std::size_t i = 0; i < node_of_.size(); ++i) {
      const DeviceId id = DeviceId::from_index(i);
      node_of_[i] = topology_.host_of(id) == kNoHost ? network_node(id) : host_node(id);
    }
  }
  [[nodiscard]] std::uint32_t node_of(DeviceId id) const { return node_of_[id.index()]; }
  [[nodiscard]] std::vector<DrawingNode> take_nodes() { return std::move(nodes_); }

 private:
  // By host: the host that is drawn for it.
  void choose_hosts() {
    std::map<std::tuple<std::string, std::size_t, std::size_t>, std::uint32_t> first;
    const std::span<const Host> hosts = topology_.hosts();
    for (std::uint32_t h = 0; h < hosts.size(); ++h) {
      const Host& host = hosts[h];
      const auto [it, is_new] = first.try_emplace({host.type, host.gpus.size(), host.nics.size()}, h);
      drawn_as_.push_back(hosts.size() <= kHostsDrawn ? h : it->second);
    }
    seen_in_host_.resize(hosts.size());
  }

  void count_roles() {
    for (std::size_t i = 0; i < node_of_.size(); ++i)
      if (const DeviceId id = DeviceId::from_index(i); topology_.host_of(id) == kNoHost)
        ++of_role_[topology_.role_of(id)];
  }

  std::uint32_t network_node(DeviceId id) {
    const std::string role = topology_.role_of(id);
    const bool alone = of_role_.at(role) <= kOfARoleDrawn;
    const std::string name = alone ? topology_.name_of(id) : role;
    const auto [it, is_new] = network_.try_emplace(name, next());
    if (is_new)
      nodes_.push_back({.name = name, .kind = role, .host = "", .members = 1});
    else
      ++nodes_[it->second].members;
    return it->second;
  }

  // The n-th device of a kind in a host is drawn as the n-th of that kind in the host that is drawn for it.
  std::uint32_t host_node(DeviceId id) {
    const std::uint32_t host = topology_.host_of(id);
    const auto kind = static_cast<std::size_t>(topology_.kind(id));
    const std::uint32_t n = seen_in_host_[host][kind]++;
    const std::uint64_t key = (std::uint64_t{drawn_as_[host]} * kDeviceKinds + kind) << 20U | n;
    const auto [it, is_new] = hosted_.try_emplace(key, next());
    if (!is_new) {
      ++nodes_[it->second].members;
      return it->second;
    }
    const std::string& host_name = topology_.hosts()[host].name;
    std::string name = topology_.name_of(id);
    if (name.starts_with(host_name + ".")) name.erase(0, host_name.size() + 1);
    nodes_.push_back({.name = std::move(name),
                      .kind = std::string(busbar::name_of(topology_.kind(id))),
                      .host = host_name,
                      .members = 1});
    return it->second;
  }

  [[nodiscard]] std::uint32_t next() const { return static_cast<std::uint32_t>(nodes_.size()); }

  const Topology& topology_;
  std::vector<std::uint32_t> node_of_;   // by device
  std::vector<std::uint32_t> drawn_as_;  // by host
  std::vector<std::array<std::uint32_t, kDeviceKinds>> seen_in_host_;
  std::map<std::string, std::size_t> of_role_;
  std::map<std::string, std::uint32_t> network_;  // by name
  std::unordered_map<std::uint64_t, std::uint32_t> hosted_;
  std::vector<DrawingNode> nodes_;
};

}  // namespace

Drawing drawing_of(Replay& replay, const Topology& topology, Time step) {
  Draft drawing(topology);
  Drawing layout;
  const std::vector<ResourceTotals> totals = replay.strands().totals();
  const std::vector<double>& capacity = replay.placement().capacities();
  const std::vector<std::uint32_t>& replayed_as = replay.system().replayed_as;
  const double seconds = step.seconds() / replay.counted_share();
  std::unordered_map<std::uint64_t, std::size_t> known;  // by ends and type
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const LinkId id = LinkId::from_index(i);
    const std::uint32_t from = drawing.node_of(topology.from(id));
    const std::uint32_t to = drawing.node_of(topology.to(id));
    const std::uint64_t key =
        (std::uint64_t{from} << 28U | to) << 4U | static_cast<unsigned>(topology.spec(id).type);
    const auto [it, is_new] = known.try_emplace(key, layout.links.size());
    if (is_new)
      layout.links.push_back({.from = from,
                              .to = to,
                              .link_class = topology.link_class(id),
                              .members = 0,
                              .capacity_Bps = capacity[i]});
    DrawingLink& link = layout.links[it->second];
    ++link.members;
    const std::uint32_t as = replayed_as.empty() ? static_cast<std::uint32_t>(i) : replayed_as[i];
    if (as == System::kNone) continue;
    link.peak_fraction = std::max(link.peak_fraction, totals[as].peak_share);
    const double busy = seconds > 0 ? totals[as].bytes / (capacity[i] * seconds) : 0;
    if (busy <= link.busy_fraction) continue;
    link.busy_fraction = busy;
    link.capacity_Bps = capacity[i];
  }
  layout.nodes = drawing.take_nodes();
  return layout;
}

}  // namespace busbar
