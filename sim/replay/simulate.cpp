#include "sim/replay/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/slowest_gpu.h"
#include "sim/replay/drawing.h"
#include "sim/replay/half_bandwidth.h"
#include "sim/replay/replay.h"
#include "sim/replay/step_figures.h"
#include "sim/replay/step_warnings.h"

namespace busbar {

namespace {

TimeSplit split_of(Replay& replay, std::uint32_t player) {
  const Exposure::Totals& t = replay.exposure().totals(player);
  TimeSplit split{.step = replay.ranks()[player].end - replay.ranks()[player].begin,
                  .compute = t.compute,
                  .exposed = t.exposed,
                  .bubble = t.bubble,
                  .straggler_wait = t.straggler,
                  .idle = t.idle,
                  .communication = t.communication};
  for (std::uint32_t k = 0; k < replay.kinds().size(); ++k)
    if (const Time e = replay.exposure().exposed(player, k); e > Time::zero())
      split.exposed_by_group[replay.kinds()[k]] = e;
  return split;
}

std::vector<CollectiveRecord> collectives_of(Replay& replay) {
  std::vector<CollectiveRecord> list;
  MaxMinSolver solver{std::span<const double>(replay.placement().capacities())};
  for (const OperationRecord& r : replay.plans().records()) {
    if (r.runs == 0) continue;
    CollectiveRecord c{
        .operation = std::string(name_of(r.kind)),
        .group = r.group,
        .ranks = r.ranks,
        .bytes = r.bytes,
        .algorithm = r.algorithm,
        .protocol = r.protocol,
        .channels = r.channels,
        .count = std::llround(replay.counted_share() * static_cast<double>(r.runs_per_group())),
        .groups = r.groups};
    c.time = r.mean_time();
    c.exposed = Time::picoseconds(std::llround(replay.counted_share() * r.exposed_ps /
                                               (static_cast<double>(r.groups) * std::max(1U, r.ranks))));
    if (c.time > Time::zero()) c.algbw_Bps = r.bytes.as_double() / c.time.seconds();
    c.busbw_Bps = c.algbw_Bps * busbw_factor(r.kind, r.ranks);
    c.attainable_busbw_Bps = attainable_busbw(r, replay.plans(), solver);
    list.push_back(std::move(c));
  }
  std::stable_sort(list.begin(), list.end(), [](const CollectiveRecord& a, const CollectiveRecord& b) {
    return a.time * a.count > b.time * b.count;
  });
  return list;
}

// Sums over all passes, of which a step is a share.
void count_once(Explanation& e, double share) {
  if (share == 1) return;
  const auto part = [&](Time time) {
    return Time::picoseconds(std::llround(share * static_cast<double>(time.ps())));
  };
  e.count = std::llround(share * static_cast<double>(e.count));
  e.waited = part(e.waited);
  for (auto& w : e.waited_for) w.caused = part(w.caused);
  for (StartCause& c : e.started_by)
    c.count = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(c.count)));
  for (ClassTraffic& c : e.crosses) {
    c.bytes *= share;
    c.bytes_per_gpu *= share;
  }
}

// In the order of the collectives: those that take longest in all first.
std::vector<Explanation> explanations_of(Replay& replay) {
  std::vector<Explanation> list = replay.explainer()->explanations(replay);
  std::erase_if(list, [](const Explanation& e) { return e.count == 0; });
  for (Explanation& e : list) count_once(e, replay.counted_share());
  std::stable_sort(list.begin(), list.end(), [](const Explanation& a, const Explanation& b) {
    return a.time * a.count > b.time * b.count;
  });
  return list;
}

// Links that are alike in everything that is reported appear once, under the name of the first.
std::vector<LinkRecord> links_of(Replay& replay, const Topology& topology, Time step) {
  const std::vector<ResourceTotals> totals = replay.strands().used_totals();
  const std::vector<double>& capacity = replay.placement().capacities();
  std::map<std::tuple<std::string, double, double, double, double>, std::size_t> known;
  std::vector<LinkRecord> list;
  const double share = replay.counted_share();
  for (std::size_t used = 0; used < totals.size(); ++used) {
    if (totals[used].bytes == 0) continue;
    const std::size_t i = replay.strands().id_of(used);
    const double bytes = share * totals[used].bytes;
    const LinkId id = LinkId::from_index(i);
    const std::uint64_t alike = replay.system().links_alike.empty() ? 1 : replay.system().links_alike[i];
    const double nominal = topology.link(id).bandwidth.Bps();
    const std::string link_class = topology.link_class(id);
    const auto [it, is_new] =
        known.try_emplace({link_class, capacity[i], nominal, bytes, totals[used].peak_share}, list.size());
    if (!is_new) {
      list[it->second].members += alike;
      continue;
    }
    list.push_back({.name = topology.link_name(id),
                    .link_class = link_class,
                    .members = alike,
                    .capacity_Bps = capacity[i],
                    .nominal_Bps = nominal,
                    .bytes = bytes,
                    .busy_fraction = step > Time::zero() ? bytes / (capacity[i] * step.seconds()) : 0,
                    .peak_fraction = totals[used].peak_share});
  }
  std::stable_sort(list.begin(), list.end(), [](const LinkRecord& a, const LinkRecord& b) {
    return a.busy_fraction > b.busy_fraction;
  });
  return list;
}

