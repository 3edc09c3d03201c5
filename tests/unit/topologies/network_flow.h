// The most that a network carries from some hosts to the others: its bisection bandwidth, by augmenting
// paths.
#pragma once

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "topologies/topology.h"

namespace busbar::testing {

/// Maximum flow (Edmonds-Karp) over network links from the NICs of the first `hosts` hosts to all other NICs,
/// bytes/s. Hosts' insides are not used.
class NetworkFlow {
 public:
  NetworkFlow(const Topology& t, std::size_t hosts) : t_(t), arcs_(t.devices().size() + 2) {
    for (const Link& link : t.links()) {
      if (is_network(link.type)) add(link.from.index(), link.to.index(), link.bandwidth.Bps());
    }
    for (std::size_t h = 0; h < t.hosts().size(); ++h) {
      for (const DeviceId nic : t.hosts()[h].nics) {
        if (h < hosts)
          add(source(), nic.index(), std::numeric_limits<double>::infinity());
        else
          add(nic.index(), sink(), std::numeric_limits<double>::infinity());
      }
    }
  }

  double most() {
    double all = 0;
    for (double more = augment(); more > 0; more = augment()) all += more;
    return all;
  }

 private:
  struct Arc {
    std::size_t to, back;
    double left;
  };
  std::size_t source() const { return t_.devices().size(); }
  std::size_t sink() const { return t_.devices().size() + 1; }

  void add(std::size_t a, std::size_t b, double capacity) {
    arcs_[a].push_back({b, arcs_[b].size(), capacity});
    arcs_[b].push_back({a, arcs_[a].size() - 1, 0});
  }

  double augment() {
    std::vector<Arc*> into(arcs_.size(), nullptr);
    std::vector<std::size_t> from(arcs_.size(), 0);
    std::queue<std::size_t> queue({source()});
    for (; !queue.empty() && into[sink()] == nullptr; queue.pop()) {
      for (Arc& arc : arcs_[queue.front()]) {
        if (arc.left < 1 || into[arc.to] != nullptr || arc.to == source())
          continue;  // below 1 byte/s: rounding
        into[arc.to] = &arc;
        from[arc.to] = queue.front();
        queue.push(arc.to);
      }
    }
    if (into[sink()] == nullptr) return 0;
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t at = sink(); at != source(); at = from[at]) most = std::min(most, into[at]->left);
    for (std::size_t at = sink(); at != source(); at = from[at]) {
      into[at]->left -= most;
      arcs_[at][into[at]->back].left += most;
    }
    return most;
  }

  const Topology& t_;
  std::vector<std::vector<Arc>> arcs_;
};

inline double bisection_Bps(const Topology& t) { return NetworkFlow(t, t.hosts().size() / 2).most(); }

}  // namespace busbar::testing
