// The "fabric" of the short form.
#include <string>
#include <vector>

#include "sim/base/named_table.h"
#include "topologies/fabric.h"

namespace busbar {
namespace {

constexpr double kMaxOversubscription = 1024;
constexpr std::int64_t kMaxSpines = 65'536;
constexpr std::size_t kMaxDimensions = 8;

LinkType read_wire(const JsonValue& value) {
  constexpr LinkType kWires[] = {LinkType::kRdma, LinkType::kEfa, LinkType::kTcp, LinkType::kSlingshot};
  const std::string name = value.string();
  std::vector<std::string_view> names;
  for (const LinkType wire : kWires) {
    if (name_of(wire) == name) return wire;
    names.push_back(name_of(wire));
  }
  value.fail(one_of(names), did_you_mean(name, names));
}

std::vector<double> read_oversubscription(const JsonValue& value) {
  if (!value.is_array()) return {value.number(1, kMaxOversubscription)};
  std::vector<double> tiers;
  for (const JsonValue& tier : value.items()) tiers.push_back(tier.number(1, kMaxOversubscription));
  if (tiers.empty()) value.fail("a number, or one per tier from the leaves up");
  return tiers;
}

std::vector<std::int64_t> read_dimensions(const JsonValue& value) {
  std::vector<std::int64_t> sizes;
  std::int64_t points = 1;
  for (const JsonValue& size : value.items()) {
    sizes.push_back(size.integer(1, kMaxDevices / points));
    points *= sizes.back();
  }
  if (sizes.empty() || sizes.size() > kMaxDimensions) value.fail("1 to 8 sizes, such as [4, 4, 4]");
  return sizes;
}

/// Families without a default for what they are made of need it: torus and dragonfly.
void read_shape(const JsonValue& fabric, std::string_view family, FabricRequest& request) {
  if (family == "torus") request.dimensions = read_dimensions(fabric.at("dimensions"));
  if (family != "dragonfly") return;
  request.groups = fabric.at("groups").integer(1, kMaxDevices);
  request.routers_per_group = fabric.at("routers_per_group").integer(1, kMaxDevices / request.groups);
  request.hosts_per_router = fabric.at("hosts_per_router").integer(1, kMaxDevices);
}

}  // namespace

RoutingMode read_routing(const JsonValue& value) {
  constexpr std::string_view kModes[] = {"adaptive", "static"};
  const std::string name = value.string();
  if (name == kModes[0]) return RoutingMode::kAdaptive;
  if (name == kModes[1]) return RoutingMode::kStatic;
  value.fail(one_of(kModes), did_you_mean(name, kModes));
}

void read_fabric(const JsonValue& fabric, FabricRequest& request) {
  const auto count = [&](std::string_view key, std::int64_t most, std::optional<std::int64_t>& target) {
    if (const auto value = fabric.find(key)) target = value->integer(1, most);
  };
  count("hosts_per_leaf", kMaxDevices, request.hosts_per_leaf);
  count("hosts_per_pod", kMaxDevices, request.hosts_per_pod);
  count("spines", kMaxSpines, request.spines);
  if (const auto tiers = fabric.find("tiers")) request.tiers = tiers->integer(2, 3);
  if (const auto over = fabric.find("oversubscription"))
    request.oversubscription = read_oversubscription(*over);
  if (const auto routing = fabric.find("routing")) request.routing = read_routing(*routing);
  if (const auto link = fabric.find("link")) request.link = link->bandwidth();
  if (const auto sharp = fabric.find("sharp")) request.in_network_reduction = sharp->boolean();
  if (const auto wire = fabric.find("wire")) request.wire = read_wire(*wire);
  read_shape(fabric, fabric.at("family").string(), request);
}

}  // namespace busbar
