#include "sim/study/study_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/base/error.h"
#include "sim/replay/simulate.h"
#include "sim/study/sensitivity.h"
#include "sim/study/short_steps.h"
#include "sim/study/study_quantities.h"

namespace busbar {

namespace {

constexpr double kSameStep = 1e-3;  // below what one run differs from the next

/// Time of a token, memory, cost of a token (GPU-seconds where there is no price).
using Axes = std::array<double, 3>;

Axes axes_of(const ClusterRecord& cluster, std::size_t layout) {
  const PlanFigures& f = cluster.figures[layout];
  const double cost = f.cost_per_1e12_tokens.value_or(static_cast<double>(cluster.gpus) / f.tokens_per_s);
  return {1 / f.tokens_per_s / f.goodput, f.memory_bytes, cost};
}

bool beats(const Axes& a, const Axes& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

bool is_same(const Axes& a, const Axes& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > kSameStep * std::abs(b[i])) return false;
  return true;
}

double cost_of(const ClusterRecord& c) {
  return c.figures.front().cost_per_1e12_tokens.value_or(std::numeric_limits<double>::infinity());
}

double rate_of(const ClusterRecord& c) { return c.figures.front().tokens_per_s * c.figures.front().goodput; }

bool beyond_knee(const Study& study, const ClusterRecord& c) {
  const std::string name = c.name + (c.variant.empty() ? "" : ", " + c.variant);
  for (const ScalingCurve& curve : study.curves)
    if (curve.name == name && curve.scaling == c.scaling) return curve.knee && c.gpus > *curve.knee;
  return false;
}

/// The order in which clusters are recommended; those that break a constraint are not in it.
std::vector<std::size_t> ranking(const Study& study, bool smallest) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < study.clusters.size(); ++i)
    if (study.clusters[i].has_layout() && study.clusters[i].why_not.empty()) order.push_back(i);
  // Weak scaling changes the job: its points answer another question, where the job itself is asked too.
  const auto is_weak = [&](std::size_t i) { return study.clusters[i].scaling == "weak"; };
  if (!std::all_of(order.begin(), order.end(), is_weak)) std::erase_if(order, is_weak);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const ClusterRecord &x = study.clusters[a], &y = study.clusters[b];
    if (smallest && x.gpus != y.gpus) return x.gpus < y.gpus;
    const bool past_x = beyond_knee(study, x), past_y = beyond_knee(study, y);
    if (!smallest && past_x != past_y) return past_y;
    if (rate_of(x) != rate_of(y)) return rate_of(x) > rate_of(y);
    return cost_of(x) < cost_of(y);
  });
  return order;
}

std::string price_sentence(const ClusterRecord& other, double ratio) {
  if (std::abs(ratio - 1) < 0.005) return fmt::format("{} costs the same per token", title_of(other));
  return fmt::format("{} costs {:.2f} times as much per token; at {:.0f} % of its price both cost the same",
                     title_of(other), ratio, 100 / ratio);
}

// The first of other hosts or another variant, which is more of a choice than some GPUs more.
std::size_t runner_up_of(const Study& study, const std::vector<std::size_t>& order) {
  const ClusterRecord& best = study.clusters[order.front()];
  const auto other = std::find_if(order.begin() + 1, order.end(), [&](std::size_t i) {
    return study.clusters[i].name != best.name || study.clusters[i].variant != best.variant;
  });
  return other != order.end() ? *other : order[1];
}

// The smallest need not be the cheapest: GPUs differ in price.
void add_cheapest(Study& study, const std::vector<std::size_t>& order) {
  const auto cost = [&](std::size_t i) { return study.clusters[i].figures.front().cost; };
  std::optional<std::size_t> cheapest;
  for (const std::size_t i : order)
    if (cost(i) && (!cheapest || *cost(i) < *cost(*cheapest))) cheapest = i;
  if (!cheapest || *cheapest == order.front() || !cost(order.front())) return;
  study.changes.push_back(
      fmt::format("{} keeps them too and costs least: {:.2f} times as much as the recommended, in {}",
                  title_of(study.clusters[*cheapest]), *cost(*cheapest) / *cost(order.front()),
                  duration_text(study.clusters[*cheapest].figures.front().train_s.value_or(0))));
}

