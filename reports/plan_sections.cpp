#include "reports/plan_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

// "1.72 M".
std::string scaled(double amount) {
  static constexpr std::pair<double, const char*> kSteps[] = {
      {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [size, name] : kSteps)
    if (std::abs(amount) >= size) return fmt::format("{:.3g}{}", amount / size, name);
  return fmt::format("{:.3g}", amount);
}

template <class Text>
std::string shown(const std::optional<double>& value, Text text) {
  return value ? text(*value) : std::string("-");
}

std::string sentence_of(const Study& study, std::size_t number) {
  const ClusterRecord& c = study.clusters[number];
  const LayoutRecord& layout = c.search.ranked.front();
  const PlanFigures& f = c.figures.front();
  std::string text = fmt::format("{}: {}; a step of {}, {} tokens/s", title_of(c), layout.layout,
                                 time_text(f.step_s), scaled(f.tokens_per_s));
  if (f.mfu) text += fmt::format(", MFU {}", percent(*f.mfu));
  text += fmt::format(", {} of memory", gigabytes(f.memory_bytes));
  if (f.failures) text += fmt::format(", goodput {}", percent(f.goodput));
  if (f.train_s) text += fmt::format("; {} for {} tokens", time_text(*f.train_s), scaled(*study.tokens));
  if (f.gpu_hours) text += fmt::format(", {} GPU-hours", scaled(*f.gpu_hours));
  if (f.spare_gpu_hours) text += fmt::format(" and {} of spare hosts", scaled(*f.spare_gpu_hours));
  if (f.cost) text += ", " + money_text(*f.cost, study.currency);
  return text;
}

}  // namespace

std::string title_of(const ClusterRecord& c) {
  std::string text = fmt::format("{} GPUs of {}", c.gpus, printable(c.name));
  if (!c.variant.empty()) text += ", " + printable(c.variant);
  if (c.scaling == "weak") text += fmt::format(" (weak scaling, batch {})", c.global_batch);
  return text;
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.3g} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

std::string money_text(double amount, const std::string& currency) { return scaled(amount) + " " + currency; }

std::vector<std::string> recommendation(const Study& study) {
  std::vector<std::string> lines;
  if (!study.best) {
    lines.push_back("Nothing qualifies.");
    for (const ClusterRecord& c : study.clusters)
      lines.push_back(fmt::format("{}: {}", title_of(c), c.why_not));
    return lines;
  }
  lines.push_back(fmt::format("Recommended ({}): {}", study.objective, sentence_of(study, *study.best)));
  if (study.runner_up) lines.push_back("Runner-up: " + sentence_of(study, *study.runner_up));
  for (const std::string& change : study.changes)
    lines.push_back("What would change it: " + printable(change));
  for (const std::string& risk : study.risks) lines.push_back("Risk: " + printable(risk));
  return lines;
}

Section clusters_section(const Study& study) {
  using enum Align;
  Section s{.title = "Clusters, each with its best layout",
            .align = {kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kRight, kRight, kRight, kLeft},
            .rows = {{"cluster", "step", "tokens/s/GPU", "MFU", "memory free", "goodput", "time", "GPU-hours",
                      "cost", "energy", "layout"}}};
  for (const ClusterRecord& c : study.clusters) {
    if (!c.has_layout()) {
      s.rows.push_back({title_of(c), "", "", "", "", "", "", "", "", "", c.why_not});
      continue;
    }
    const PlanFigures& f = c.figures.front();
    s.rows.push_back(
        {title_of(c), time_text(f.step_s), fmt::format("{:.0f}", f.tokens_per_s_gpu), shown(f.mfu, percent),
         gigabytes(f.headroom_bytes), f.failures ? percent(f.goodput) : "-", shown(f.train_s, time_text),
         shown(f.gpu_hours, scaled), shown(f.cost, [&](double v) { return money_text(v, study.currency); }),
         shown(f.energy_j, [](double joules) { return scaled(joules / 3600) + "Wh"; }),
         c.search.ranked.front().layout + (c.why_not.empty() ? "" : " (" + c.why_not + ")")});
  }
  return s;
}

Section layouts_section(const Study& study, const ClusterRecord& c, std::size_t top) {
  using enum Align;
  Section s{.title = fmt::format("Layouts on {}: {} enumerated, {} screened, {} simulated", title_of(c),
                                 c.search.enumerated, c.search.screened, c.search.simulated),
            .align = {kRight, kRight, kRight, kRight, kRight, kRight, kRight, kRight, kRight, kLeft, kLeft},
            .rows = {{"step", "screened", "bound", "MFU", "compute", "exposed", "bubble", "memory",
                      "per 1e12 tokens", "front", "layout"}}};
  for (std::size_t i = 0; i < std::min(top, c.search.ranked.size()); ++i) {
    const LayoutRecord& l = c.search.ranked[i];
    const StepFigures& f = l.figures;
    s.rows.push_back(
        {time_text(f.step_s), time_text(l.expected_s), time_text(l.least_s), shown(c.figures[i].mfu, percent),
         percent(f.compute_s / f.step_s), percent(f.exposed_s / f.step_s), percent(f.bubble_s / f.step_s),
         gigabytes(f.memory_bytes()),
         shown(c.figures[i].cost_per_1e12_tokens, [&](double v) { return money_text(v, study.currency); }),
         l.on_front ? "*" : "", l.layout});
  }
  return s;
}

