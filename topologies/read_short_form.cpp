// Short form: host types x a fabric family.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "topologies/fabric.h"
#include "topologies/host_type.h"
#include "topologies/topology_readers.h"

namespace busbar {
namespace {

// Fifth-generation NVLink switches join at most 576 GPUs (NVIDIA, NVLink and NVLink Switch product page).
constexpr std::int64_t kMaxDomainHosts = 576 / 4;
// Of the usual power limit; further down what does not follow the clock outweighs what does.
constexpr double kLeastPower = 0.4;

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
  std::int64_t domain_hosts = 1;
};

/// "H100-SXM5" of "H100-SXM5-80GB": boards with other memory fit in the same socket.
std::string_view socket_of(std::string_view gpu_model) { return gpu_model.substr(0, gpu_model.rfind('-')); }

/// The model of a PCIe box's cards, or of other boards in the type's sockets: one of the table or of the
/// file's own "gpus".
void read_gpu(const JsonValue& value, const TopologyBuilder& builder, HostGroup& group) {
  const auto gpu = value.find("gpu");
  const std::string_view usual = group.type->gpu_model;
  if (!gpu && usual.empty()) {
    value.fail_because(
        fmt::format("a {} needs \"gpu\": the model of its cards (--list gpus)", group.type->name));
  }
  if (!gpu) return;
  group.request.gpu = gpu->string();
  if (!usual.empty() && socket_of(group.request.gpu) != socket_of(usual))
    gpu->fail_because(fmt::format("a {} has {} GPUs", group.type->name, usual));
  std::vector<std::string_view> known;
  for (const GpuModel& model : builder.gpu_models()) known.push_back(model.name);
  for (const GpuModel& model : gpu_models()) known.push_back(model.name);
  if (std::find(known.begin(), known.end(), group.request.gpu) != known.end()) return;
  gpu->fail("a GPU model of the table (--list gpus) or of the file's \"gpus\"",
            did_you_mean(group.request.gpu, known));
}

const GpuModel& model_called(std::string_view name, const TopologyBuilder& builder) {
  for (const GpuModel& model : builder.gpu_models())
    if (model.name == name) return model;
  const GpuModel* model = find_row(gpu_models(), name);
  BUSBAR_CHECK(model != nullptr);  // read_gpu() has checked it
  return *model;
}

/// "gpu_power": the same GPU at a lower limit. Power is in proportion to the clock and to the square of the
/// voltage, which falls with the clock: the clock goes with the cube root. NVIDIA's datasheets agree: the
/// H100 SXM5 (700 W, 989 TFLOP/s) and the H100 NVL (400 W, 835 TFLOP/s; the cube root gives 821).
void read_power(const JsonValue& value, TopologyBuilder& builder, HostGroup& group) {
  const auto power = value.find("gpu_power");
  if (!power) return;
  const std::string name = group.request.gpu.empty() ? std::string(group.type->gpu_model) : group.request.gpu;
  GpuModel model = model_called(name, builder);
  const double watts = power->watts();
  if (model.watts == 0) power->fail_because(fmt::format("the power limit of a {} is not known", name));
  if (watts < kLeastPower * model.watts || watts > model.watts)
    power->fail(fmt::format("a limit from {:.0f} W to the {:.0f} W of a {}", kLeastPower * model.watts,
                            model.watts, name));
  for (auto& [type, peak] : model.peak)
    peak = FlopRate::flops_per_second(peak.flops() * std::cbrt(watts / model.watts));
  model.name = fmt::format("{} at {:.0f} W", name, watts);
  model.watts = watts;
  group.request.gpu = model.name;
  builder.add_gpu_model(std::move(model));
}

/// "peer_access": only a PCIe switch can be kept from turning traffic round.
void read_peer_access(const JsonValue& value, HostGroup& group) {
  const auto peer_access = value.find("peer_access");
  if (!peer_access) return;
  group.request.peer_access = peer_access->boolean();
  if (group.type->gpu_model.empty() || *group.request.peer_access) return;
  peer_access->fail_because(
      fmt::format("the GPUs of a {} reach each other without PCIe; only pcie-* hosts can lack peer access",
                  group.type->name));
}

void read_domain(const JsonValue& value, HostGroup& group) {
  group.domain_hosts = group.type->wiring.domain_hosts;
  const auto domain = value.find("nvlink_domain");
  if (!domain) return;
  if (group.domain_hosts == 1) {
    domain->fail_because(
        fmt::format("the NVLink of a {} ends at the host; only trays of a rack (gb200-nvl72, "
                    "gb300-nvl72) share a domain",
                    group.type->name));
  }
  group.domain_hosts = domain->integer(1, kMaxDomainHosts);
}

HostGroup read_host_group(const JsonValue& value, TopologyBuilder& builder) {
  value.only_keys(
      {"count", "type", "nic", "nics", "gpus", "gpu", "peer_access", "nvlink_domain", "gpu_power"});
  HostGroup group;
  group.count = value.at("count").integer(1, kMaxDevices);
  group.type = &named_row(value.at("type"), host_types());
  if (const auto nic = value.find("nic")) group.request.nic = nic->bandwidth();
  if (const auto nics = value.find("nics")) group.request.nics = nics->integer(1, group.type->nics);
  if (const auto gpus = value.find("gpus")) group.request.gpus = gpus->integer(1, group.type->gpus);
  read_gpu(value, builder, group);
  read_power(value, builder, group);
  read_peer_access(value, group);
  read_domain(value, group);
  return group;
}

/// Builds hosts, and lists their NICs for the fabric.
class HostsReader {
 public:
  HostsReader(TopologyBuilder& builder, std::optional<Bandwidth> default_nic)
      : builder_(builder), default_nic_(default_nic) {}

