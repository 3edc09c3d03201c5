#include "validate/compare_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "validate/compare_collectives.h"
#include "validate/figures.h"

namespace busbar {

namespace {

constexpr const char* kLacking = "not in the measurement";

Time measured_time(const MeasuredStep& m, const RunResult& p) {
  if (m.time) return *m.time;
  if (m.tokens_per_s_per_gpu && *m.tokens_per_s_per_gpu > 0 && p.tokens > 0)
    return Time::from_seconds(p.tokens / (*m.tokens_per_s_per_gpu * p.ranks));
  throw Error({.where = m.source,
               .message = m.tokens_per_s_per_gpu
                              ? "gives tokens/s, and the workload has no tokens to turn them into a step time"
                              : "has no step time"});
}

/// Puts parts of the step where they belong: compared, too small, or missing.
class Parts {
 public:
  Parts(Validation& validation, const MeasuredStep& measured, Time step)
      : v_(validation), m_(measured), step_(step) {}

  void compare(const std::string& what, Time measured, Time predicted) {
    if (measured == Time::zero() && predicted == Time::zero()) return;
    if (measured.seconds() < kSmallestPart * step_.seconds()) {
      v_.comparison->missing.push_back({what, measured.seconds(), predicted.seconds(),
                                        "below 1 % of the measured step: no relative error"});
      return;
    }
    ValidationRow row{.id = what, .what = what, .system = m_.source, .source = m_.format};
    row.measured = measured.seconds();
    row.predicted = predicted.seconds();
    v_.rows.push_back(std::move(row));
  }
  void miss(const std::string& what, Time predicted, const char* why = kLacking) {
    v_.comparison->missing.push_back({what, std::nullopt, predicted.seconds(), why});
  }

 private:
  Validation& v_;
  const MeasuredStep& m_;
  Time step_;
};

// Kinds of the model's groups by what frameworks call theirs. Source: torch.distributed's default_pg and the
// mesh names of torchtitan; Megatron-Core, core/parallel_state.py (TENSOR_MODEL_PARALLEL_GROUP,
// EMBEDDING_GROUP, ...).
std::string kind_by_name(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"embedding", "embedding"},
                                                                             {"tensor", "tp"},
                                                                             {"pipeline", "pp"},
                                                                             {"context", "cp"},
                                                                             {"expert", "ep"},
                                                                             {"data", "dp"},
                                                                             {"fsdp", "dp"},
                                                                             {"ddp", "dp"},
                                                                             {"shard", "dp"},
                                                                             {"replicate", "dp"}};
  std::string text = name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // EXPERT_DATA_PARALLEL_GROUP: replicas of experts, whose gradients count as dp here.
  if (text.find("expert") != std::string::npos && text.find("data") != std::string::npos) return "dp";
  for (const auto& [word, kind] : kWords)
    if (text.find(word) != std::string::npos) return std::string(kind);
  for (const std::string_view kind : {"tp", "pp", "cp", "ep", "dp"})
    if (text == kind || text.ends_with("_" + std::string(kind))) return std::string(kind);
  return "";
}

std::vector<std::string> kinds_with(const RunResult& p, std::int64_t ranks) {
  std::vector<std::string> kinds;
  for (const CollectiveRecord& c : p.collectives)
    if ((ranks == 0 || c.ranks == ranks) && std::find(kinds.begin(), kinds.end(), c.group) == kinds.end())
      kinds.push_back(c.group);
  return kinds;
}

// The mean over the ranks that were measured, each as long as the step; where they are not known one by one,
// that of the rank that ends last.
TimeSplit split_like(const MeasuredStep& m, const RunResult& p) {
  TimeSplit sum;
  std::int64_t ranks = 0;
  for (const MeasuredRank& rank : m.ranks) {
    const auto known = std::find_if(p.rank_splits.begin(), p.rank_splits.end(),
                                    [&](const RankSplit& s) { return s.rank == rank.rank; });
    if (known == p.rank_splits.end()) return p.split;
    const TimeSplit& s = known->split;
    sum.compute += s.compute;
    sum.exposed += s.exposed;
    sum.bubble += s.bubble;
    sum.straggler_wait += s.straggler_wait;
    sum.idle += s.idle + (p.step_time - s.step);
    sum.communication += s.communication;
    for (const auto& [kind, exposed] : s.exposed_by_group) sum.exposed_by_group[kind] += exposed;
    ++ranks;
  }
  if (ranks == 0) return p.split;
  const auto mean = [&](Time& time) { time = Time::picoseconds(time.ps() / ranks); };
  for (Time TimeSplit::*part : {&TimeSplit::compute, &TimeSplit::exposed, &TimeSplit::bubble,
                                &TimeSplit::straggler_wait, &TimeSplit::idle, &TimeSplit::communication})
    mean(sum.*part);
  for (auto& [kind, exposed] : sum.exposed_by_group) mean(exposed);
  sum.step = p.step_time;
  return sum;
}

