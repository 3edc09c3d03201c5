#include "validate/import/trace_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/statistics.h"
#include "sim/base/unit_text.h"
#include "validate/import/log_steps.h"
#include "validate/import/trace_accounting.h"
#include "validate/import/trace_matching.h"

namespace busbar {

namespace {

constexpr double kNanosecond_s = 1e-9;
constexpr double kUnlike = 1.5;  // our choice: far beyond what ranks of one job differ by

Time time_of(double ns) { return Time::from_seconds(ns * kNanosecond_s); }

TraceSpan extent(const RankTrace& trace) {
  TraceSpan all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  const auto take = [&](const TraceSpan& s) {
    all.begin = std::min(all.begin, s.begin);
    all.end = std::max(all.end, s.end);
  };
  for (const TraceSpan& s : trace.gpu_kernels > 0 ? trace.kernels : trace.operators) take(s);
  for (const TraceCommunication& c : trace.communications) take(c.span);
  if (all.begin >= all.end)
    throw Error(
        {.where = trace.source, .message = "a trace in which no kernel, operator or communication runs"});
  return all;
}

// From marker to marker.
void bound_steps(RankTrace& trace, MeasuredStep& step) {
  const TraceSpan all = extent(trace);
  if (trace.steps.empty()) {
    trace.steps.push_back({0, all});
    const std::string note = "no ProfilerStep markers: the whole trace counts as one step";
    if (std::find(step.notes.begin(), step.notes.end(), note) == step.notes.end()) step.notes.push_back(note);
    return;
  }
  std::sort(trace.steps.begin(), trace.steps.end(),
            [](const TraceStep& a, const TraceStep& b) { return a.span.begin < b.span.begin; });
  for (std::size_t i = 0; i + 1 < trace.steps.size(); ++i)
    trace.steps[i].span.end = trace.steps[i + 1].span.begin;
  if (trace.steps.size() == 1 && trace.gpu_kernels > 0)
    trace.steps[0].span.end = std::max(trace.steps[0].span.end, all.end);
}

void name_ranks(std::vector<RankTrace>& traces, MeasuredStep& step) {
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!traces[i].rank) traces[i].rank = rank_in_name(traces[i].source);
    if (!traces[i].rank && traces.size() > 1)
      step.notes.push_back(fmt::format("{} does not say its rank: taken as {}", traces[i].source, i));
    if (!traces[i].rank) traces[i].rank = static_cast<std::int64_t>(i);
    if (!seen.insert(*traces[i].rank).second)
      throw Error({.where = traces[i].source,
                   .expected = "one file for each rank",
                   .given = fmt::format("a second one of rank {}", *traces[i].rank)});
    if (traces[i].world && *traces[i].rank >= *traces[i].world)
      throw Error({.where = traces[i].source,
                   .expected = fmt::format("a rank below {}, its number of ranks", *traces[i].world),
                   .given = fmt::format("rank {}", *traces[i].rank)});
  }
}

std::vector<std::int64_t> common_steps(const std::vector<RankTrace>& traces, MeasuredStep& step) {
  std::vector<std::int64_t> common;
  for (const TraceStep& s : traces.front().steps) common.push_back(s.number);
  for (const RankTrace& trace : traces)
    std::erase_if(common, [&](std::int64_t number) {
      return std::none_of(trace.steps.begin(), trace.steps.end(),
                          [&](const TraceStep& s) { return s.number == number; });
    });
  if (common.empty())
    throw Error({.where = traces.front().source, .message = "the traces have no ProfilerStep in common"});
  std::set<std::int64_t> all;
  for (const RankTrace& trace : traces)
    for (const TraceStep& s : trace.steps) all.insert(s.number);
  for (const std::int64_t number : all)
    if (std::find(common.begin(), common.end(), number) == common.end())
      step.notes.push_back(fmt::format("ProfilerStep#{} left out: not in every trace", number));
  return common;
}

