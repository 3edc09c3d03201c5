#include "sim/replay/step_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/replay/half_bandwidth.h"

namespace busbar {

namespace {

// What is worth a sentence: chosen so that a step that is laid out well has none.
constexpr double kImbalance = 1.1;      // busiest role over the mean
constexpr double kDataParallel = 0.2;   // exposed, of the step
constexpr double kExperts = 0.1;        // exposed, of the step, of groups across hosts
constexpr double kMemoryToSpare = 0.9;  // of the GPU, as the framework and fragmentation need some too

double share_of(const RunResult& r, Time time) {
  return r.step_time > Time::zero() ? time.seconds() / r.step_time.seconds() : 0;
}

std::string with_share(const RunResult& r, Time time) {
  return fmt::format("{} ({:.1f} % of the step)", to_text(time), 100 * share_of(r, time));
}

Time exposed_in(const RunResult& r, std::initializer_list<const char*> kinds) {
  Time sum;
  for (const char* kind : kinds)
    if (const auto it = r.split.exposed_by_group.find(kind); it != r.split.exposed_by_group.end())
      sum += it->second;
  return sum;
}

/// The most hosts that a group of this slot spans; NVLink domains count as one.
std::uint32_t hosts_of(Replay& replay, std::string_view slot) {
  std::uint32_t hosts = 0;
  for (const Binding& binding : replay.trace().bindings) {
    const std::vector<std::string>& slots = replay.trace().programs[binding.program].group_slots;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] != slot) continue;
      if (const GroupRoutes* routes = replay.plans().routes(binding.groups[i]))
        hosts = std::max(hosts, routes->facts.hosts);
    }
  }
  return hosts;
}

void warn_of_spans(RunResult& r, Replay& replay) {
  if (const std::uint32_t hosts = hosts_of(replay, "tp"); hosts > 1)
    r.warnings.push_back(
        {"tp-across-hosts",
         fmt::format(
             "tensor-parallel groups span {} hosts: their operations are exposed for {}; keep them in "
             "one host (tp no more than its GPUs, and first in \"order\")",
             hosts, with_share(r, exposed_in(r, {"tp"})))});
  const Time experts = exposed_in(r, {"ep"});
  const std::uint32_t spanned = std::max(hosts_of(replay, "ep"), hosts_of(replay, "ep.rail"));
  if (const std::uint32_t hosts = spanned; hosts > 1 && share_of(r, experts) > kExperts)
    r.warnings.push_back(
        {"ep-across-hosts",
         fmt::format(
             "expert-parallel groups span {} hosts: dispatch and combine are exposed for {}; a smaller "
             "ep, or a node_limit, would lower that",
             hosts, with_share(r, experts))});
}

void warn_of_data_parallel(RunResult& r) {
  const Time exposed = exposed_in(r, {"dp", "shard", "replica", "edp"});
  if (share_of(r, exposed) <= kDataParallel || r.split.compute == Time::zero()) return;
  r.warnings.push_back(
      {"dp-exposed",
       fmt::format("data-parallel communication is exposed for {}: a larger microbatch, or hsdp inside a "
                   "host, would hide more",
                   with_share(r, exposed))});
}

void warn_of_roles(RunResult& r) {
  const ComputeBalance balance = compute_balance(r.roles);
  if (balance.imbalance <= kImbalance) return;
  const RoleRecord& busiest = r.roles[balance.busiest];
  r.warnings.push_back(
      {"uneven-stages",
       fmt::format("{} computes for {}, {:.0f} % more than the mean of all: move layers to "
                   "others (\"stages\"), or even the experts' load",
                   quoted(busiest.program), to_text(busiest.compute), 100 * (balance.imbalance - 1))});
}

/// The fullest GPU without recomputation, as a share of its memory; none: nothing is recomputed, or not
/// known.
std::optional<std::pair<Bytes, Bytes>> without_recompute(Replay& replay, const Topology& topology) {
  std::optional<std::pair<Bytes, Bytes>> fullest;
  for (std::uint32_t player = 0; player < replay.ranks().size(); ++player) {
    const Program& program =
        replay.trace().programs[replay.index().programs[replay.ranks()[player].program].program];
    const std::int32_t model = topology.device(topology.ranks()[replay.rank_of(player)]).gpu_model;
    if (!program.memory || !program.memory->activations_without_recompute || model < 0) return std::nullopt;
    MemoryUse use = *program.memory;
    use.activations = *use.activations_without_recompute;
    const Bytes capacity = topology.gpu_models()[static_cast<std::size_t>(model)].memory;
    const auto share = [](const auto& p) { return p.first.as_double() / p.second.as_double(); };
    const std::pair<Bytes, Bytes> here{use.total(), capacity};
    if (!fullest || share(here) > share(*fullest)) fullest = here;
  }
  return fullest;
}

