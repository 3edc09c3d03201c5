#include "sim/replay/step_figures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/cost/slowest_gpu.h"

namespace busbar {

namespace {

/// none: a kernel has a duration in place of work.
std::optional<double> flops_of(const Program& program) {
  double flops = 0;
  for (const Op& op : program.ops) {
    if (op.kind == OpKind::kCompute && op.work->duration) return std::nullopt;
    flops += op.work->flops;
  }
  return flops;
}

}  // namespace

double slowed_by_slowest(const StepTrace& trace, const Profile& profile) {
  const auto& measured_on = profile.calibration.step_gpus;
  return measured_on && trace.slowdowns.empty() ? slowest_of(trace.ranks, *measured_on) : 1;
}

Profile with_shares_of(const StepTrace& trace, const Profile& given) {
  Profile profile = given;
  if (profile.ideal) return profile;
  const double slower = slowed_by_slowest(trace, profile);
  for (Generation& g : profile.generations) {
    g.own_share /= slower;
    const auto own = trace.kernel_shares.find(std::string(g.name));
    if (own != trace.kernel_shares.end())
      g.step_share = own->second;
    else if (trace.kernel_share)
      g.step_share = *trace.kernel_share;
    const auto attention = trace.attention_shares.find(std::string(g.name));
    g.attention_share = attention != trace.attention_shares.end() ? attention->second : trace.attention_share;
  }
  return profile;
}

double hardware_flops_of(const StepTrace& trace) {
  std::vector<std::uint64_t> ranks(trace.programs.size(), 0);
  for (const Binding& binding : trace.bindings) ranks[binding.program] += count(binding.ranks);
  double sum = 0;
  for (std::size_t p = 0; p < trace.programs.size(); ++p) {
    const std::optional<double> flops = flops_of(trace.programs[p]);
    if (!flops) return 0;
    sum += *flops * static_cast<double>(ranks[p]);
  }
  return sum * static_cast<double>(trace.repeat);
}

std::optional<double> peak_of(const StepTrace& trace, const Topology& topology) {
  std::map<DataType, double> flops;
  for (const Program& program : trace.programs)
    for (const Op& op : program.ops) flops[op.work->type] += op.work->flops;
  const auto most =
      std::max_element(flops.begin(), flops.end(), [](auto& a, auto& b) { return a.second < b.second; });
  if (most == flops.end() || most->second == 0) return std::nullopt;
  std::vector<std::uint32_t> ranks_on(topology.gpu_models().size(), 0);
  for (const DeviceId gpu : topology.ranks().first(trace.ranks)) {
    if (topology.gpu_model_of(gpu) < 0) return std::nullopt;
    ++ranks_on[static_cast<std::size_t>(topology.gpu_model_of(gpu))];
  }
  double mean = 0;
  for (std::size_t model = 0; model < ranks_on.size(); ++model) {
    if (ranks_on[model] == 0) continue;
    const auto& peaks = topology.gpu_models()[model].peak;
    const auto peak = peaks.find(most->first);
    if (peak == peaks.end()) return std::nullopt;
    mean += static_cast<double>(ranks_on[model]) / trace.ranks * peak->second.flops();
  }
  return mean;
}

std::vector<RoleRecord> roles_of(const Replay& replay) {
  const std::vector<Program>& programs = replay.trace().programs;
  std::vector<RoleRecord> roles(programs.size());
  std::vector<double> compute_ps(programs.size(), 0), bubble_ps(programs.size(), 0);  // beyond Time, summed
  for (std::uint32_t player = 0; player < replay.ranks().size(); ++player) {
    const std::uint32_t p = replay.index().programs[replay.ranks()[player].program].program;
    const Exposure::Totals& spent = replay.exposure().totals(player);
    const auto alike = static_cast<std::uint32_t>(replay.system().players[player].alike);
    roles[p].ranks += alike;
    compute_ps[p] += static_cast<double>(spent.compute.ps()) * alike;
    bubble_ps[p] += static_cast<double>(spent.bubble.ps()) * alike;
  }
  for (std::size_t p = 0; p < roles.size(); ++p) {
    if (roles[p].ranks == 0) continue;
    roles[p].program = programs[p].name;
    roles[p].compute = Time::picoseconds(std::llround(compute_ps[p] / roles[p].ranks));
    roles[p].bubble = Time::picoseconds(std::llround(bubble_ps[p] / roles[p].ranks));
  }
  std::erase_if(roles, [](const RoleRecord& role) { return role.ranks == 0; });
  return roles;
}

}  // namespace busbar