TraceSpan window_of(const RankTrace& trace, std::int64_t number) {
  for (const TraceStep& s : trace.steps)
    if (s.number == number) return s.span;
  BUSBAR_CHECK(false);
}

double length_of(const RankTrace& trace, std::int64_t number) {
  const TraceSpan w = window_of(trace, number);
  return static_cast<double>(w.end - w.begin);
}

void drop_warm_up(std::vector<std::int64_t>& steps, const RankTrace& trace, MeasuredStep& step) {
  if (steps.size() < 2) return;
  std::vector<double> others;
  for (std::size_t i = 1; i < steps.size(); ++i) others.push_back(length_of(trace, steps[i]));
  if (length_of(trace, steps.front()) <= kWarmUp * median_of(std::move(others))) return;
  step.notes.push_back(fmt::format("ProfilerStep#{} left out as warm-up", steps.front()));
  steps.erase(steps.begin());
}

// A profiler that stops loses the last calls of some ranks.
void drop_differing(std::vector<std::int64_t>& numbers, std::vector<std::size_t> steps, MeasuredStep& step) {
  std::sort(steps.rbegin(), steps.rend());
  for (const std::size_t s : steps) {
    step.notes.push_back(
        fmt::format("ProfilerStep#{} left out: the ranks' calls differ in number", numbers[s]));
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(s));
  }
}

template <class Get>
Time median_by(const std::vector<StepAccount>& accounts, Get get) {
  std::vector<double> values;
  values.reserve(accounts.size());
  for (const StepAccount& a : accounts) values.push_back(static_cast<double>(get(a)));
  return time_of(median_of(std::move(values)));
}

MeasuredSplit split_of(const std::vector<StepAccount>& accounts) {
  return {.compute = median_by(accounts, [](auto& a) { return a.compute; }),
          .communication = median_by(accounts, [](auto& a) { return a.communication; }),
          .exposed = median_by(accounts, [](auto& a) { return a.exposed; }),
          .waiting = median_by(accounts, [](auto& a) { return a.waiting; }),
          .bubble = median_by(accounts, [](auto& a) { return a.bubble; }),
          .idle = median_by(accounts, [](auto& a) { return a.idle; })};
}

MeasuredSplit mean_of(const std::vector<MeasuredRank>& ranks) {
  const auto mean = [&](Time MeasuredSplit::*part) {
    Time sum;
    for (const MeasuredRank& r : ranks) sum += r.split.*part;
    return Time::picoseconds(sum.ps() / static_cast<std::int64_t>(ranks.size()));
  };
  return {.compute = mean(&MeasuredSplit::compute),
          .communication = mean(&MeasuredSplit::communication),
          .exposed = mean(&MeasuredSplit::exposed),
          .waiting = mean(&MeasuredSplit::waiting),
          .bubble = mean(&MeasuredSplit::bubble),
          .idle = mean(&MeasuredSplit::idle)};
}

// Ranks of one job wait for each other: their steps are as long.
void note_unlike_ranks(MeasuredStep& step) {
  const auto [shortest, longest] =
      std::minmax_element(step.ranks.begin(), step.ranks.end(),
                          [](const MeasuredRank& a, const MeasuredRank& b) { return a.step < b.step; });
  if (longest->step.seconds() <= kUnlike * shortest->step.seconds()) return;
  step.notes.push_back(fmt::format("a step takes {} on rank {} and {} on rank {}: of one run, in one unit?",
                                   to_text(shortest->step), shortest->rank, to_text(longest->step),
                                   longest->rank));
}

void add_profiler_notes(const RankTrace& trace, MeasuredStep& step) {
  std::string extra;
  const auto add = [&](bool on, const char* what) {
    if (on) extra += fmt::format("{}{}", extra.empty() ? " and recorded " : ", ", what);
  };
  add(trace.shapes, "shapes");
  add(trace.stacks, "stacks");
  add(trace.memory, "memory");
  step.notes.push_back("measured under a profiler, which slows launches" + extra +
                       ": hold the step time against a run without it");
}

}  // namespace