// Whether a smaller one would do was tried, down to the next size that divides evenly.
void add_next_smaller(Study& study) {
  if (!study.best) return;
  const ClusterRecord& best = study.clusters[*study.best];
  for (std::size_t i = *study.best; i-- > 0;) {
    const ClusterRecord& c = study.clusters[i];
    if (c.name != best.name || c.variant != best.variant || c.scaling != best.scaling) continue;
    study.changes.push_back(fmt::format("{}, the next smaller size tried, {}", title_of(c),
                                        c.why_not.empty() ? "keeps the goal too" : c.why_not));
    return;
  }
}

// What is between the first and the second.
void add_changes(Study& study) {
  if (!study.best) return;
  const ClusterRecord& best = study.clusters[*study.best];
  const auto& ranked = best.search.ranked;
  // As good as equal are the same layout with its ranks in another order.
  const auto second = std::find_if(ranked.begin(), ranked.end(), [&](const LayoutRecord& l) {
    return l.figures.step_s > ranked[0].figures.step_s * (1 + kSameStep);
  });
  if (second != ranked.end()) {
    const double margin = second->figures.step_s / ranked[0].figures.step_s - 1;
    study.changes.push_back(fmt::format("the next layout ({}) is {:.1f} % slower: {}", second->layout,
                                        100 * margin,
                                        margin < 0.07 ? "within the model's usual error, so measure both"
                                                      : "further behind than the model's usual error"));
  }
  if (best.search.open > 0)
    study.changes.push_back(fmt::format(
        "{} not simulated though the bound is below the best step: more "
        "simulations (search.simulate) could find a faster one",
        best.search.open == 1 ? "1 layout was" : fmt::format("{} layouts were", best.search.open)));
  if (!study.runner_up) return;
  const ClusterRecord& other = study.clusters[*study.runner_up];
  const PlanFigures &a = best.figures.front(), &b = other.figures.front();
  if (a.cost_per_1e12_tokens && b.cost_per_1e12_tokens && *b.cost_per_1e12_tokens > 0)
    study.changes.push_back(price_sentence(other, *b.cost_per_1e12_tokens / *a.cost_per_1e12_tokens));
  for (const ScalingCurve& curve : study.curves)
    if (curve.knee)
      study.changes.push_back(
          fmt::format("{} ({} scaling): beyond {} GPUs each added GPU brings less than half of what "
                      "those of the smallest cluster do",
                      curve.name, curve.scaling, *curve.knee));
}

void add_risks(Study& study) {
  if (!study.best) return;
  const ClusterRecord& best = study.clusters[*study.best];
  const PlanFigures& f = best.figures.front();
  const StepFigures& s = best.search.ranked.front().figures;
  if (f.headroom_bytes < 0.1 * best.search.capacity_bytes)
    study.risks.push_back(
        fmt::format("only {:.1f} GB of the GPU's memory stay free; the memory model's median error is "
                    "7.5 % (docs/validate.md)",
                    f.headroom_bytes / 1e9));
  if (s.exposed_s > 0.15 * s.step_s)
    study.risks.push_back(
        fmt::format("{:.0f} % of the step waits for the network: congestion that is not modelled costs "
                    "most here",
                    100 * s.exposed_s / s.step_s));
  if (s.bubble_s > 0.15 * s.step_s)
    study.risks.push_back(fmt::format("{:.0f} % of the step is pipeline bubble: a slow stage shows at once",
                                      100 * s.bubble_s / s.step_s));
  if (f.failures && f.failures->spares < f.failures->spares_needed)
    study.risks.push_back(
        fmt::format("{} of the {} spare hosts that it takes so that with 99 % none is missing",
                    f.failures->spares, f.failures->spares_needed));
  if (f.failures && f.goodput < 0.9)
    study.risks.push_back(
        fmt::format("failures and checkpoints take {:.0f} % of the time", 100 * (1 - f.goodput)));
  study.risks.emplace_back(
      "steps are predicted with a median error of 6.9 %, one in ten is more than 24 % off "
      "(docs/validate.md)");
}

