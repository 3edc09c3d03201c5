#include "reports/plan_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"

namespace busbar {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

using enum Align;

std::string exact(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }
CellModel none() { return {"-", ""}; }
CellModel duration_cell(double seconds) { return {time_text(seconds), exact(seconds)}; }
CellModel gigabytes_cell(double bytes) { return {gigabytes(bytes), exact(bytes)}; }
CellModel scaled_cell(double amount) { return {scaled_text(amount), exact(amount)}; }
CellModel money_cell(double amount, const std::string& currency) {
  return {money_text(amount, currency), exact(amount)};
}

template <class Cell>
CellModel shown(const std::optional<double>& value, Cell cell) {
  return value ? cell(*value) : none();
}

std::string sentence_of(const Study& study, std::size_t number) {
  const ClusterRecord& c = study.clusters[number];
  const LayoutRecord& layout = c.search.ranked.front();
  const PlanFigures& f = c.figures.front();
  std::string text = fmt::format("{}: {}; a step of {}, {} tokens/s", title_of(c), layout.layout,
                                 time_text(f.step_s), scaled_text(f.tokens_per_s));
  if (f.mfu) text += fmt::format(", MFU {}", percent(*f.mfu));
  text += fmt::format(", {} of memory", gigabytes(f.memory_bytes));
  if (f.failures) text += fmt::format(", goodput {}", percent(f.goodput));
  if (f.train_s) text += fmt::format("; {} for {} tokens", time_text(*f.train_s), scaled_text(*study.tokens));
  if (f.gpu_hours) text += fmt::format(", {} GPU-hours", scaled_text(*f.gpu_hours));
  if (f.spare_gpu_hours) text += fmt::format(" and {} of spare hosts", scaled_text(*f.spare_gpu_hours));
  if (f.cost) text += ", " + money_text(*f.cost, study.currency);
  return text;
}

}  // namespace

std::string scaled_text(double amount) {
  static constexpr std::pair<double, const char*> kSteps[] = {
      {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [size, name] : kSteps)
    if (std::abs(amount) >= size) return fmt::format("{:.3g}{}", amount / size, name);
  return fmt::format("{:.3g}", amount);
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.3g} h", seconds / 3600);
  constexpr double kDay = 86400;
  if (seconds < 1000 * kDay) return fmt::format("{:.1f} d", seconds / kDay);
  return fmt::format("{:.3g} years", seconds / (365 * kDay));
}

std::string money_text(double amount, const std::string& currency) {
  return scaled_text(amount) + " " + currency;
}

std::vector<std::string> recommendation(const Study& study) {
  std::vector<std::string> lines;
  if (!study.best) {
    lines.push_back("Nothing qualifies.");
    const ClusterRecord* closest = nullptr;
    for (const ClusterRecord& c : study.clusters)
      if (c.misses && (closest == nullptr || *c.misses < *closest->misses)) closest = &c;
    if (closest != nullptr)
      lines.push_back(fmt::format("The closest is {}: {}", title_of(*closest), printable(closest->why_not)));
    for (const ClusterRecord& c : study.clusters)
      if (&c != closest) lines.push_back(fmt::format("{}: {}", title_of(c), printable(c.why_not)));
    return lines;
  }
  lines.push_back(fmt::format("Recommended ({}): {}", study.objective, sentence_of(study, *study.best)));
  if (study.runner_up) lines.push_back("Runner-up: " + sentence_of(study, *study.runner_up));
  for (const std::string& change : study.changes)
    lines.push_back("What would change it: " + printable(change));
  for (const std::string& risk : study.risks) lines.push_back("Risk: " + printable(risk));
  return lines;
}

