#include "reports/plan_report.h"

#include <fmt/format.h>

#include "reports/plan_sections.h"
#include "reports/sensitivity_report.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

std::string heading(const Study& study) {
  std::string text =
      fmt::format("{}: {} ({:.3g} parameters), sequence {}, global batch {}", printable(study.name),
                  printable(study.model), study.parameters, study.sequence, study.global_batch);
  if (study.tokens) text += fmt::format(", {:.3g} tokens", *study.tokens);
  return text;
}

bool has_failures(const ClusterRecord& c) { return c.has_layout() && c.figures.front().failures.has_value(); }

std::vector<Section> sections(const Study& study, std::size_t top, bool all) {
  std::vector<Section> list = {clusters_section(study)};
  for (const ScalingCurve& curve : study.curves) list.push_back(scaling_section(curve));
  for (std::size_t i = 0; i < study.clusters.size(); ++i) {
    if (!all && i != study.best.value_or(0)) continue;
    const ClusterRecord& c = study.clusters[i];
    if (c.has_layout()) list.push_back(layouts_section(study, c, top));
    if (has_failures(c)) list.push_back(goodput_section(c));
    list.push_back(exclusions_section(c));
  }
  if (study.best) list.push_back(front_section(study));
  if (!study.sensitivity.empty()) list.push_back(sensitivity_section(study.sensitivity));
  if (all) list.push_back(assumptions_section(study));
  return list;
}

std::string effort(const Study& study) {
  std::int64_t looked_at = 0;
  double screening = 0;
  for (const ClusterRecord& c : study.clusters) {
    looked_at += c.search.enumerated;
    screening += c.search.screen_seconds;
  }
  return fmt::format(
      "{} layouts looked at in {:.1f} s; {} steps simulated, {} taken from earlier studies; {:.1f} s in all",
      looked_at, screening, study.simulated, study.reused, study.wall_s);
}

}  // namespace

std::string plan_text(const Study& study, std::size_t top) {
  std::string text = heading(study) + "\n";
  for (const std::string& line : recommendation(study)) text += "\n  " + line;
  text += "\n";
  for (const Section& section : sections(study, top, false)) text += section_text(section);
  return text + "\n" + effort(study) + "\n";
}

std::string plan_markdown(const Study& study, std::size_t top) {
  std::string text = fmt::format("# {}\n\n{}\n\n## In short\n\n", printable(study.name), heading(study));
  for (const std::string& line : recommendation(study)) text += "- " + line + "\n";
  text += "\n## In detail\n";
  for (const Section& section : sections(study, top, true)) text += section_markdown(section);
  return text + "\n" + effort(study) + "\n";
}

std::string plan_csv(const Study& study) {
  std::string text =
      "cluster,variant,scaling,gpus,hosts,global_batch,layout,step_s,screened_s,bound_s,tokens_per_s,mfu,"
      "compute_s,"
      "exposed_s,bubble_s,wait_s,idle_s,memory_bytes,goodput,train_s,gpu_hours,cost,cost_per_1e12_tokens,"
      "energy_j,spare_gpu_hours,spare_cost,spare_energy_j,"
      "constraint\n";
  const auto number = [](const std::optional<double>& v) {
    return v ? fmt::format("{:.9g}", *v) : std::string();
  };
  for (const ClusterRecord& c : study.clusters)
    for (std::size_t i = 0; i < c.search.ranked.size(); ++i) {
      const LayoutRecord& l = c.search.ranked[i];
      const StepFigures& s = l.figures;
      const PlanFigures& f = c.figures[i];
      text += fmt::format(
          "{},{},{},{},{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.0f},{},"
          "{},{},{},{},"
          "{},{},{},{},{}\n",
          csv_cell(c.name), csv_cell(c.variant), c.scaling, c.gpus, c.hosts, c.global_batch,
          csv_cell(l.layout), s.step_s, l.expected_s, l.least_s, f.tokens_per_s, number(f.mfu), s.compute_s,
          s.exposed_s, s.bubble_s, s.wait_s, s.idle_s, s.memory_bytes(),
          f.failures ? fmt::format("{:.6g}", f.goodput) : "", number(f.train_s), number(f.gpu_hours),
          number(f.cost), number(f.cost_per_1e12_tokens), number(f.energy_j), number(f.spare_gpu_hours),
          number(f.spare_cost), number(f.spare_energy_j), csv_cell(c.why_not));
    }
  return text;
}

}  // namespace busbar