void warn_of_recompute(RunResult& r, Replay& replay, const Topology& topology) {
  const auto needs = without_recompute(replay, topology);
  if (!needs || needs->first.as_double() > kMemoryToSpare * needs->second.as_double()) return;
  const double more = r.model_flops > 0 ? r.hardware_flops / r.model_flops - 1 : 0;
  r.warnings.push_back(
      {"needless-recompute",
       fmt::format("without recomputation a GPU would need {} of its {}: \"recompute\": \"none\" saves up to "
                   "{:.0f} % of the model's FLOPs",
                   to_si_text(needs->first), to_si_text(needs->second), 100 * more)});
}

void warn_of_wire(RunResult& result, Replay& replay) {
  for (std::uint32_t g = 0; g < replay.trace().groups.size(); ++g) {
    const GroupRoutes* routes = replay.plans().routes(GroupId(g));
    if (routes == nullptr || routes->hosts < 2 || routes->inter_link == LinkType::kRdma) continue;
    result.warnings.push_back({"wire", fmt::format("latencies of {} are not known; those of rdma stand in",
                                                   name_of(routes->inter_link))});
    return;
  }
}

/// The slot that binds each group; "" where none does.
std::vector<std::string> slots_of_groups(const StepTrace& trace) {
  std::vector<std::string> slots(trace.groups.size());
  for (const Binding& binding : trace.bindings)
    for (std::size_t i = 0; i < binding.groups.size(); ++i)
      slots[binding.groups[i].index()] = trace.programs[binding.program].group_slots[i];
  return slots;
}

// Groups of one slot work at the same time: eight of one rank each on a host use its eight NICs together.
void warn_of_nics(RunResult& result, Replay& replay, const Topology& topology) {
  const std::vector<std::string> slots = slots_of_groups(replay.trace());
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> used;  // NICs, by slot and first host
  for (std::uint32_t g = 0; g < slots.size(); ++g) {
    const GroupRoutes* routes = replay.plans().routes(GroupId(g));
    if (routes == nullptr || routes->hosts < 2 || routes->rings.empty()) continue;
    const auto first = replay.plans().members(GroupId(g)).front();
    const std::uint32_t host = topology.device(topology.ranks()[first]).host;
    if (host == kNoHost) continue;
    used[{slots[g], host}] += routes->facts.nics;
  }
  for (const auto& [key, nics] : used) {
    const auto& [slot, host] = key;
    const std::size_t all = topology.hosts()[host].nics.size();
    if (nics >= all) continue;
    result.warnings.push_back(
        {"few-nics",
         fmt::format("groups {} use {} of the {} NICs of {}: more ranks on each host would use the others",
                     quoted(slot), nics, all, topology.hosts()[host].name)});
    return;  // groups of one kind are alike: one sentence is enough
  }
}

void warn_of_models(RunResult& result, Replay& replay) {
  if (result.inputs.profile == "ideal") return;
  for (const std::string& model : replay.placement().unmatched_models())
    result.warnings.push_back(
        {"unknown-gpu", fmt::format("no constants are known for {}; those of {} stand in", quoted(model),
                                    replay.placement().generation(0).name)});
  warn_of_wire(result, replay);
}

}  // namespace

void add_step_warnings(RunResult& result, Replay& replay, const Topology& topology) {
  for (const Remark& remark : replay.trace().warnings) result.warnings.push_back({remark.code, remark.text});
  warn_of_models(result, replay);
  if (result.memory && result.memory->fits == false)
    result.warnings.push_back(
        {"memory", fmt::format("needs {} per GPU, which has {}", to_si_text(result.memory->total),
                               to_si_text(*result.memory->capacity))});
  if (replay.trace().ranks < topology.ranks().size())
    result.warnings.push_back(
        {"idle-gpus", fmt::format("{} of {} GPUs take part", replay.trace().ranks, topology.ranks().size())});
  warn_of_nics(result, replay, topology);
  if (auto warning = unused_log_warning(replay)) result.warnings.push_back(std::move(*warning));
  warn_of_spans(result, replay);
  warn_of_data_parallel(result);
  warn_of_roles(result);
  warn_of_recompute(result, replay, topology);
  for (Warning& warning : small_message_warnings(replay, result.step_time))
    result.warnings.push_back(std::move(warning));
}

}  // namespace busbar
