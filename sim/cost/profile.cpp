#include "sim/cost/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/cost/kernel_models.h"
#include "sim/cost/parameter_names.h"
#include "sim/cost/profile_io.h"

namespace busbar {

namespace {

constexpr std::string_view kStandIn = "hopper";  // for GPUs that no generation names

std::string by_protocol(const ByProtocol& v) { return fmt::format("{:.3g} us", fmt::join(v, " / ")); }

// What kernels reach: those of shapes by the GPU type, the rest by the generation.
std::vector<ProfileParameter> kernel_parameters(const Generation& g, const KernelModel& k) {
  const std::string origin = k.source.starts_with("fitted") ? "fitted" : "default";
  const std::string source{k.source};
  const TileRates& rates = k.matmul.rates;
  return {{"matmul ceiling, sustained, fp8 ceiling",
           fmt::format("{:.3f}, {:.3f}, {:.3f}", rates.ceiling, rates.ceiling / (1 + rates.throttle),
                       k.fp8.rates.ceiling),
           origin, source},
          {"matmul floor, HBM share", fmt::format("{:.3g} us, {:.3f}", k.matmul.floor_us, k.matmul.memory),
           origin, source},
          {"attention ceiling, floor",
           fmt::format("{:.3f}, {:.3g} us", k.attention.ceiling, k.attention.floor_us), origin, source},
          {"attention backward, of forward", fmt::format("{:.3f}", k.attention.backward), "default",
           "FlashAttention-3 paper, figures 5 and 6"},
          {"memory_efficiency", fmt::format("{:.3f}", g.memory_efficiency), "default", "assumed"},
          {"step_share", fmt::format("{:.3f}", g.step_share), "fitted",
           "one step of IBM's fms-fsdp README per GPU generation"}};
}

// Every number of the parts that a calibration touched and that this generation may use, with its own origin.
std::vector<ProfileParameter> calibrated_parameters(const Profile& given, const Generation& g) {
  Profile p = given;
  std::vector<ParameterRef> numbers = parameters(p);
  for (ParameterRef& other : other_parameters(p)) numbers.push_back(std::move(other));
  std::vector<ProfileParameter> list;
  for (const ParameterRef& number : numbers) {
    const std::string part = part_of_parameter(number.name);
    const bool of_a_generation = std::any_of(p.generations.begin(), p.generations.end(), [&](const Generation& x) {
      return part == x.name || part == "kernels." + std::string(x.name);
    });
    if (of_a_generation && part != g.name && part != "kernels." + std::string(g.name)) continue;
    const ParameterLabel label = label_of(number.name);
    ProfileParameter line{label.name, value_for_people(*number.value, label.unit), "default",
                          "docs/model.md, Constants"};
    for (const CalibratedValue& v : p.calibration.values)
      if (v.name == number.name && v.origin != "default") {
        line.origin = v.origin;
        line.source = fmt::format("{} rows of profile {}, {} to {}", v.rows, p.name,
                                  value_for_people(v.low, label.unit), value_for_people(v.high, label.unit));
      }
    list.push_back(std::move(line));
  }
  return list;
}

}  // namespace

GenerationMatch generation_of(const Profile& profile, std::string_view gpu_model) {
  const Generation* stand_in = &profile.generations.back();
  for (const Generation& g : profile.generations) {
    if (g.name == kStandIn) stand_in = &g;
    for (const std::string_view prefix : g.gpus)
      if (gpu_model.starts_with(prefix)) return {&g, true};
  }
  return {stand_in, false};
}

const HostTransport& host_transport(Transport transport, const Profile& profile,
                                    const Generation& generation) {
  switch (transport) {
    case Transport::kNvlink:
    case Transport::kXgmi:
    case Transport::kC2c:
      return generation.links;
    case Transport::kPciePeer:
      return profile.pcie_peer;
    case Transport::kHostMemory:
      return profile.host_memory;
    case Transport::kRdma:
    case Transport::kSlingshot:
    case Transport::kTcp:
    case Transport::kEfa:
      break;
  }
  BUSBAR_CHECK(false);
}

std::vector<ProfileParameter> parameters_of(const Profile& p, const Generation& g,
                                            std::string_view gpu_model) {
  const std::string fit = "published nccl-tests tables, see docs/model.md";
  if (p.ideal)
    return {{"efficiency", "1 (all)", "default", "ideal"}, {"latency", "the links' own", "default", "ideal"}};
  std::vector<ProfileParameter> list = kernel_parameters(g, kernel_model_of(gpu_model));
  if (!p.calibration.empty()) {
    for (ProfileParameter& line : calibrated_parameters(p, g)) list.push_back(std::move(line));
    return list;
  }
  const NetworkTransport& rdma = p.network(Transport::kRdma);
  const std::vector<ProfileParameter> wire = {
      {"base_latency LL / LL128 / Simple", by_protocol(g.base_us), "fitted", fit},
      {"hop_latency of GPU links LL / LL128 / Simple", by_protocol(g.links.hop_us), "fitted", fit},
      {"GPU_link_efficiency", fmt::format("{:.3f}", g.links.efficiency), "fitted", fit},
      {"nvls_base_latency", fmt::format("{:.3g} us", g.nvls.base_us), "fitted", fit},
      {"nvls_efficiency", fmt::format("{:.3f}", g.nvls.efficiency), "fitted", fit},
      {"rdma_ring_hop_latency LL / LL128 / Simple", by_protocol(rdma.ring_hop_us), "fitted", fit},
      {"rdma_tree_hop_latency LL / LL128 / Simple", by_protocol(rdma.tree_hop_us), "fitted", fit},
      {"rdma_base_latency", fmt::format("{:.3g} us", rdma.base_us), "fitted", fit},
      {"rdma_efficiency", fmt::format("{:.3f}", rdma.efficiency), "fitted", fit},
      {"half_rate_chunk in a host / between hosts",
       fmt::format("{:.3g} KiB / {:.3g} KiB", g.links.half_kib, rdma.half_kib), "fitted", fit},
      {"grouped_sends_base_latency, half-rate time",
       fmt::format("{:.3g} us, {:.3g} us", g.sends.base_us, g.sends.half_us), "fitted", fit},
      {"isolated_latency", fmt::format("{:.3g} us", p.isolated_us), "default",
       "size-0 rows of nccl-tests logs (deepseek-ai/DeepEP issue 303)"},
      {"launch_latency", fmt::format("{:.3g} us", g.launch_us), "default",
       "floors of published runs with several GPUs per process: 3 to 6 us"},
      {"sms_per_channel", fmt::format("{}", p.sms_per_channel), "default",
       "NCCL: one thread block per channel"}};
  list.insert(list.end(), wire.begin(), wire.end());
  return list;
}

}  // namespace busbar
