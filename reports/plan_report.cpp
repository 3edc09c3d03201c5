#include "reports/plan_report.h"

#include <fmt/format.h>

#include "reports/plan_sections.h"
#include "reports/sensitivity_report.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

std::string heading(const Study& study) {
  std::string text =
      fmt::format("{}: {} ({} parameters), sequence {}, global batch {}", printable(study.name),
                  printable(study.model), scaled_text(study.parameters), study.sequence, study.global_batch);
  if (study.tokens) text += fmt::format(", {} tokens", scaled_text(*study.tokens));
  return text;
}

bool has_failures(const ClusterRecord& c) { return c.has_layout() && c.figures.front().failures.has_value(); }

std::vector<RecordTable> sections(const Study& study, std::size_t top, bool all) {
  std::vector<RecordTable> list = {clusters_section(study)};
  for (const ScalingCurve& curve : study.curves) list.push_back(scaling_section(curve));
  for (std::size_t i = 0; i < study.clusters.size(); ++i) {
    if (!all && i != study.best.value_or(0)) continue;
    const ClusterRecord& c = study.clusters[i];
    if (c.has_layout()) list.push_back(layouts_section(study, c, top));
    if (has_failures(c)) list.push_back(goodput_section(study, c));
    list.push_back(exclusions_section(c));
  }
  if (study.best) list.push_back(front_section(study));
  if (!study.sensitivity.empty()) list.push_back(sensitivity_that_matters(study.sensitivity));
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
  for (const RecordTable& section : sections(study, top, false)) text += section_text(section);
  return text + "\n" + effort(study) + "\n";
}

std::string plan_markdown(const Study& study, std::size_t top) {
  std::string text = fmt::format("# {}\n\n{}\n\n## In short\n\n", markdown_prose(printable(study.name)),
                                 markdown_prose(heading(study)));
  for (const std::string& line : recommendation(study)) text += "- " + markdown_prose(line) + "\n";
  text += "\n## In detail\n";
  for (const RecordTable& section : sections(study, top, true)) text += section_markdown(section);
  return text + "\n" + effort(study) + "\n";
}

namespace {

using enum Align;

CellModel number(double value, int digits = 9) { return {"", fmt::format("{:.{}g}", value, digits)}; }
CellModel number(const std::optional<double>& value) { return value ? number(*value) : CellModel{}; }

// For files alone: the names of the JSON, with the currency.
RecordTable candidates_table(const Study& study) {
  const std::string& money = study.currency;
  return {.name = "candidates",
          .title = "Simulated layouts",
          .columns = {{"cluster", "", kLeft},
                      {"variant", "", kLeft},
                      {"scaling", "", kLeft},
                      {"gpus", ""},
                      {"hosts", ""},
                      {"global_batch", ""},
                      {"layout", "", kLeft},
                      {"step", "s"},
                      {"screened", "s"},
                      {"bound", "s"},
                      {"tokens_per_s", ""},
                      {"mfu", "share"},
                      {"compute", "s"},
                      {"exposed", "s"},
                      {"bubble", "s"},
                      {"wait", "s"},
                      {"idle", "s"},
                      {"memory", "bytes"},
                      {"goodput", "share"},
                      {"train", "s"},
                      {"gpu_hours", ""},
                      {"cost", money},
                      {"cost_per_1e12_tokens", money},
                      {"energy", "J"},
                      {"spare_gpu_hours", ""},
                      {"spare_cost", money},
                      {"spare_energy", "J"},
                      {"constraint", "", kLeft}},
          .rows = {}};
}

std::vector<CellModel> candidate_cells(const ClusterRecord& c, std::size_t i) {
  const LayoutRecord& l = c.search.ranked[i];
  const StepFigures& s = l.figures;
  const PlanFigures& f = c.figures[i];
  std::vector<CellModel> cells{name_cell(c.name),   name_cell(c.variant),   name_cell(c.scaling),
                               count_cell(c.gpus),  count_cell(c.hosts),    count_cell(c.global_batch),
                               name_cell(l.layout), number(s.step_s),       number(l.expected_s),
                               number(l.least_s),   number(f.tokens_per_s), number(f.mfu)};
  for (const double part : {s.compute_s, s.exposed_s, s.bubble_s, s.wait_s, s.idle_s})
    cells.push_back(number(part));
  cells.push_back(bytes_cell(s.memory_bytes()));
  cells.push_back(f.failures ? number(f.goodput, 6) : CellModel{});
  for (const auto& figure : {f.train_s, f.gpu_hours, f.cost, f.cost_per_1e12_tokens, f.energy_j,
                             f.spare_gpu_hours, f.spare_cost, f.spare_energy_j})
    cells.push_back(number(figure));
  cells.push_back(name_cell(c.why_not));
  return cells;
}

}  // namespace

std::string plan_csv(const Study& study) {
  RecordTable table = candidates_table(study);
  for (const ClusterRecord& c : study.clusters)
    for (std::size_t i = 0; i < c.search.ranked.size(); ++i) table.rows.push_back(candidate_cells(c, i));
  return table_csv(table);
}

}  // namespace busbar
