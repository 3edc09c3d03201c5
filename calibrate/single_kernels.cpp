#include "calibrate/single_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/base/error.h"
#include "sim/cost/cost_model.h"
#include "sim/result/error_figures.h"

namespace busbar {

namespace {

constexpr double kNormal95 = 1.959964;
constexpr double kMedianOverMean = 1.2533;  // its standard error for a normal distribution, sqrt(pi / 2)

const GpuModel* model_of(const Topology& topology, std::uint32_t rank) {
  if (rank >= topology.ranks().size()) return nullptr;
  const Device& gpu = topology.device(topology.ranks()[rank]);
  return gpu.gpu_model < 0 ? nullptr : &topology.gpu_models()[static_cast<std::size_t>(gpu.gpu_model)];
}

KernelWork work_of(const MeasuredKernel& kernel) {
  KernelWork work{.type = kernel.type};
  if (kernel.kind == MeasuredKernelKind::kMatmul) {
    const auto [m, n, k] = kernel.shape;
    work.matmul = MatmulShape{.m = m, .n = n, .k = k};
    work.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  } else {
    work.bytes = 2 * kernel.bytes.as_double();
  }
  return work;
}

// What one kind of kernel says of one number.
struct Samples {
  std::string name;
  double* value = nullptr;
  std::vector<double> found;
};

void take(Profile& profile, Samples& samples) {
  if (samples.found.empty()) return;
  const double middle = quantile(samples.found, 0.5);
  const auto n = static_cast<double>(samples.found.size());
  double squares = 0;
  for (const double v : samples.found) squares += (v - middle) * (v - middle);
  const double half = n > 1 ? kNormal95 * kMedianOverMean * std::sqrt(squares / (n - 1) / n) : 0;
  *samples.value = middle;
  profile.calibration.values.push_back({.name = samples.name,
                                        .low = std::max(middle / 10, middle - half),
                                        .high = middle + half,
                                        .origin = "measured",
                                        .rows = static_cast<std::int64_t>(samples.found.size())});
}

Generation& generation_in(Profile& profile, const Topology& topology) {
  const GpuModel* model = model_of(topology, 0);
  const Generation* found = generation_of(profile, model == nullptr ? "" : model->name).generation;
  for (Generation& g : profile.generations)
    if (&g == found) return g;
  BUSBAR_CHECK(false);
}

}  // namespace

std::optional<double> slowness_of(const MeasuredKernel& kernel, const Topology& topology,
                                  const Profile& profile) {
  const GpuModel* model = model_of(topology, kernel.rank.value_or(0));
  if (model == nullptr || kernel.kind == MeasuredKernelKind::kLaunch) return std::nullopt;
  if (kernel.kind == MeasuredKernelKind::kMatmul && !model->peak.contains(kernel.type)) return std::nullopt;
  Generation alone = *generation_of(profile, model->name).generation;
  alone.step_share = 1;
  const GpuSpeed gpu{.model = model->name,
                     .peak = model->peak,
                     .memory_bandwidth = model->memory_bandwidth,
                     .sms = model->sms};
  const KernelDemand demand = kernel_demand(work_of(kernel), gpu, profile, alone);
  return kernel.time.seconds() / std::max(demand.sm_s, demand.memory_s);
}

void calibrate_kernels(Profile& profile, const Topology& topology, std::span<const MeasuredKernel> kernels,
                       std::vector<std::string>& notes) {
  if (kernels.empty()) return;
  Generation& g = generation_in(profile, topology);
  const std::string part(g.name);
  const double copies = g.memory_efficiency, matmuls = g.matmul_share;
  Samples copy{"kernels." + part + ".memory_efficiency", &g.memory_efficiency, {}};
  Samples matmul{"kernels." + part + ".matmul_share", &g.matmul_share, {}};
  Samples launch{part + ".launch_us", &g.launch_us, {}};
  for (const MeasuredKernel& kernel : kernels) {
    if (kernel.kind == MeasuredKernelKind::kLaunch) {
      launch.found.push_back(kernel.time.microseconds());
    } else if (const auto slowness = slowness_of(kernel, topology, profile)) {
      if (kernel.kind == MeasuredKernelKind::kCopy)
        copy.found.push_back(copies / *slowness);
      else
        matmul.found.push_back(matmuls / *slowness);
    } else {
      notes.push_back(fmt::format("{}: the GPU's speed is not known", kernel.where));
    }
  }
  for (Samples* samples : {&copy, &matmul, &launch}) take(profile, *samples);
}

}  // namespace busbar