  void read(const JsonValue& value) {
    const HostGroup group = read_host_group(value, builder_);
    open_ = 0;
    wires_.push_back(group.type->wire);
    const TopologyBuilder::HostParts first = add_host(group);
    const std::size_t devices = builder_.devices().size() - first.first_device;
    reserve_rest(value, group, devices, builder_.links().size() - first.first_link);
    for (std::int64_t i = 1; i < group.count; ++i) copy_host(group, first);
  }

  FabricRequest request() && { return std::move(fabric_); }
  /// What the types of the hosts are usually on, one per group.
  [[nodiscard]] std::span<const LinkType> wires() const { return wires_; }

 private:
  [[nodiscard]] std::string next_name() const { return fmt::format("h{}", builder_.hosts().size()); }

  TopologyBuilder::HostParts add_host(const HostGroup& group) {
    HostRequest request = group.request;
    request.name = next_name();
    TopologyBuilder::HostParts parts{.host = static_cast<std::uint32_t>(builder_.hosts().size()),
                                     .first_device = builder_.devices().size(),
                                     .first_link = builder_.links().size()};
    busbar::add_host(builder_, *group.type, request);
    parts.links = builder_.links().size() - parts.first_link;
    auto& nics = fabric_.nics.emplace_back();
    for (std::size_t d = parts.first_device; d < builder_.devices().size(); ++d) {
      if (builder_.devices()[d].kind == DeviceKind::kNic) nics.push_back(DeviceId::from_index(d));
    }
    const Bandwidth fallback = default_nic_.value_or(group.type->nic);
    fabric_.rates.emplace_back(nics.size(), request.nic.value_or(fallback));
    if (group.type->wiring.domain_hosts > 1) join_domain(group);
    return parts;
  }

  void copy_host(const HostGroup& group, const TopologyBuilder::HostParts& first) {
    const auto shift = static_cast<std::uint32_t>(builder_.devices().size() - first.first_device);
    builder_.copy_host(first, next_name());
    std::vector<DeviceId> nics = fabric_.nics[first.host];
    for (DeviceId& nic : nics) nic = DeviceId(nic.value() + shift);
    fabric_.nics.push_back(std::move(nics));
    fabric_.rates.push_back(fabric_.rates[first.host]);
    if (group.type->wiring.domain_hosts > 1) join_domain(group);
  }

  /// Links the GPUs of the last host to the NVSwitches of its domain, "d0.nvs".., which belong to no host.
  /// A group of hosts starts a domain of its own.
  void join_domain(const HostGroup& group) {
    const auto host = static_cast<std::uint32_t>(builder_.hosts().size() - 1);
    if (open_ == 0) {
      open_ = group.domain_hosts;
      domain_ = host;
      switch_ = builder_.add_device(fmt::format("d{}.nvs", domains_++), DeviceKind::kNvswitch);
    }
    --open_;
    builder_.set_domain(host, domain_);
    const std::vector<DeviceId> gpus = builder_.hosts()[host].gpus;
    for (const DeviceId gpu : gpus)
      builder_.add_link(gpu, switch_, *group.type->wiring.nvswitch, LinkType::kNvlink);
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
    // Beside the links of each host, its NICs' cables in both directions, and what joins the switches.
    const std::size_t nics = fabric_.nics.back().size();
    builder_.reserve(rest * devices, rest * (links + 2 * nics) + rest * nics / 4);
    fabric_.nics.reserve(fabric_.nics.size() + rest);
    fabric_.rates.reserve(fabric_.rates.size() + rest);
  }

  TopologyBuilder& builder_;
  std::optional<Bandwidth> default_nic_;
  FabricRequest fabric_;
  std::vector<LinkType> wires_;
  std::int64_t open_ = 0;  // places left in the last domain
  std::int64_t domains_ = 0;
  std::uint32_t domain_ = 0;  // the last one's first host
  DeviceId switch_;           // and its NVSwitches
};

/// The wire that all host types default to; where they differ, the file has to say which.
LinkType default_wire(const JsonValue& fabric, std::span<const LinkType> wires) {
  for (const LinkType wire : wires) {
    if (wire == wires.front() || fabric.find("wire")) continue;
    fabric.fail_because(fmt::format("the host types are on different networks ({} and {}); state \"wire\"",
                                    name_of(wires.front()), name_of(wire)));
  }
  return wires.front();
}

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
  const std::vector<LinkType> wires(reader.wires().begin(), reader.wires().end());
  FabricRequest request = std::move(reader).request();
  if (request.nics.empty()) hosts.fail_because("no hosts are listed");
  request.wire = default_wire(fabric, wires);
  read_fabric(fabric, request);
  builder.set_in_network_reduction(request.in_network_reduction);
  at_place(fabric, [&] { family.build(builder, request); });
}

}  // namespace busbar
