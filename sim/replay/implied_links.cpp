#include "sim/replay/implied_links.h"

#include <cstdint>

namespace busbar {

namespace {

// Sums of the same rates in another order differ by rounding.
constexpr double kRounding = 1 + 1e-12;

/// The links of one direction at a device: what those that stand or follow carry, and how many do not yet.
struct Side {
  double known_Bps = 0;
  std::uint32_t unknown = 0;
};

class Search {
 public:
  /// Of links that `left_out` names (by link; empty: none) nothing is found. Requires: no others meet them
  /// but cables.
  Search(const Topology& topology, std::span<const double> capacity, const std::vector<bool>& left_out)
      : t_(topology),
        capacity_(capacity),
        is_known_(left_out.empty() ? std::vector<bool>(capacity.size(), false) : left_out),
        implied_(capacity.size(), false),
        in_(topology.devices().size()),
        out_(topology.devices().size()) {
    for (std::size_t l = 0; l < capacity_.size(); ++l) {
      if (is_known_[l]) continue;
      const LinkId link = LinkId::from_index(l);
      ++out_[t_.from(link).index()].unknown;
      ++in_[t_.to(link).index()].unknown;
    }
    for (std::size_t l = 0; l < capacity_.size(); ++l)
      if (!is_known_[l] && is_cable(LinkId::from_index(l))) learn(LinkId::from_index(l));
    for (std::size_t l = 0; l < capacity_.size(); ++l)
      if (!is_known_[l]) open_.push_back(LinkId::from_index(l));
  }

  std::vector<bool> run() {
    for (bool found = true; found;) {
      found = false;
      std::vector<LinkId> left;
      for (const LinkId link : open_) {
        if (!follows(link)) {
          left.push_back(link);
          continue;
        }
        implied_[link.index()] = true;
        learn(link);
        found = true;
      }
      open_ = std::move(left);
    }
    return implied_;
  }

 private:
  [[nodiscard]] bool is_cable(LinkId link) const {
    return is_network(t_.spec(link).type) &&
           (t_.kind(t_.from(link)) == DeviceKind::kNic || t_.kind(t_.to(link)) == DeviceKind::kNic);
  }
  void learn(LinkId link) {
    is_known_[link.index()] = true;
    for (Side* side : {&out_[t_.from(link).index()], &in_[t_.to(link).index()]}) {
      --side->unknown;
      side->known_Bps += capacity_[link.index()];
    }
  }
  [[nodiscard]] static bool passes_on(DeviceKind kind) {
    return kind == DeviceKind::kSwitch || kind == DeviceKind::kNic || kind == DeviceKind::kPcieSwitch;
  }
  [[nodiscard]] bool follows(LinkId link) const {
    const DeviceId from = t_.from(link), to = t_.to(link);
    const double room = capacity_[link.index()] * kRounding;
    return (passes_on(t_.kind(from)) && holds(in_[from.index()], link, room)) ||
           (passes_on(t_.kind(to)) && holds(out_[to.index()], link, room));
  }
  /// Of that side all but the way back over the same pair of devices, which no route takes at once.
  [[nodiscard]] bool holds(const Side& side, LinkId link, double room) const {
    double others = side.known_Bps;
    std::uint32_t unknown = side.unknown;
    if (const std::optional<LinkId> back = t_.way_back(link)) {
      if (is_known_[back->index()])
        others -= capacity_[back->index()];
      else
        --unknown;
    }
    return unknown == 0 && others <= room;
  }

  const Topology& t_;
  std::span<const double> capacity_;
  std::vector<bool> is_known_, implied_;
  std::vector<Side> in_, out_;  // by device
  std::vector<LinkId> open_;
};

bool same_cable(std::span<const double> capacity, const Cable& a, const Cable& b) {
  return a.links == b.links && a.links <= 1 &&
         (a.links == 0 || capacity[a.link.index()] == capacity[b.link.index()]);
}

/// Whether what is found of the links inside the first host (or NVLink domain) of its shape holds for
/// `island`.
bool is_like_first(const Topology& t, std::span<const double> capacity, const HostShapes& shapes,
                   std::uint32_t island) {
  const std::uint32_t first = shapes.representative_of(island);
  const auto own = shapes.links(island), model = shapes.links(first);
  for (std::size_t l = 0; l < own.size(); ++l)
    if (capacity[own[l].index()] != capacity[model[l].index()]) return false;
  for (const DeviceId device : shapes.devices(island)) {
    const DeviceId alike = shapes.representative(device);
    if (t.kind(device) != DeviceKind::kNic && shapes.up(device).links + shapes.down(device).links > 0)
      return false;
    if (!same_cable(capacity, shapes.up(device), shapes.up(alike)) ||
        !same_cable(capacity, shapes.down(device), shapes.down(alike)))
      return false;
  }
  return shapes.is_closed(island) && shapes.is_closed(first);
}

}  // namespace

std::vector<bool> implied_links(const Topology& topology, std::span<const double> capacity) {
  return Search(topology, capacity, {}).run();
}

std::vector<bool> implied_links(const Topology& topology, std::span<const double> capacity,
                                const HostShapes& shapes) {
  std::vector<std::uint32_t> like;  // islands
  std::vector<bool> left_out(capacity.size(), false);
  for (std::uint32_t island = 0; island < topology.hosts().size(); ++island) {
    if (shapes.representative_of(island) == island || !is_like_first(topology, capacity, shapes, island))
      continue;
    like.push_back(island);
    for (const LinkId link : shapes.links(island)) left_out[link.index()] = true;
  }
  std::vector<bool> implied = Search(topology, capacity, left_out).run();
  for (const std::uint32_t island : like) {
    const auto own = shapes.links(island), model = shapes.links(shapes.representative_of(island));
    for (std::size_t l = 0; l < own.size(); ++l) implied[own[l].index()] = implied[model[l].index()];
  }
  return implied;
}

}  // namespace busbar
