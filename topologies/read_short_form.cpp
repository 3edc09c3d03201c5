// Short form: host types x a fabric family.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "sim/base/named_table.h"
#include "topologies/fabric.h"
#include "topologies/host_type.h"
#include "topologies/topology_readers.h"

namespace busbar {
namespace {

/// The row that `value` names; else an error that lists all.
template <class Row>
const Row& named_row(const JsonValue& value, std::span<const Row> table) {
  const std::string name = value.string();
  const Row* row = find_row(table, name);
  const auto names = names_of(table);
  if (row == nullptr) value.fail(one_of(names), did_you_mean(name, names));
  return *row;
}

/// One entry of "hosts": `count` equal hosts.
struct HostGroup {
  std::int64_t count = 0;
  const HostType* type = nullptr;
  HostRequest request;  // without a name
};

HostGroup read_host_group(const JsonValue& value) {
  value.only_keys({"count", "type", "nic", "nics", "gpus"});
  HostGroup group;
  group.count = value.at("count").integer(1, kMaxDevices);
  group.type = &named_row(value.at("type"), host_types());
  if (const auto nic = value.find("nic")) group.request.nic = nic->bandwidth();
  if (const auto nics = value.find("nics")) group.request.nics = nics->integer(1, group.type->nics);
  if (const auto gpus = value.find("gpus")) group.request.gpus = gpus->integer(1, group.type->gpus);
  return group;
}

/// Builds hosts, and lists their NICs for the fabric.
class HostsReader {
 public:
  HostsReader(TopologyBuilder& builder, std::optional<Bandwidth> default_nic)
      : builder_(builder), default_nic_(default_nic) {}

  void read(const JsonValue& value) {
    const HostGroup group = read_host_group(value);
    const std::size_t devices = builder_.devices().size();
    const std::size_t links = builder_.links().size();
    add_host(group);
    reserve_rest(value, group, builder_.devices().size() - devices, builder_.links().size() - links);
    for (std::int64_t i = 1; i < group.count; ++i) add_host(group);
  }

  FabricRequest request() && { return std::move(fabric_); }

 private:
  void add_host(const HostGroup& group) {
    HostRequest request = group.request;
    request.name = fmt::format("h{}", builder_.hosts().size());
    const std::size_t first = builder_.devices().size();
    group.type->build(builder_, request);
    auto& nics = fabric_.nics.emplace_back();
    for (std::size_t d = first; d < builder_.devices().size(); ++d) {
      if (builder_.devices()[d].kind == DeviceKind::kNic) nics.push_back(DeviceId::from_index(d));
    }
    const Bandwidth fallback = default_nic_.value_or(group.type->nic);
    fabric_.rates.emplace_back(nics.size(), request.nic.value_or(fallback));
  }

  /// The first host of a group shows what the others take; too many of them are refused before they are
  /// built.
  void reserve_rest(const JsonValue& value, const HostGroup& group, std::size_t devices, std::size_t links) {
    const std::int64_t all = checked_add(
        std::ssize(builder_.devices()),
        checked_mul(group.count - 1, static_cast<std::int64_t>(devices), "hosts x devices"), "devices");
    if (all > kMaxDevices) {
      value.at("count").fail_because(fmt::format("{} hosts would make {} devices, more than the limit of {}",
                                                 group.count, all, kMaxDevices));
    }
    const auto rest = static_cast<std::size_t>(group.count - 1);
    // Beside the links of each host, its NICs' cables in both directions.
    builder_.reserve(rest * devices, rest * (links + 2 * fabric_.nics.back().size()));
    fabric_.nics.reserve(fabric_.nics.size() + rest);
    fabric_.rates.reserve(fabric_.rates.size() + rest);
  }

  TopologyBuilder& builder_;
  std::optional<Bandwidth> default_nic_;
  FabricRequest fabric_;
};

}  // namespace

void read_short_form(const JsonValue& root, TopologyBuilder& builder) {
  const JsonValue hosts = root.at("hosts");
  const JsonValue fabric = root.at("fabric");
  const FabricFamily& family = named_row(fabric.at("family"), fabric_families());
  fabric.only_keys(family.keys);

  std::optional<Bandwidth> default_nic;
  if (const auto nic = fabric.find("nic")) default_nic = nic->bandwidth();
  HostsReader reader(builder, default_nic);
  if (hosts.is_array()) {
    for (const JsonValue& group : hosts.items()) reader.read(group);
  } else {
    reader.read(hosts);
  }
  FabricRequest request = std::move(reader).request();
  if (request.nics.empty()) hosts.fail_because("no hosts are listed");
  read_fabric(fabric, request);
  at_place(fabric, [&] { family.build(builder, request); });
}

}  // namespace busbar
