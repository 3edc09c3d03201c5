#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/kernel_time.h"

namespace busbar {

namespace {

double peak_of(const GpuSpeed& gpu, DataType type) {
  const auto peak = gpu.peak.find(type);
  if (peak == gpu.peak.end())
    throw Error(
        {.message = fmt::format("the GPU has no {} peak, which a kernel of this step needs", name_of(type))});
  return peak->second.flops();
}

// Of FLOPs and bytes alone.
KernelDemand plain_demand(const KernelWork& work, double flops, const GpuSpeed& gpu, const Profile& profile,
                          const Generation& g) {
  KernelDemand demand;
  const double efficiency = profile.ideal ? 1 : plain_efficiency(work.type, kernel_model_of(gpu.model));
  if (flops > 0) demand.sm_s = work.flops / (flops * efficiency * g.step_share * g.own_share);
  if (work.bytes > 0)
    demand.memory_s =
        work.bytes / (gpu.memory_bandwidth.Bps() * g.memory_efficiency * g.step_share * g.own_share);
  return demand;
}

}  // namespace

KernelDemand kernel_demand(const KernelWork& work, const GpuSpeed& gpu, const Profile& profile,
                           const Generation& g) {
  if (work.duration) return {.sm_s = work.duration->seconds(), .memory_s = 0};
  const double flops = work.flops > 0 ? peak_of(gpu, work.type) : 0;
  if (profile.ideal || flops == 0 || (!work.matmul && !work.attention))
    return plain_demand(work, flops, gpu, profile, g);
  const KernelChip chip{.flops = flops,
                        .memory_Bps = gpu.memory_bandwidth.Bps(),
                        .sms = static_cast<double>(std::max<std::int64_t>(1, gpu.sms))};
  const KernelModel& model = kernel_model_of(gpu.model);
  KernelDemand demand = work.matmul ? matmul_demand(*work.matmul, work.type, chip, model)
                                    : attention_demand(*work.attention, work.type, chip, model);
  const double share =
      g.step_share * g.own_share * work.share * (work.attention ? g.attention_share : g.matmul_share);
  const double gain = work.matmul && work.type == DataType::kFp8 ? model.fp8.in_step : 1;
  demand.sm_s /= share * gain;
  demand.memory_s /= share;
  return demand;
}

}  // namespace busbar
