// Any host type, from its wiring.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/base/error.h"
#include "topologies/host_type.h"

namespace busbar {
namespace {

using Devices = std::vector<DeviceId>;

/// A model of the same name that the topology file describes wins over the table's.
std::int32_t use_model(TopologyBuilder& builder, std::string_view name) {
  const auto used = builder.gpu_models();
  for (std::size_t m = 0; m < used.size(); ++m) {
    if (used[m].name == name) return static_cast<std::int32_t>(m);
  }
  for (const GpuModel& model : gpu_models()) {
    if (model.name == name) return builder.add_gpu_model(model);
  }
  const bool is_known = false;  // the reader checks models that a file names, a test those of the table
  BUSBAR_CHECK(is_known);
  return -1;
}

/// `children`, the first of `full` that the host could have, and what they hang under.
struct Level {
  const Devices& children;
  std::int64_t full;
  const Devices& parents;
};

class HostBuilder {
 public:
  HostBuilder(TopologyBuilder& builder, const HostType& type, const HostRequest& request)
      : builder_(builder),
        type_(type),
        w_(type.wiring),
        request_(request),
        host_(builder.add_host(request.name, std::string(type.name))) {
    builder.set_cpu(host_, w_.cpu);
    if (!type.gpu_model.empty()) return;
    const PcieCard card = pcie_card(request.gpu);
    w_.pcie = card.pcie;
    if (w_.uplink) w_.uplink = card.pcie;
    w_.peer_access = request.peer_access.value_or(card.peer_access);
  }

  void build() {
    const std::string_view model = request_.gpu.empty() ? type_.gpu_model : std::string_view(request_.gpu);
    gpus_ = add("gpu", request_.gpus.value_or(type_.gpus), DeviceKind::kGpu, use_model(builder_, model));
    nics_ = add("nic", request_.nics.value_or(type_.nics), DeviceKind::kNic);
    link_gpus();
    switches_ = add("pcie", w_.switches, DeviceKind::kPcieSwitch);
    cpus_ = add("cpu", w_.cpus, DeviceKind::kCpu);
    link_tree();
    if (w_.c2c) hang({gpus_, type_.gpus, cpus_}, *w_.c2c, LinkType::kC2c);
    for (std::size_t a = 0; a < cpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < cpus_.size(); ++b)
        builder_.add_link(cpus_[a], cpus_[b], w_.socket, LinkType::kUpi);
    }
  }

 private:
  Devices add(std::string_view part, std::int64_t count, DeviceKind kind, std::int32_t model = -1) {
    Devices added;
    for (std::int64_t i = 0; i < count; ++i)
      added.push_back(
          builder_.add_device(fmt::format("{}.{}{}", request_.name, part, i), kind, host_, model));
    return added;
  }

  void link_gpus() {
    if (w_.nvswitch && w_.domain_hosts == 1) {
      const DeviceId nvs = builder_.add_device(request_.name + ".nvs", DeviceKind::kNvswitch, host_);
      for (const DeviceId gpu : gpus_) builder_.add_link(gpu, nvs, *w_.nvswitch, LinkType::kNvlink);
    }
    for (const GpuPair& pair : w_.mesh) {
      const auto a = static_cast<std::size_t>(pair.a);
      const auto b = static_cast<std::size_t>(pair.b);
      if (std::max(a, b) >= gpus_.size()) continue;
      builder_.add_link(gpus_[a], gpus_[b], w_.mesh_link * static_cast<double>(pair.links), w_.mesh_type);
    }
  }

  void link_tree() {
    const bool nics_at_cpus = w_.nics_at == NicParent::kCpu || switches_.empty();
    if (switches_.empty()) {
      if (!w_.c2c) hang({gpus_, type_.gpus, cpus_}, w_.pcie, LinkType::kPcie);
    } else if (w_.peer_access) {
      hang({gpus_, type_.gpus, switches_}, w_.pcie, LinkType::kPcie);
    } else {
      return split_tree();
    }
    hang({nics_, whole_nics(), nics_at_cpus ? cpus_ : switches_}, w_.pcie, LinkType::kPcie);
    if (w_.uplink) hang({switches_, w_.switches, cpus_}, *w_.uplink, LinkType::kPcie);
  }

  /// Without peer access whatever leaves a GPU or NIC has to reach the CPU's memory before it turns round, so
  /// no path may turn at a PCIe switch. Each switch is therefore two devices, one per direction: up
  /// ("h0.pcie0") and down ("h0.pcie0.down"). A link's two directions are resources of their own anyway, so
  /// the shared rates stay what they are.
  void split_tree() {
    Devices down;
    for (const DeviceId up : switches_) {
      const std::string id = builder_.name_of(up) + ".down";
      down.push_back(builder_.add_device(id, DeviceKind::kPcieSwitch, host_));
    }
    const auto both = [&](const Devices& children, std::int64_t full, Bandwidth rate) {
      for (std::size_t i = 0; i < children.size(); ++i) {
        const std::size_t parent = parent_of(i, full, switches_.size());
        builder_.add_directed_link(children[i], switches_[parent], rate, LinkType::kPcie);
        builder_.add_directed_link(down[parent], children[i], rate, LinkType::kPcie);
      }
    };
    both(gpus_, type_.gpus, w_.pcie);
    both(nics_, whole_nics(), w_.pcie);
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const DeviceId cpu = cpus_[parent_of(i, w_.switches, cpus_.size())];
      builder_.add_directed_link(switches_[i], cpu, *w_.uplink, LinkType::kPcie);
      builder_.add_directed_link(cpu, down[i], *w_.uplink, LinkType::kPcie);
    }
  }

  /// NICs that the whole host would have at the asked-for number per GPU: fewer NICs than the type has are
  /// spread over the switches of the GPUs that are used.
  [[nodiscard]] std::int64_t whole_nics() const {
    if (!request_.nics || gpus_.empty()) return type_.nics;
    const auto nics = static_cast<std::int64_t>(nics_.size());
    return std::max(nics, nics * type_.gpus / static_cast<std::int64_t>(gpus_.size()));
  }

  static std::size_t parent_of(std::size_t child, std::int64_t children, std::size_t parents) {
    return child * parents / static_cast<std::size_t>(children);
  }

  void hang(const Level& level, Bandwidth rate, LinkType type) {
    for (std::size_t i = 0; i < level.children.size(); ++i) {
      const std::size_t parent = parent_of(i, level.full, level.parents.size());
      builder_.add_link(level.children[i], level.parents[parent], rate, type);
    }
  }

  TopologyBuilder& builder_;
  const HostType& type_;
  HostWiring w_;
  const HostRequest& request_;
  std::uint32_t host_;
  Devices gpus_, nics_, switches_, cpus_;
};

}  // namespace

void add_host(TopologyBuilder& builder, const HostType& type, const HostRequest& request) {
  HostBuilder(builder, type, request).build();
}

}  // namespace busbar