MeasuredStep step_of(std::vector<RankTrace> traces) {
  BUSBAR_CHECK(!traces.empty());
  MeasuredStep step{.source = traces.front().source, .format = "PyTorch trace"};
  name_ranks(traces, step);
  std::sort(traces.begin(), traces.end(),
            [](const RankTrace& a, const RankTrace& b) { return *a.rank < *b.rank; });
  for (RankTrace& trace : traces) {
    resolve_calls(trace);
    bound_steps(trace, step);
  }
  if (std::any_of(traces.begin(), traces.end(),
                  [](const RankTrace& t) { return t.gpu_kernels == 0 && t.calls_nccl; }))
    step.notes.emplace_back(
        "calls of NCCL on the host and no kernels of the GPU: transfers are not in this trace");
  std::vector<std::int64_t> numbers = common_steps(traces, step);
  drop_warm_up(numbers, traces.front(), step);
  MatchedCalls matched = match_calls(traces, numbers);
  if (!matched.differing.empty() && matched.differing.size() < numbers.size()) {
    drop_differing(numbers, matched.differing, step);
    matched = match_calls(traces, numbers);
  }
  step.steps = numbers.size();
  step.waiting_separated = matched.separated;
  step.notes.insert(step.notes.end(), matched.notes.begin(), matched.notes.end());

  std::vector<double> lengths;
  std::vector<std::vector<double>> exposed(matched.groups.size());  // mean over ranks of medians over steps
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const RankTrace& trace = traces[r];
    const auto kernels = union_of(trace.gpu_kernels > 0 ? trace.kernels : trace.operators);
    std::vector<StepAccount> accounts;
    std::vector<double> own;
    for (std::size_t s = 0; s < numbers.size(); ++s) {
      accounts.push_back(
          account_of(window_of(trace, numbers[s]), kernels, matched.timed[r], matched.groups.size()));
      own.push_back(length_of(trace, numbers[s]));
    }
    lengths.insert(lengths.end(), own.begin(), own.end());
    step.ranks.push_back({.rank = *trace.rank, .step = time_of(median_of(own)), .split = split_of(accounts)});
    for (std::size_t g = 0; g < matched.groups.size(); ++g)
      exposed[g].push_back(static_cast<double>(
          median_by(accounts, [&](const StepAccount& a) { return a.exposed_by_group[g]; }).ps()));
  }
  step.time = time_of(median_of(lengths));
  step.p10 = time_of(quantile(lengths, 0.1));
  step.p90 = time_of(quantile(lengths, 0.9));
  step.split = mean_of(step.ranks);
  note_unlike_ranks(step);
  for (std::size_t g = 0; g < matched.groups.size(); ++g) {
    double sum = 0;
    for (const double ps : exposed[g]) sum += ps;
    step.groups.push_back(matched.groups[g]);
    step.groups.back().exposed = Time::from_seconds(sum * 1e-12 / static_cast<double>(traces.size()));
  }
  step.collectives = matched.collectives;
  if (traces.front().world) step.settings.push_back({"gpus", *traces.front().world, traces.front().source});
  add_profiler_notes(traces.front(), step);
  return step;
}

std::optional<std::int64_t> rank_in_name(const std::string& path) {
  const std::string name = lower(std::filesystem::path(path).filename().string());
  for (const std::string_view word : {"rank", "worker"}) {
    std::size_t at = name.rfind(word);
    if (at == std::string::npos) continue;
    at += word.size();
    while (at < name.size() && (name[at] == '-' || name[at] == '_')) ++at;
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (const auto rank = parse_whole(std::string_view(name).substr(at, end - at)); rank) return rank;
  }
  return std::nullopt;
}

}  // namespace busbar