void compare_groups(Parts& parts, const MeasuredStep& m, const RunResult& p, const TimeSplit& t) {
  std::map<std::string, Time> measured;
  for (const MeasuredGroup& g : m.groups)
    if (const std::string kind = group_kind_of(g.name, g.ranks, p); !kind.empty())
      measured[kind] += g.exposed;
  for (const auto& [kind, predicted] : t.exposed_by_group) {
    const std::string what = "exposed " + kind;
    if (!m.waiting_separated)
      parts.miss(what, predicted, "the measurement does not tell waiting from transfer");
    else if (measured.contains(kind))
      parts.compare(what, measured.at(kind), predicted);
    else
      parts.miss(what, predicted);
  }
}

void compare_split(Parts& parts, const MeasuredStep& m, const RunResult& p) {
  const TimeSplit t = split_like(m, p);
  if (!m.split) {
    parts.miss("compute", t.compute);
    parts.miss("communication", t.communication);
    parts.miss("exposed communication", t.exposed);
    parts.miss("waiting for stragglers", t.straggler_wait);
    parts.miss("bubble", t.bubble);
    parts.miss("idle", t.idle);
    for (const auto& [kind, exposed] : t.exposed_by_group) parts.miss("exposed " + kind, exposed);
    return;
  }
  const MeasuredSplit& s = *m.split;
  parts.compare("compute", s.compute, t.compute);
  if (m.waiting_separated) {
    parts.compare("communication", s.communication, t.communication);
    parts.compare("exposed communication", s.exposed, t.exposed);
    parts.compare("waiting for stragglers", s.waiting, t.straggler_wait);
    parts.compare("bubble", s.bubble, t.bubble);
  } else {
    const char* const why = "the measurement does not tell waiting from transfer";
    parts.miss("communication", t.communication, why);
    parts.compare("exposed communication, waiting and bubble", s.exposed + s.waiting + s.bubble,
                  t.exposed + t.straggler_wait + t.bubble);
    parts.miss("bubble", t.bubble, why);
  }
  if (m.groups.empty())
    for (const auto& [kind, exposed] : t.exposed_by_group) parts.miss("exposed " + kind, exposed);
  else
    compare_groups(parts, m, p, t);
  parts.compare("idle", s.idle, t.idle);
}

void note_contradictions(std::vector<std::string>& notes, const MeasuredStep& m, const PredictedStep& p) {
  for (const MeasuredSetting& setting : m.settings) {
    const auto known = p.settings.find(setting.key);
    if (known == p.settings.end() || known->second == setting.value) continue;
    notes.push_back(fmt::format("CONTRADICTION: {} is {} in the measurement ({}), {} in the prediction",
                                setting.key, setting.value, setting.where, known->second));
  }
}

std::string explanation_of(const ValidationRow& part, double step_error_s) {
  const double gap = part.predicted - part.measured;
  std::string text =
      fmt::format("{}, {} too {} where the step is {} too {}", part.what,
                  to_text(Time::from_seconds(std::abs(gap))), gap < 0 ? "short" : "long",
                  to_text(Time::from_seconds(std::abs(step_error_s))), step_error_s < 0 ? "short" : "long");
  const double speed = part.predicted / part.measured;
  if (part.what == "compute")
    return text + fmt::format("; kernels at {:.2f} of their predicted speed would close it", speed);
  if (part.what.starts_with("exposed"))
    return text +
           fmt::format("; links at {:.2f} of their predicted speed would close it, were all of it bandwidth",
                       speed);
  if (part.what.starts_with("waiting"))
    return text + "; ranks that come late (the workload's jitter, a trace's slowdowns) would close it";
  if (part.what == "bubble") return text + "; stages whose times differ (stages.layers) would close it";
  return text + "; a host that takes as much longer to launch a step (the workload's launch) would close it";
}