void add_assumptions(Study& study, const StudySpec& spec) {
  const auto add = [&](std::string what, std::string value, const char* origin, std::string source) {
    study.assumptions.push_back({std::move(what), std::move(value), origin, std::move(source)});
  };
  add("framework", std::string(spec.base.framework->name), "assumed", std::string(spec.base.framework->help));
  if (spec.tokens) add("tokens", fmt::format("{:.4g} billion", *spec.tokens / 1e9), "assumed", "the study");
  for (const ClusterSpec& c : spec.clusters) {
    const Prices& p = c.prices;
    if (p.gpu_hour)
      add(c.name + ": price", fmt::format("{} {} per GPU-hour", *p.gpu_hour, p.currency), "assumed",
          "the study");
    if (p.host)
      add(c.name + ": price of a host", fmt::format("{} {}", *p.host, p.currency), "assumed", "the study");
    if (p.port)
      add(c.name + ": price of a port", fmt::format("{} {}", *p.port, p.currency), "assumed", "the study");
    if (p.host || p.port)
      add(c.name + ": lifetime", duration_text(p.lifetime_s), "assumed", "the study, or 4 years");
    if (p.host_watts)
      add(c.name + ": power",
          fmt::format("{:.4g} kW per host, times {} for all around it", *p.host_watts / 1e3, p.power_usage),
          "assumed", "the study");
  }
  add("memory that layouts may fill", fmt::format("{:.0f} %", 100 * spec.constraints.usable_memory),
      "assumed",
      "the study, or 90 %, for what the memory model was off by in published jobs (docs/planning.md)");
  const FailureSpec& f = spec.failures;
  if (!f.given()) {
    add("failures", "none: days and cost are those of a run without failures and checkpoints", "assumed",
        "the study has no \"failures\"");
  } else {
    add("restart after a failure", duration_text(f.restart_s), "assumed", "the study, or 10 min");
    if (f.repair_s > 0)
      add("repair of a host", fmt::format("{}, {} hosts stand by", duration_text(f.repair_s), f.spares),
          "assumed", "the study");
  }
  if (f.gpu_mtbf_s)
    add("time between failures", duration_text(*f.gpu_mtbf_s) + " per GPU", "assumed", "the study");
  if (f.storage_Bps) {
    add("storage", fmt::format("{:.3g} GB/s", *f.storage_Bps / 1e9), "assumed", "the study");
    if (!f.checkpoint_bytes)
      add("checkpoint", fmt::format("{} B per parameter", f.bytes_per_parameter.value_or(12)), "assumed",
          f.bytes_per_parameter ? "the study" : "fp32 parameters and AdamW's two moments");
  }
}

std::string mark_of(const std::string& origin) {
  if (origin == "measured") return origin;
  return origin == "fitted" || origin == "derived" ? "fitted" : "assumed";
}

// Sentences of a step say of their numbers where these come from.
std::string mark_of_sentence(const std::string& sentence) {
  for (const char* mark : {"fitted", "measured"})
    if (sentence.find(mark) != std::string::npos) return mark;
  return "assumed";
}

// What the recommended step rests on, and its warnings. A step beyond the limit on operations is told by its
// short one.
void add_remarks(Study& study, const SearchProblem& problem, const Workload& workload,
                 const std::optional<ShortSteps>& steps) {
  const auto run_of = [&](const Workload& w) {
    return simulate(*problem.topology, expand(w), *problem.profile, {});
  };
  RunResult run;
  try {
    run = run_of(workload);
  } catch (const Error&) {
    if (!steps) throw;
    run = run_of(steps->last);
  }
  for (const std::string& sentence : run.assumptions)
    study.assumptions.push_back(
        {"the recommended layout", sentence, mark_of_sentence(sentence), "docs/model.md"});
  for (const ParameterRecord& p : run.parameters)
    study.assumptions.push_back({p.name, p.value, mark_of(p.origin), p.source});
  for (const Warning& warning : run.warnings) study.risks.push_back(warning.text);
}

