// The machine as it is drawn: what is alike once, with how full its links were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace busbar {

struct DrawingNode {
  std::string name;           // "gpu3", "leaf0"; "leaf" where it stands for several
  std::string kind;           // gpu, cpu, nvswitch, pcie-switch, nic, switch, leaf, spine, core
  std::string host;           // "" for the network's; the first of those it stands for
  std::uint64_t members = 1;  // devices that it stands for
};

/// One direction. Of several links the load of the fullest.
struct DrawingLink {
  std::uint32_t from = 0, to = 0;  // nodes
  std::string link_class;
  std::uint64_t members = 1;
  double capacity_Bps = 0;  // sustained, of the fullest
  double busy_fraction = 0, peak_fraction = 0;
};

struct Drawing {
  std::vector<DrawingNode> nodes;
  std::vector<DrawingLink> links;
};

}  // namespace busbar