// Of the parts that make up the step, by seconds.
void explain_largest(Validation& v) {
  const ValidationRow& step = v.rows.front();
  const ValidationRow* largest = nullptr;
  for (const ValidationRow& row : v.rows) {
    const bool part = row.what == "compute" || row.what == "idle" || row.what == "bubble" ||
                      row.what.starts_with("waiting") || row.what.starts_with("exposed communication");
    if (!part) continue;
    const auto gap = [](const ValidationRow& r) { return std::abs(r.predicted - r.measured); };
    if (largest == nullptr || gap(row) > gap(*largest)) largest = &row;
  }
  if (largest != nullptr) v.comparison->largest = explanation_of(*largest, step.predicted - step.measured);
}

}  // namespace

std::string group_kind_of(const std::string& name, std::int64_t ranks, const RunResult& predicted) {
  const std::vector<std::string> all = kinds_with(predicted, 0);
  if (std::string kind = kind_by_name(name);
      !kind.empty() && std::find(all.begin(), all.end(), kind) != all.end())
    return kind;
  if (all.size() == 1) return all.front();
  const std::vector<std::string> same = kinds_with(predicted, ranks);
  return ranks > 0 && same.size() == 1 ? same.front() : "";
}

std::vector<std::pair<CollectiveKind, Bytes>> calls_of(const StepTrace& trace) {
  std::vector<std::pair<CollectiveKind, Bytes>> calls;
  for (const Binding& binding : trace.bindings) {
    const bool has_rank_0 = std::any_of(binding.ranks.begin(), binding.ranks.end(),
                                        [](const RankRange& range) { return range.first == 0; });
    if (!has_rank_0) continue;
    for (const Op& op : trace.programs[binding.program].ops)
      if (op.kind == OpKind::kCollective) calls.emplace_back(op.collective, op.bytes);
  }
  return calls;
}

std::map<std::string, std::int64_t> settings_of(const Workload& w) {
  std::map<std::string, std::int64_t> settings = {
      {"gpus", w.parallel.world()},   {"parallel.tp", w.parallel.tp},  {"parallel.pp", w.parallel.pp},
      {"parallel.cp", w.parallel.cp}, {"parallel.ep", w.parallel.ep},  {"parallel.dp", w.parallel.dp},
      {"batch.micro", w.batch.micro}, {"batch.global", w.batch.global}};
  if (w.batch.sequence > 0) settings["batch.sequence"] = w.batch.sequence;
  if (w.model.transformer) {
    settings["model.layers"] = w.model.transformer->layers;
    settings["model.hidden"] = w.model.transformer->hidden;
    settings["model.heads"] = w.model.transformer->heads;
  }
  return settings;
}

Validation compare_step(const MeasuredStep& m, const PredictedStep& predicted) {
  const RunResult& p = predicted.result;
  Validation v{.suite = "step", .quantity = "step of " + m.format, .unit = "s", .comparison = Comparison{}};
  const Time step = measured_time(m, p);
  if (step <= Time::zero()) throw Error({.where = m.source, .expected = "a step time above 0", .given = "0"});
  Comparison& c = *v.comparison;
  Parts parts(v, m, step);
  parts.compare("step time", step, p.step_time);
  compare_split(parts, m, p);
  compare_classes(v, m, predicted);
  explain_largest(v);
  if (m.ranks.size() > 1) c.ranks = m.ranks;
  c.judged = "step time";
  c.judged_error = v.rows.front().error();
  note_contradictions(c.notes, m, predicted);
  const char* const unit = m.format.ends_with("log") ? "line" : "step";
  c.notes.push_back(
      fmt::format("{}: {} {}{}", m.format, m.steps, unit, m.steps == 1 ? " counts" : "s count"));
  if (m.p10 && m.p90)
    c.notes.push_back(fmt::format("step time {} (median), 10th to 90th percentile {} to {}", to_text(step),
                                  to_text(*m.p10), to_text(*m.p90)));
  if (!m.time && m.rate_p10 && m.rate_p90)
    c.notes.push_back(
        fmt::format("{:.0f} tokens/s per GPU (median), 10th to 90th percentile {:.0f} to {:.0f}",
                    *m.tokens_per_s_per_gpu, *m.rate_p10, *m.rate_p90));
  if (!m.time) c.notes.emplace_back("the step time is the workload's tokens over the measured tokens/s");
  c.notes.insert(c.notes.end(), m.notes.begin(), m.notes.end());
  sum_up(v);
  return v;
}

}  // namespace busbar