std::vector<CriticalSegment> critical_path_of(Replay& replay, std::uint32_t player) {
  const History& history = replay.history();
  const RankState& state = replay.ranks()[player];
  const std::size_t streams = replay.index().programs[state.program].streams.size();
  std::uint32_t node = History::kNone;
  for (std::size_t s = 0; s < streams; ++s) {
    const std::uint32_t last = replay.lanes()[state.first_lane + s].last;
    if (last != History::kNone && (node == History::kNone || history.at(last).end > history.at(node).end))
      node = last;
  }
  std::vector<CriticalSegment> path;
  for (; node != History::kNone && history.at(node).end > state.begin; node = history.at(node).parent) {
    const HistoryNode& n = history.at(node);
    const Op& op = replay.trace().programs[n.program].ops[n.op];
    CriticalSegment segment{.rank = replay.rank_of(n.player),
                            .operation = op.id,
                            .what = std::string(activity_of(op)),
                            .phase = std::string(name_of(op.phase)),
                            .start = std::max(n.start, state.begin) - state.begin,
                            .end = n.end - state.begin};
    if (n.parent == History::kNone || history.at(n.parent).end <= state.begin) {
      segment.waits_for = "the start";
    } else {
      const HistoryNode& p = history.at(n.parent);
      segment.waits_for = fmt::format("rank {} {}", replay.rank_of(p.player),
                                      replay.trace().programs[p.program].ops[p.op].id);
    }
    path.push_back(std::move(segment));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// Of the rank that is fullest: the largest share of its GPU, or the largest total where capacities are
// unknown.
std::optional<MemoryRecord> memory_of(Replay& replay, const Topology& topology) {
  std::optional<MemoryRecord> fullest;
  double worst = -1;
  for (std::uint32_t player = 0; player < replay.ranks().size(); ++player) {
    const Program& program =
        replay.trace().programs[replay.index().programs[replay.ranks()[player].program].program];
    if (!program.memory) continue;
    const MemoryUse& m = *program.memory;
    const std::int32_t model = topology.device(topology.ranks()[replay.rank_of(player)]).gpu_model;
    const std::optional<Bytes> capacity =
        model < 0 ? std::nullopt
                  : std::optional(topology.gpu_models()[static_cast<std::size_t>(model)].memory);
    const double fullness = m.total().as_double() / (capacity ? capacity->as_double() : 1e18);
    if (fullness <= worst) continue;
    worst = fullness;
    fullest = {m.parameters, m.gradients, m.optimizer, m.activations,
               m.buffers,    m.total(),   capacity,    std::nullopt};
    if (capacity) fullest->fits = m.total() <= *capacity;
  }
  return fullest;
}

void add_parameters(RunResult& result, Replay& replay, const Profile& profile) {
  for (const ProfileParameter& p :
       parameters_of(profile, replay.placement().generation(0), replay.placement().gpu_model(0))) {
    const StepTrace& trace = replay.trace();
    const bool has_own = trace.kernel_share ||
                         trace.kernel_shares.contains(std::string(replay.placement().generation(0).name));
    const bool of_trace = p.name == "step_share" && has_own && !profile.ideal;
    result.parameters.push_back(
        {p.name, p.value, p.origin, of_trace ? "the workload's framework, or its trace" : p.source});
  }
}

// What a reader must know of the profile before believing the figures.
void add_assumptions(RunResult& result, const Replay& replay, const Profile& profile) {
  result.assumptions = replay.trace().assumptions;
  if (profile.ideal) {
    result.assumptions.emplace_back(
        "ideal profile: every efficiency is 1, latency comes from the links alone");
    return;
  }
  const Generation& g = replay.placement().generation(0);
  const KernelModel& kernels = kernel_model_of(replay.placement().gpu_model(0));
  const double alone = plain_efficiency(DataType::kBf16, kernels) * g.matmul_share;
  result.assumptions.push_back(fmt::format(
      "{} GPUs: large matmuls run at {:.0f} % of their peak ({:.3f} alone{} x {:.3f} inside a step; fitted)",
      kernels.name, 100 * alone * g.step_share, alone, g.matmul_share == 1 ? "" : " as measured",
      g.step_share));
  if (const double slower = slowed_by_slowest(replay.trace(), profile); slower != 1)
    result.assumptions.push_back(
        fmt::format("kernels were measured by a step on {} GPUs; the slowest of {} is taken to be {:.1f} % "
                    "{} (GPUs of one model differ by {:.1f} %)",
                    *profile.calibration.step_gpus, replay.trace().ranks, 100 * std::abs(slower - 1),
                    slower > 1 ? "slower" : "faster", 100 * kSpeedSpread));
  result.assumptions.push_back(fmt::format("NCCL {} chooses algorithms, protocols and channels",
                                           to_text(replay.plans().overrides().nccl.version)));
}

// Explanations name ranks; a timeline shows some by themselves.
ReplayOptions replay_options(const SimOptions& options) {
  ReplayOptions replay{.overrides = options.overrides,
                       .symmetry = options.symmetry && !options.explain,
                       .scales = options.scales,
                       .timelines = options.details};
  if (options.timeline) replay.apart = options.timeline->ranks;
  return replay;
}

RunResult result_of(Replay& replay, const Topology& topology, const StepTrace& trace,
                    const Profile& profile) {
  RunResult result{.step_name = trace.name,
                   .cluster_name = topology.name(),
                   .ranks = trace.ranks,
                   .hosts = static_cast<std::uint32_t>(topology.hosts().size()),
                   .tokens = trace.tokens * static_cast<double>(trace.repeat),
                   .model_flops = trace.model_flops * static_cast<double>(trace.repeat)};
  result.inputs.profile = profile.name;
  const auto step_of = [&](std::uint32_t player) {
    return replay.ranks()[player].end - replay.ranks()[player].begin;
  };
  std::uint32_t last = 0;
  for (std::uint32_t player = 0; player < replay.ranks().size(); ++player)
    if (step_of(player) > step_of(last)) last = player;
  result.last_rank = replay.rank_of(last);
  result.step_time = step_of(last);
  result.split = split_of(replay, last);
  result.hardware_flops = hardware_flops_of(trace);
  result.peak_flops = peak_of(trace, topology);
  result.roles = roles_of(replay);
  result.memory = memory_of(replay, topology);
  result.collectives = collectives_of(replay);
  result.links = links_of(replay, topology, result.step_time);
  result.critical_path = critical_path_of(replay, last);
  result.timeline = std::move(replay.timelines());
  if (replay.recorder() != nullptr) result.full_timeline = replay.recorder()->take(replay);
  if (replay.explainer() != nullptr) result.explanations = explanations_of(replay);
  add_assumptions(result, replay, profile);
  add_parameters(result, replay, profile);
  add_step_warnings(result, replay, topology);
  result.events = replay.events();
  result.solves = replay.strands().solves();
  result.classes = replay.system().players.size();
  return result;
}

RunResult simulate_once(const Topology& topology, const StepTrace& trace, const Profile& profile,
                        const SimOptions& options) {
  Replay replay(topology, trace, profile, replay_options(options));
  if (options.timeline) replay.record(*options.timeline);
  if (options.explain) replay.explain();
  replay.run();
  RunResult result = result_of(replay, topology, trace, profile);
  for (const std::uint32_t rank : options.splits)
    result.rank_splits.push_back({rank, split_of(replay, replay.system().player_of_rank[rank])});
  if (options.details) result.layout = drawing_of(replay, topology, result.step_time);
  return result;
}

}  // namespace

// What a failing job says of ranks is found by replaying them all.
RunResult simulate(const Topology& topology, const StepTrace& trace, const Profile& given,
                   const SimOptions& options) {
  const Profile profile = with_shares_of(trace, given);
  try {
    return simulate_once(topology, trace, profile, options);
  } catch (const Error& e) {
    if (e.parts().kind != ErrorKind::kJob || !options.symmetry) throw;
  }
  SimOptions whole = options;
  whole.symmetry = false;
  return simulate_once(topology, trace, profile, whole);
}

}  // namespace busbar
