#include "topologies/hosts/hgx_host.h"

#include <fmt/format.h>

#include <vector>

#include "sim/base/error.h"
#include "sim/base/named_table.h"

namespace busbar {
namespace {

constexpr std::int64_t kCpus = 2;

const GpuModel& model_called(std::string_view name) {
  for (const GpuModel& model : gpu_models()) {
    if (model.name == name) return model;
  }
  BUSBAR_CHECK(!"a host type names a GPU model of the table");
  return gpu_models().front();
}

/// A model of the same name that the topology file describes wins over the table's.
std::int32_t use_model(TopologyBuilder& builder, std::string_view name) {
  const auto used = builder.gpu_models();
  for (std::size_t m = 0; m < used.size(); ++m) {
    if (used[m].name == name) return static_cast<std::int32_t>(m);
  }
  return builder.add_gpu_model(model_called(name));
}

}  // namespace

void add_hgx_host(TopologyBuilder& builder, const HostRequest& request, const HgxShape& shape) {
  const std::uint32_t host = builder.add_host(request.name, std::string(shape.type));
  const std::int32_t model = use_model(builder, shape.gpu_model);
  const auto add = [&](std::string_view part, std::int64_t count, DeviceKind kind,
                       std::int32_t gpu_model = -1) {
    std::vector<DeviceId> added;
    for (std::int64_t i = 0; i < count; ++i) {
      added.push_back(
          builder.add_device(fmt::format("{}.{}{}", request.name, part, i), kind, host, gpu_model));
    }
    return added;
  };
  const auto gpus = add("gpu", request.gpus.value_or(shape.gpus), DeviceKind::kGpu, model);
  const auto nics = add("nic", request.nics.value_or(shape.nics), DeviceKind::kNic);
  const DeviceId nvs = builder.add_device(request.name + ".nvs", DeviceKind::kNvswitch, host);
  const auto switches = add("pcie", shape.pcie_switches, DeviceKind::kPcieSwitch);
  const auto cpus = add("cpu", kCpus, DeviceKind::kCpu);

  for (const DeviceId gpu : gpus) builder.add_link(gpu, nvs, shape.nvlink, LinkType::kNvlink);
  // Child number i of n hangs under parent i / (n / parents).
  const auto hang = [&](std::span<const DeviceId> children, std::int64_t full,
                        std::span<const DeviceId> parents) {
    const std::size_t each = static_cast<std::size_t>(full) / parents.size();
    for (std::size_t i = 0; i < children.size(); ++i) {
      builder.add_link(children[i], parents[i / each], shape.pcie, LinkType::kPcie);
    }
  };
  hang(gpus, shape.gpus, switches);
  hang(nics, shape.nics, switches);
  hang(switches, shape.pcie_switches, cpus);
  builder.add_link(cpus[0], cpus[1], shape.socket, LinkType::kUpi);
}

}  // namespace busbar