Section exclusions_section(const ClusterRecord& c) {
  using enum Align;
  Section s{.title = fmt::format("Left out on {}: {} layouts", title_of(c), c.search.excluded),
            .align = {kRight, kLeft, kLeft},
            .rows = {{"layouts", "reason", "one of them"}}};
  for (const ExclusionRecord& e : c.search.exclusions)
    s.rows.push_back({fmt::format("{}", e.count), printable(e.reason), printable(e.example)});
  return s;
}

Section front_section(const Study& study) {
  using enum Align;
  Section s{.title = "No other layout is faster, smaller and cheaper at once",
            .align = {kLeft, kRight, kRight, kRight, kLeft},
            .rows = {{"cluster", "tokens/s", "memory", "per 1e12 tokens", "layout"}}};
  for (const FrontPoint& p : study.front) {
    const ClusterRecord& c = study.clusters[p.cluster];
    const PlanFigures& f = c.figures[p.layout];
    s.rows.push_back(
        {title_of(c), scaled(f.tokens_per_s), gigabytes(f.memory_bytes),
         f.cost_per_1e12_tokens
             ? money_text(*f.cost_per_1e12_tokens, study.currency)
             : scaled(static_cast<double>(c.gpus) * 1e12 / f.tokens_per_s / 3600) + " GPU-hours",
         c.search.ranked[p.layout].layout + (p.alike > 0 ? fmt::format(" (and {} alike)", p.alike) : "")});
  }
  return s;
}

Section scaling_section(const ScalingCurve& curve) {
  using enum Align;
  Section s{.title = fmt::format(
                "{} scaling of {}{}", curve.scaling == "weak" ? "Weak" : "Strong", printable(curve.name),
                curve.knee ? fmt::format(": the knee is at {} GPUs", *curve.knee)
                           : fmt::format(": no knee up to {} GPUs", curve.points.back().gpus)),
            .align = {kRight, kRight, kRight, kRight},
            .rows = {{"GPUs", "tokens/s", "efficiency", "of the GPUs added"}}};
  for (const ScalingPoint& p : curve.points)
    s.rows.push_back({fmt::format("{}", p.gpus), scaled(p.tokens_per_s), percent(p.efficiency),
                      shown(p.marginal, percent)});
  return s;
}

Section goodput_section(const ClusterRecord& c) {
  using enum Align;
  Section s{.title = fmt::format("Failures and checkpoints on {}", title_of(c)),
            .align = {kLeft, kRight},
            .rows = {{"", ""}}};
  if (!c.has_layout() || !c.figures.front().failures) return s;
  const GoodputRecord& g = *c.figures.front().failures;
  const auto add = [&](const char* what, std::string value) { s.rows.push_back({what, std::move(value)}); };
  add("mean time between failures", g.mtbf_s > 0 ? time_text(g.mtbf_s) : "not given");
  add("checkpoint", gigabytes(g.checkpoint_bytes));
  add("training stalls for", time_text(g.stall_s));
  add("until it is written", time_text(g.write_s));
  add("best interval by Young", time_text(g.young_s));
  add("by Daly", time_text(g.daly_s));
  add("by simulation", time_text(g.simulated_s));
  add("interval taken", time_text(g.interval_s));
  add("stalled without failures", percent(g.stall_share));
  add("goodput by Daly's model", percent(g.expected));
  add("goodput by simulation", percent(g.simulated));
  add("of the time without enough hosts", percent(g.waiting));
  add("spare hosts", fmt::format("{}", g.spares));
  const PlanFigures& f = c.figures.front();
  if (f.spare_gpu_hours) add("GPU-hours of spare hosts, beside those that train", scaled(*f.spare_gpu_hours));
  if (f.spare_cost) add("cost of spare hosts, in the cost", scaled(*f.spare_cost));
  if (f.spare_energy_j) add("energy of spare hosts, in the energy", scaled(*f.spare_energy_j / 3600) + "Wh");
  add("spare hosts for 99 %", fmt::format("{}", g.spares_needed));
  return s;
}

Section assumptions_section(const Study& study) {
  using enum Align;
  Section s{.title = "Assumptions",
            .align = {kLeft, kLeft, kLeft, kLeft},
            .rows = {{"what", "value", "origin", "source"}}};
  for (const Assumption& a : study.assumptions)
    s.rows.push_back({printable(a.what), printable(a.value), a.origin, printable(a.source)});
  return s;
}

}  // namespace busbar