RecordTable clusters_section(const Study& study) {
  RecordTable t{.name = "clusters",
                .title = "Clusters, each with its best layout",
                .columns = {{"cluster", "", kLeft},
                            {"step", "s"},
                            {"tokens/s/GPU", ""},
                            {"MFU", "share"},
                            {"memory free", "bytes"},
                            {"goodput", "share"},
                            {"time", "s"},
                            {"GPU-hours", ""},
                            {"cost", study.currency},
                            {"energy", "J"},
                            {"layout", "", kLeft}},
                .rows = {}};
  for (const ClusterRecord& c : study.clusters) {
    if (!c.has_layout()) {
      t.rows.push_back({name_cell(title_of(c)), {}, {}, {}, {}, {}, {}, {}, {}, {}, name_cell(c.why_not)});
      continue;
    }
    const PlanFigures& f = c.figures.front();
    t.rows.push_back(
        {name_cell(title_of(c)),
         duration_cell(f.step_s),
         {fmt::format("{:.0f}", f.tokens_per_s_gpu), exact(f.tokens_per_s_gpu)},
         shown(f.mfu, share_cell),
         gigabytes_cell(f.headroom_bytes),
         f.failures ? share_cell(f.goodput) : none(),
         shown(f.train_s, duration_cell),
         shown(f.gpu_hours, scaled_cell),
         shown(f.cost, [&](double v) { return money_cell(v, study.currency); }),
         shown(f.energy_j,
               [](double j) {
                 return CellModel{scaled_text(j / 3600) + "Wh", exact(j)};
               }),
         name_cell(c.search.ranked.front().layout + (c.why_not.empty() ? "" : " (" + c.why_not + ")"))});
  }
  return t;
}

// None of the study is better in time, memory and cost together.
static bool is_on_front(const Study& study, const ClusterRecord& c, std::size_t layout) {
  return std::any_of(study.front.begin(), study.front.end(), [&](const FrontPoint& p) {
    return &study.clusters[p.cluster] == &c && p.layout == layout;
  });
}

RecordTable layouts_section(const Study& study, const ClusterRecord& c, std::size_t top) {
  RecordTable t{.name = "layouts",
                .title = fmt::format("Layouts on {}: {} enumerated, {} screened, {} simulated", title_of(c),
                                     c.search.enumerated, c.search.screened, c.search.simulated),
                .columns = {{"step", "s"},
                            {"screened", "s"},
                            {"bound", "s"},
                            {"MFU", "share"},
                            {"compute", "share"},
                            {"exposed", "share"},
                            {"bubble", "share"},
                            {"memory", "bytes"},
                            {"per 1e12 tokens", study.currency},
                            {"front", "", kLeft},
                            {"layout", "", kLeft}},
                .rows = {}};
  for (std::size_t i = 0; i < std::min(top, c.search.ranked.size()); ++i) {
    const LayoutRecord& l = c.search.ranked[i];
    const StepFigures& f = l.figures;
    t.rows.push_back(
        {duration_cell(f.step_s), duration_cell(l.expected_s), duration_cell(l.least_s),
         shown(c.figures[i].mfu, share_cell), share_cell(f.compute_s / f.step_s),
         share_cell(f.exposed_s / f.step_s), share_cell(f.bubble_s / f.step_s),
         gigabytes_cell(f.memory_bytes()),
         shown(c.figures[i].cost_per_1e12_tokens, [&](double v) { return money_cell(v, study.currency); }),
         name_cell(is_on_front(study, c, i) ? "*" : ""), name_cell(l.layout)});
  }
  return t;
}

RecordTable exclusions_section(const ClusterRecord& c) {
  RecordTable t{.name = "exclusions",
                .title = fmt::format("Left out on {}: {} layouts", title_of(c), c.search.excluded),
                .columns = {{"layouts", ""}, {"reason", "", kLeft}, {"one of them", "", kLeft}},
                .rows = {}};
  for (const ExclusionRecord& e : c.search.exclusions)
    t.rows.push_back({count_cell(e.count), name_cell(e.reason), name_cell(e.example)});
  return t;
}

