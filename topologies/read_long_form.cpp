// Long form: any graph of devices and links.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/base/named_table.h"
#include "topologies/host_type.h"
#include "topologies/topology_readers.h"

namespace busbar {
namespace {

constexpr std::int64_t kMaxWeight = 100;

/// The value of an enumeration whose name `value` holds. `count`: values run from 0.
template <class Enum>
Enum named_value(const JsonValue& value, std::size_t count) {
  const std::string name = value.string();
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    names.push_back(name_of(static_cast<Enum>(i)));
  }
  value.fail(one_of(names), did_you_mean(name, names));
}

/// What joins two kinds of device unless "type" says otherwise.
LinkType usual_type(DeviceKind a, DeviceKind b) {
  const auto either = [&](DeviceKind kind) { return a == kind || b == kind; };
  const auto both = [&](DeviceKind kind) { return a == kind && b == kind; };
  if (either(DeviceKind::kSwitch) || both(DeviceKind::kNic)) return LinkType::kRdma;
  if (either(DeviceKind::kNvswitch) || both(DeviceKind::kGpu)) return LinkType::kNvlink;
  if (both(DeviceKind::kCpu)) return LinkType::kUpi;
  return LinkType::kPcie;
}

std::int32_t read_model(const JsonValue& value, TopologyBuilder& builder) {
  const std::string name = value.string();
  std::vector<std::string_view> names;
  const auto described = builder.gpu_models();
  for (std::size_t m = 0; m < described.size(); ++m) {
    if (described[m].name == name) return static_cast<std::int32_t>(m);
    names.push_back(described[m].name);
  }
  for (const GpuModel& model : gpu_models()) {
    if (model.name == name) return builder.add_gpu_model(model);
    names.push_back(model.name);
  }
  value.fail(fmt::format("a GPU model ({}, or one described in \"gpus\")", fmt::join(names, ", ")),
             did_you_mean(name, names));
}

class DeviceReader {
 public:
  explicit DeviceReader(TopologyBuilder& builder) : builder_(builder) {}

  void read(const JsonValue& value) {
    value.only_keys({"id", "kind", "model", "host", "vendor"});
    const auto kind = named_value<DeviceKind>(value.at("kind"), kDeviceKinds);
    // Routes run GPU - own host's NIC - network, so both need to belong somewhere.
    const bool needs_host = kind == DeviceKind::kGpu || kind == DeviceKind::kNic;
    const auto label = needs_host ? value.at("host") : value.find("host");
    const std::uint32_t host = label ? host_called(label->string()) : kNoHost;
    const auto model = value.find("model");
    if (model && kind != DeviceKind::kGpu) model->fail_because("only a device of kind \"gpu\" has a model");
    const std::int32_t gpu_model = model ? read_model(*model, builder_) : -1;
    if (const auto vendor = value.find("vendor")) read_vendor(*vendor, kind, host);
    const JsonValue id = value.at("id");
    at_place(id, [&] { return builder_.add_device(id.string(), kind, host, gpu_model); });
  }

 private:
  void read_vendor(const JsonValue& vendor, DeviceKind kind, std::uint32_t host) {
    if (kind != DeviceKind::kCpu) vendor.fail_because("only a device of kind \"cpu\" has a vendor");
    if (host == kNoHost) vendor.fail_because("a CPU with a vendor needs a \"host\"");
    builder_.set_cpu(host, named_value<CpuVendor>(vendor, kCpuVendors));
  }

  std::uint32_t host_called(const std::string& name) {
    const auto [entry, is_new] = hosts_.try_emplace(name, 0U);
    if (is_new) entry->second = builder_.add_host(name, "");
    return entry->second;
  }

  TopologyBuilder& builder_;
  std::unordered_map<std::string, std::uint32_t> hosts_;
};

DeviceId read_end(const JsonValue& value, const TopologyBuilder& builder) {
  const std::string id = value.string();
  const auto device = builder.find_device(id);
  if (!device) value.fail("the id of a device", similar_device(builder, id));
  return *device;
}

void read_link(const JsonValue& value, TopologyBuilder& builder) {
  value.only_keys({"from", "to", "bandwidth", "latency", "type", "directed", "weight"});
  const DeviceId from = read_end(value.at("from"), builder);
  const DeviceId to = read_end(value.at("to"), builder);
  const Bandwidth bandwidth = value.at("bandwidth").bandwidth();
  std::optional<Time> latency;
  if (const auto given = value.find("latency")) latency = given->time();
  const auto devices = builder.devices();
  const auto named = value.find("type");
  const LinkType type = named ? named_value<LinkType>(*named, kLinkTypes)
                              : usual_type(devices[from.index()].kind, devices[to.index()].kind);
  const auto directed = value.find("directed");
  const LinkId link = at_place(value, [&] {
    if (directed && directed->boolean()) return builder.add_directed_link(from, to, bandwidth, type, latency);
    return builder.add_link(from, to, bandwidth, type, latency);
  });
  if (const auto weight = value.find("weight"))
    builder.set_weight(link, static_cast<std::uint16_t>(weight->integer(1, kMaxWeight)));
}

/// Hosts whose GPUs one NVLink switch joins that stands in no host (racks of trays) are one NVLink domain,
/// which has the number of its first host.
void join_domains(TopologyBuilder& builder) {
  std::vector<std::uint32_t> joined(
      builder.hosts().size());  // by host: itself, or an earlier host of its domain
  std::iota(joined.begin(), joined.end(), 0U);
  const auto first_of = [&](std::uint32_t host) {
    while (joined[host] != host) host = joined[host] = joined[joined[host]];
    return host;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> host_at;  // by switch: one of the hosts at it
  for (const Link link : builder.links()) {
    const Device from = builder.devices()[link.from.index()], to = builder.devices()[link.to.index()];
    if (from.kind != DeviceKind::kGpu || to.kind != DeviceKind::kNvswitch || to.host != kNoHost) continue;
    const std::uint32_t here = first_of(from.host);
    const std::uint32_t there = first_of(host_at.try_emplace(link.to.value(), here).first->second);
    joined[std::max(here, there)] = std::min(here, there);
  }
  for (std::uint32_t host = 0; host < joined.size(); ++host) builder.set_domain(host, first_of(host));
}

}  // namespace

void read_long_form(const JsonValue& root, TopologyBuilder& builder) {
  const auto devices = root.at("devices").items();
  if (std::ssize(devices) > kMaxDevices) {
    root.at("devices").fail_because(fmt::format("more than the limit of {} devices", kMaxDevices));
  }
  const auto links = root.at("links").items();
  builder.reserve(devices.size(), 2 * links.size());
  DeviceReader reader(builder);
  for (const JsonValue& device : devices) reader.read(device);
  for (const JsonValue& link : links) read_link(link, builder);
  join_domains(builder);
}

}  // namespace busbar
