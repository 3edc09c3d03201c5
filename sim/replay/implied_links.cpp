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
  Search(const Topology& topology, std::span<const double> capacity)
      : t_(topology),
        capacity_(capacity),
        is_known_(capacity.size(), false),
        implied_(capacity.size(), false),
        in_(topology.devices().size()),
        out_(topology.devices().size()) {
    for (std::size_t l = 0; l < capacity_.size(); ++l) {
      const LinkId link = LinkId::from_index(l);
      ++out_[t_.from(link).index()].unknown;
      ++in_[t_.to(link).index()].unknown;
    }
    for (std::size_t l = 0; l < capacity_.size(); ++l)
      if (is_cable(LinkId::from_index(l))) learn(LinkId::from_index(l));
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

}  // namespace

std::vector<bool> implied_links(const Topology& topology, std::span<const double> capacity) {
  return Search(topology, capacity).run();
}

}  // namespace busbar