RecordTable front_section(const Study& study) {
  RecordTable t{.name = "front",
                .title = "No other layout is faster, smaller and cheaper at once",
                .columns = {{"cluster", "", kLeft},
                            {"tokens/s", ""},
                            {"memory", "bytes"},
                            {"per 1e12 tokens", study.currency.empty() ? "GPU-hours" : study.currency},
                            {"layout", "", kLeft}},
                .rows = {}};
  for (const FrontPoint& p : study.front) {
    const ClusterRecord& c = study.clusters[p.cluster];
    const PlanFigures& f = c.figures[p.layout];
    const double gpu_hours = static_cast<double>(c.gpus) * 1e12 / f.tokens_per_s / 3600;
    t.rows.push_back({name_cell(title_of(c)), scaled_cell(f.tokens_per_s), gigabytes_cell(f.memory_bytes),
                      f.cost_per_1e12_tokens
                          ? money_cell(*f.cost_per_1e12_tokens, study.currency)
                          : CellModel{scaled_text(gpu_hours) + " GPU-hours", exact(gpu_hours)},
                      name_cell(c.search.ranked[p.layout].layout +
                                (p.alike > 0 ? fmt::format(" (and {} alike)", p.alike) : ""))});
  }
  return t;
}

RecordTable scaling_section(const ScalingCurve& curve) {
  RecordTable t{
      .name = "scaling",
      .title = fmt::format("{} scaling of {}{}", curve.scaling == "weak" ? "Weak" : "Strong",
                           printable(curve.name),
                           curve.knee ? fmt::format(": the knee is at {} GPUs", *curve.knee)
                                      : fmt::format(": no knee up to {} GPUs", curve.points.back().gpus)),
      .columns = {{"GPUs", ""}, {"tokens/s", ""}, {"efficiency", "share"}, {"of the GPUs added", "share"}},
      .rows = {}};
  for (const ScalingPoint& p : curve.points)
    t.rows.push_back({count_cell(p.gpus), scaled_cell(p.tokens_per_s), share_cell(p.efficiency),
                      shown(p.marginal, share_cell)});
  return t;
}

RecordTable goodput_section(const Study& study, const ClusterRecord& c) {
  RecordTable t{.name = "goodput",
                .title = fmt::format("Failures and checkpoints on {}", title_of(c)),
                .columns = {{"figure", "", kLeft}, {"value", ""}},
                .rows = {}};
  if (!c.has_layout() || !c.figures.front().failures) return t;
  const GoodputRecord& g = *c.figures.front().failures;
  const auto add = [&](const char* what, CellModel value) {
    t.rows.push_back({name_cell(what), std::move(value)});
  };
  add("mean time between failures", g.mtbf_s > 0 ? duration_cell(g.mtbf_s) : CellModel{"not given", ""});
  add("checkpoint", gigabytes_cell(g.checkpoint_bytes));
  add("training stalls for", duration_cell(g.stall_s));
  add("until it is written", duration_cell(g.write_s));
  add("best interval by Young", duration_cell(g.young_s));
  add("by Daly", duration_cell(g.daly_s));
  add("by simulation", duration_cell(g.simulated_s));
  add("interval taken", duration_cell(g.interval_s));
  add("stalled without failures", share_cell(g.stall_share));
  add("goodput by Daly's model", share_cell(g.expected));
  add("goodput by simulation", share_cell(g.simulated));
  add("of the time without enough hosts", share_cell(g.waiting));
  add("spare hosts", count_cell(g.spares));
  const PlanFigures& f = c.figures.front();
  if (f.spare_gpu_hours)
    add("GPU-hours of spare hosts, beside those that train", scaled_cell(*f.spare_gpu_hours));
  if (f.spare_cost) add("cost of spare hosts, in the cost", money_cell(*f.spare_cost, study.currency));
  if (f.spare_energy_j)
    add("energy of spare hosts, in the energy",
        {scaled_text(*f.spare_energy_j / 3600) + "Wh", exact(*f.spare_energy_j)});
  add("spare hosts for 99 %", count_cell(g.spares_needed));
  return t;
}

std::vector<RecordTable> plan_shapes() {
  return {layouts_section({}, {}, 0), exclusions_section({}), scaling_section({.knee = 0})};
}

RecordTable assumptions_section(const Study& study) {
  RecordTable t{
      .name = "assumptions",
      .title = "Assumptions",
      .columns = {{"what", "", kLeft}, {"value", "", kLeft}, {"origin", "", kLeft}, {"source", "", kLeft}},
      .rows = {}};
  for (const Assumption& a : study.assumptions)
    t.rows.push_back({name_cell(a.what), name_cell(a.value), name_cell(a.origin), name_cell(a.source)});
  return t;
}

}  // namespace busbar
