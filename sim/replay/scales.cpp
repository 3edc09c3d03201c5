#include "sim/replay/scales.h"

#include <algorithm>
#include <unordered_map>

#include "sim/base/error.h"

namespace busbar {

namespace {

// From the host outwards, so that a name does not depend on which end a file names first.
constexpr std::array<std::string_view, 4> kOutwards = {"leaf", "spine", "core", "switch"};

std::size_t tier(const std::string& role) {
  return static_cast<std::size_t>(std::find(kOutwards.begin(), kOutwards.end(), role) - kOutwards.begin());
}

class Namer {
 public:
  explicit Namer(const Topology& topology) : t_(topology) {}
  std::string operator()(LinkId id) {
    const LinkType type = t_.spec(id).type;
    if (!is_network(type)) return std::string(name_of(type));
    if (t_.kind(t_.from(id)) == DeviceKind::kNic || t_.kind(t_.to(id)) == DeviceKind::kNic)
      return std::string(kNicClass);
    const std::string &a = role(t_.from(id)), &b = role(t_.to(id));
    return tier(a) <= tier(b) ? a + "-" + b : b + "-" + a;
  }

 private:
  const std::string& role(DeviceId device) {
    const auto [it, is_new] = roles_.try_emplace(device);
    if (is_new) it->second = t_.role_of(device);
    return it->second;
  }
  const Topology& t_;
  std::unordered_map<DeviceId, std::string> roles_;
};

}  // namespace

LinkClasses link_classes(const Topology& topology) {
  LinkClasses classes;
  Namer name(topology);
  const std::size_t links = topology.links().size();
  classes.of.reserve(links);
  for (std::size_t l = 0; l < links; ++l) {
    const std::string own = name(LinkId::from_index(l));
    const auto found = std::find(classes.names.begin(), classes.names.end(), own);
    classes.of.push_back(static_cast<std::uint8_t>(found - classes.names.begin()));
    if (found == classes.names.end()) classes.names.push_back(own);
    BUSBAR_CHECK(classes.names.size() < 256);  // types and pairs of roles are few
  }
  return classes;
}

}  // namespace busbar
