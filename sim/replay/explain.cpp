#include "sim/replay/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/replay/lone_run.h"
#include "sim/replay/replay.h"

namespace busbar {

namespace {

// Far above any link, yet finite: a load over it still has a share.
constexpr double kUnlimitedFactor = 1e6;
constexpr std::size_t kRanksNamed = 3;
constexpr std::size_t kCausesNamed = 4;

double flows_on(std::span<const Strand> plan, std::uint32_t resource) {
  double flows = 0;
  for (const Strand& s : plan)
    for (const ResourceUse& use : s.usage)
      if (use.resource.value() == resource)
        flows += static_cast<double>(s.multiplicity) * static_cast<double>(use.flows) / kOneFlow;
  return flows;
}

// The class of a link's other direction: "leaf->nic" of "nic->leaf". In a host both go by one name.
std::string reversed(const std::string& link_class) {
  const std::size_t arrow = link_class.find("->");
  if (arrow == std::string::npos) return link_class;
  return link_class.substr(arrow + 2) + "->" + link_class.substr(0, arrow);
}

std::string cause_text(Replay& replay, std::uint32_t program, std::uint32_t op) {
  if (program == History::kNone) return "the start of the step";
  const Op& o = replay.trace().programs[program].ops[op];
  const std::string phase = o.phase == Phase::kNone ? "" : std::string(name_of(o.phase)) + " ";
  if (o.kind == OpKind::kCompute) return phase + "compute";
  if (o.kind == OpKind::kHost) return phase + "launches";
  const std::string& group = replay.kinds()[replay.kinds_by_op(program)[op]];
  return fmt::format("{}{} ({})", phase, activity_of(o), group);
}

}  // namespace

Explainer::Explainer(const Topology& topology) : topology_(&topology) {
  std::map<std::string, std::uint32_t> known;
  for (std::size_t i = 0; i < topology.links().size(); ++i) {
    const std::string name = topology.link_class(LinkId::from_index(i));
    const auto [it, is_new] = known.try_emplace(name, static_cast<std::uint32_t>(classes_.size()));
    if (is_new) classes_.push_back(name);
    class_of_link_.push_back(it->second);
  }
}

void Explainer::start(const PlannedOperation& planned, std::span<const Arrival> members, const Arrival& last,
                      const History& history, std::uint32_t cause) {
  if (tallies_.size() <= planned.record) tallies_.resize(planned.record + 1);
  Tally& tally = tallies_[planned.record];
  if (tally.example == nullptr) tally.example = &planned;
  Time waited;
  for (const Arrival& m : members) waited += last.at - m.at;
  tally.waited += waited;
  tally.arrivals += members.size();
  if (waited > Time::zero()) tally.caused[last.player] += waited;
  if (cause == History::kNone) {
    ++tally.causes[{History::kNone, 0}];
  } else {
    ++tally.causes[{history.at(cause).program, history.at(cause).op}];
  }
  for (const Strand& s : planned.plan.strands())
    for (const ResourceUse& use : s.usage)
      tally.bytes[class_of_link_[use.resource.index()]] +=
          s.volume * static_cast<double>(s.multiplicity) * static_cast<double>(use.flows) / kOneFlow;
}

std::vector<Explanation> Explainer::explanations(Replay& replay) const {
  std::vector<Explanation> list;
  for (std::size_t i = 0; i < replay.plans().records().size(); ++i)
    list.push_back(explain(replay, replay.plans().records()[i], i < tallies_.size() ? tallies_[i] : Tally{}));
  return list;
}

Explanation Explainer::explain(Replay& replay, const OperationRecord& record, const Tally& tally) const {
  Explanation e{.operation = std::string(name_of(record.kind)),
                .group = record.group,
                .algorithm = record.algorithm,
                .protocol = record.protocol,
                .ranks = record.ranks,
                .channels = record.channels,
                .count = record.runs_per_group(),
                .bytes = record.bytes};
  if (const Algorithm* row = find_algorithm(record.kind, record.algorithm)) e.words = row->help;
  if (record.runs == 0 || tally.example == nullptr) return e;
  const PlannedOperation& planned = *tally.example;
  const std::vector<double>& capacity = replay.placement().capacities();
  const LoneRun lone = run_alone(planned.plan, capacity);
  e.time = record.mean_time();
  e.latency = planned.plan.latency() - planned.plan.tail;
  e.transfer = lone.transfer;
  e.tail = planned.plan.tail;
  e.alone = e.latency + e.transfer + e.tail;
  add_limit(e, planned, capacity, lone.bottleneck);
  const std::vector<Strand> strands = planned.plan.strands();
  const double volume = strands.empty() ? 0 : strands[lone.last].volume;
  const double rate = lone.transfer > Time::zero() ? volume / lone.transfer.seconds() : 0;
  std::string held = "the cap";
  if (lone.bottleneck != MaxMinSolver::kNone)
    held = fmt::format("{} full with {:.3g} flows, {:.1f} GB/s", e.limit.link, e.limit.flows,
                       e.limit.capacity_Bps / 1e9);
  e.terms = terms_of({&record, &planned, volume, rate, held});
  e.choices = priced_choices(replay.plans(), record);
  e.transports = transports_of(replay, record, planned);
  e.beyond = beyond_line_rate(record, *planned.routes);
  add_waits(e, replay, record, tally);
  add_traffic(e, tally, record, lone.peaks);
  return e;
}

void Explainer::add_waits(Explanation& e, Replay& replay, const OperationRecord& record,
                          const Tally& tally) const {
  const auto members = static_cast<std::int64_t>(record.groups * std::max(1U, record.ranks));
  e.waited = Time::picoseconds(tally.waited.ps() / members);
  for (const auto& [player, caused] : tally.caused) e.waited_for.push_back({replay.rank_of(player), caused});
  std::stable_sort(e.waited_for.begin(), e.waited_for.end(),
                   [](const MemberWait& a, const MemberWait& b) { return a.caused > b.caused; });
  if (e.waited_for.size() > kRanksNamed) e.waited_for.resize(kRanksNamed);
  for (const auto& [key, count] : tally.causes) {
    const std::string what = cause_text(replay, key.first, key.second);
    const auto it = std::find_if(e.started_by.begin(), e.started_by.end(),
                                 [&](const StartCause& c) { return c.what == what; });
    if (it == e.started_by.end()) {
      e.started_by.push_back({what, count});
    } else {
      it->count += count;
    }
  }
  std::stable_sort(e.started_by.begin(), e.started_by.end(),
                   [](const StartCause& a, const StartCause& b) { return a.count > b.count; });
  if (e.started_by.size() > kCausesNamed) e.started_by.resize(kCausesNamed);
}

void Explainer::add_traffic(Explanation& e, const Tally& tally, const OperationRecord& record,
                            std::span<const double> peaks) const {
  const double gpus = static_cast<double>(record.groups) * std::max(1U, record.ranks);
  for (const auto& [link_class, bytes] : tally.bytes) {
    ClassTraffic traffic{.link_class = classes_[link_class], .bytes = bytes, .bytes_per_gpu = bytes / gpus};
    double most = -1;
    for (std::uint32_t link = 0; link < peaks.size(); ++link) {
      if (class_of_link_[link] != link_class || peaks[link] == 0) continue;
      ++traffic.links;
      if (peaks[link] <= most) continue;
      most = peaks[link];
      traffic.busiest = topology_->link_name(LinkId(link));
      traffic.busiest_share = peaks[link];
    }
    e.crosses.push_back(std::move(traffic));
  }
  std::stable_sort(e.crosses.begin(), e.crosses.end(),
                   [](const ClassTraffic& a, const ClassTraffic& b) { return a.bytes > b.bytes; });
}

// What holds the last strand; then the same without it: all links of that class unlimited, both directions
// (links alike hold it together), or no ceiling of the channels' own.
void Explainer::add_limit(Explanation& e, const PlannedOperation& planned, std::span<const double> capacity,
                          std::uint32_t bottleneck) const {
  const std::vector<Strand> strands = planned.plan.strands();
  const bool held_by_link = bottleneck != MaxMinSolver::kNone;
  if (strands.empty() || e.transfer == Time::zero()) {
    e.limit = {.what = e.alone > Time::zero() ? "latency" : "nothing", .lifted = e.alone};
    return;
  }
  std::vector<double> raised(capacity.begin(), capacity.end());
  Plan freed = planned.plan;
  e.limit.what = planned.plan.rate_bound.empty() ? "protocol" : std::string(planned.plan.rate_bound);
  if (held_by_link) {
    e.limit.what = classes_[class_of_link_[bottleneck]];
    e.limit.link = topology_->link_name(LinkId(bottleneck));
    e.limit.capacity_Bps = capacity[bottleneck];
    e.limit.flows = flows_on(strands, bottleneck);
    const std::string back = reversed(e.limit.what);
    for (std::size_t i = 0; i < raised.size(); ++i)
      if (classes_[class_of_link_[i]] == e.limit.what || classes_[class_of_link_[i]] == back)
        raised[i] *= kUnlimitedFactor;
  } else {
    for (PlanPhase& phase : freed.phases)
      for (Strand& s : phase.strands) s.cap = Bandwidth::unlimited();
  }
  const LoneRun without = run_alone(freed, raised);
  e.limit.lifted = e.latency + without.transfer + e.tail;
  const bool next_is_link = without.bottleneck != MaxMinSolver::kNone;
  const std::string next = next_is_link ? classes_[class_of_link_[without.bottleneck]] : "protocol";
  e.limit.next = next == e.limit.what || next == reversed(e.limit.what) || without.transfer == Time::zero()
                     ? "latency"
                     : next;
}

namespace {

// Participants from `ranks` on are switches.
ExplainedSend said(const Send& send, std::span<const std::uint32_t> ranks) {
  const auto n = static_cast<std::uint32_t>(ranks.size());
  const auto number = [&](std::uint32_t p) { return p < n ? ranks[p] : p - n; };
  return {.from = number(send.from),
          .to = number(send.to),
          .chunk = send.chunk,
          .reduce = send.reduce,
          .holds = {},
          .from_switch = send.from >= n,
          .to_switch = send.to >= n};
}

}  // namespace

std::vector<ExplainedRound> rounds_of(const Algorithm& algorithm, const GroupShape& shape,
                                      std::span<const std::uint32_t> ranks) {
  const Schedule schedule = algorithm.schedule(shape);
  std::vector<ExplainedRound> rounds(schedule.rounds);
  Schedule so_far = schedule;
  so_far.sends.clear();
  for (std::size_t begin = 0; begin < schedule.sends.size();) {
    const std::uint32_t round = schedule.sends[begin].round;
    std::size_t end = begin;
    for (; end < schedule.sends.size() && schedule.sends[end].round == round; ++end)
      so_far.sends.push_back(schedule.sends[end]);
    const auto holdings = run_symbolically(so_far);
    for (std::size_t i = begin; i < end; ++i) {
      const Send& send = schedule.sends[i];
      ExplainedSend explained = said(send, ranks);
      const Contributions& held = holdings[send.to][send.chunk];
      for (std::size_t r = 0; r < held.size() && r < ranks.size(); ++r)
        if (held[r] > 0) explained.holds.push_back(ranks[r]);
      rounds[round].sends.push_back(std::move(explained));
    }
    begin = end;
  }
  return rounds;
}

}  // namespace busbar