void add_sensitivity(Study& study, const SearchProblem& problem, const Workload& workload,
                     const std::optional<ShortSteps>& steps) {
  const Workload& shown = steps ? steps->last : workload;
  const StepTrace trace = expand(shown), before = steps ? expand(steps->before) : StepTrace{};
  StudiedStep step{.topology = problem.topology,
                   .trace = &trace,
                   .profile = problem.profile,
                   .options = {},
                   .workload = &shown,
                   .repeated = {}};
  if (steps)
    step.repeated = {.shorter = &before, .rounds = steps->rounds, .global_batch = workload.batch.global};
  study.sensitivity = sensitivity(step);
}

void add_recommended(Study& study, const std::vector<const SearchProblem*>& problems) {
  if (!study.best) return;
  const LayoutRecord& best = study.clusters[*study.best].search.ranked.front();
  const SearchProblem& problem = *problems[*study.best];
  std::array<std::int64_t, kCandidateNumbers> numbers{};
  std::copy_n(best.numbers.begin(), kCandidateNumbers, numbers.begin());
  const Workload workload = workload_of(problem.base, candidate_of(numbers));
  const auto steps = short_steps(*problem.topology, *problem.profile, workload);
  add_remarks(study, problem, workload, steps);
  add_sensitivity(study, problem, workload, steps);
}

}  // namespace

std::vector<FrontPoint> pareto_front(const std::vector<ClusterRecord>& clusters) {
  std::vector<std::pair<Axes, FrontPoint>> all;
  for (std::size_t c = 0; c < clusters.size(); ++c)
    for (std::size_t l = 0; l < clusters[c].figures.size(); ++l)
      all.push_back({axes_of(clusters[c], l), {c, l}});
  std::vector<FrontPoint> front;
  for (const auto& candidate : all) {
    const auto better = [&](const auto& other) { return beats(other.first, candidate.first); };
    if (std::none_of(all.begin(), all.end(), better)) front.push_back(candidate.second);
  }
  std::stable_sort(front.begin(), front.end(), [&](const FrontPoint& a, const FrontPoint& b) {
    return axes_of(clusters[a.cluster], a.layout) < axes_of(clusters[b.cluster], b.layout);
  });
  std::vector<FrontPoint> kept;
  for (const FrontPoint& p : front) {
    const Axes axes = axes_of(clusters[p.cluster], p.layout);
    const auto twin = std::find_if(kept.begin(), kept.end(), [&](const FrontPoint& k) {
      return k.cluster == p.cluster && is_same(axes, axes_of(clusters[k.cluster], k.layout));
    });
    if (twin == kept.end())
      kept.push_back(p);
    else
      ++twin->alike;
  }
  return kept;
}

void summarise(Study& study, const StudySpec& spec, const std::vector<const SearchProblem*>& problems) {
  const bool smallest = spec.constraints.deadline_s || spec.constraints.budget;
  study.objective = smallest
                        ? "the smallest cluster that keeps deadline and budget, between the listed sizes too"
                        : "the fastest cluster whose last GPUs still bring half of what they could";
  const std::vector<std::size_t> order = ranking(study, smallest);
  if (!order.empty()) study.best = order.front();
  if (order.size() > 1) study.runner_up = runner_up_of(study, order);
  if (smallest) add_next_smaller(study);
  if (smallest) add_cheapest(study, order);
  study.front = pareto_front(study.clusters);
  add_changes(study);
  add_risks(study);
  add_assumptions(study, spec);
  add_recommended(study, problems);
}

}  // namespace busbar
