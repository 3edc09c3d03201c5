#include "calibrate/single_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/base/error.h"
#include "sim/base/statistics.h"
#include "sim/base/unit_text.h"
#include "sim/cost/cost_model.h"

namespace busbar {

namespace {

constexpr double kNormal95 = 1.959964;
// Clocks above the datasheet's and rounded figures make a few per cent; copies never reach it.
constexpr double kMostOfDatasheet = 1.05;
constexpr Time kShortestLaunch = Time::picoseconds(100'000),
               kLongestLaunch = Time::picoseconds(10'000'000'000);
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
  const double middle = median_of(samples.found);
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

// Of the GPU that was measured; of the first one where the source names none.
Generation& generation_in(Profile& profile, const Topology& topology, const MeasuredKernel& kernel) {
  const GpuModel* model = model_of(topology, kernel.rank.value_or(0));
  const Generation* found = generation_of(profile, model == nullptr ? "" : model->name).generation;
  for (Generation& g : profile.generations)
    if (&g == found) return g;
  BUSBAR_CHECK(false);
}

double rate_of(const MeasuredKernel& kernel) {
  const KernelWork work = work_of(kernel);
  return (kernel.kind == MeasuredKernelKind::kMatmul ? work.flops : work.bytes) / kernel.time.seconds();
}

double datasheet_rate(const MeasuredKernel& kernel, const Topology& topology) {
  const GpuModel* model = model_of(topology, kernel.rank.value_or(0));
  if (model == nullptr) return 0;
  if (kernel.kind == MeasuredKernelKind::kCopy) return model->memory_bandwidth.Bps();
  const auto peak = model->peak.find(kernel.type);
  return peak == model->peak.end() ? 0 : peak->second.flops();
}

std::optional<std::string> doubt_of(const MeasuredKernel& kernel, const Topology& topology) {
  if (kernel.rank && *kernel.rank >= topology.ranks().size())
    return fmt::format("the topology has no rank {}", *kernel.rank);
  if (kernel.kind == MeasuredKernelKind::kLaunch) {
    if (kernel.time >= kShortestLaunch && kernel.time <= kLongestLaunch) return std::nullopt;
    return fmt::format("a launch of {} is none ({} to {})", to_text(kernel.time), to_text(kShortestLaunch),
                       to_text(kLongestLaunch));
  }
  const double share = faster_than_datasheet(kernel, topology);
  if (share <= 1) return std::nullopt;
  return fmt::format("{:.3g} times what the datasheet allows: wrong units, or another GPU", share);
}

// What one generation's kernels say.
struct GenerationSamples {
  explicit GenerationSamples(Generation& g)
      : copy{"kernels." + std::string(g.name) + ".memory_efficiency", &g.memory_efficiency, {}},
        matmul{"kernels." + std::string(g.name) + ".matmul_share", &g.matmul_share, {}},
        launch{std::string(g.name) + ".launch_us", &g.launch_us, {}} {}
  Samples copy, matmul, launch;
};

void add(GenerationSamples& samples, const MeasuredKernel& kernel, double slowness) {
  if (kernel.kind == MeasuredKernelKind::kCopy)
    samples.copy.found.push_back(*samples.copy.value / slowness);
  else
    samples.matmul.found.push_back(*samples.matmul.value / slowness);
}

}  // namespace

double faster_than_datasheet(const MeasuredKernel& kernel, const Topology& topology) {
  const double most = kMostOfDatasheet * datasheet_rate(kernel, topology);
  return most > 0 && kernel.time > Time::zero() ? rate_of(kernel) / most : 0;
}

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
  std::map<const Generation*, GenerationSamples> by_generation;
  for (const MeasuredKernel& kernel : kernels) {
    if (const auto doubt = doubt_of(kernel, topology)) {
      notes.push_back(kernel.where + ": left out: " + *doubt);
      continue;
    }
    Generation& g = generation_in(profile, topology, kernel);
    GenerationSamples& samples = by_generation.try_emplace(&g, g).first->second;
    if (kernel.kind == MeasuredKernelKind::kLaunch)
      samples.launch.found.push_back(kernel.time.microseconds());
    else if (const auto slowness = slowness_of(kernel, topology, profile))
      add(samples, kernel, *slowness);
    else
      notes.push_back(fmt::format("{}: the GPU's speed is not known", kernel.where));
  }
  for (const Generation& g : profile.generations)
    if (const auto found = by_generation.find(&g); found != by_generation.end())
      for (Samples* samples : {&found->second.copy, &found->second.matmul, &found->second.launch})
        take(profile, *samples);
}

}  // namespace busbar
