#include "reports/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "reports/comparison_report.h"
#include "reports/section.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::vector<std::string> figure_cells(const std::string& name, const ErrorFigures& f,
                                      const std::optional<ErrorFigures>& plain) {
  std::vector<std::string> cells{
      name,           fmt::format("{}", f.rows), percent(f.median),     percent(f.mean),
      percent(f.p90), signed_percent(f.worst),   signed_percent(f.bias)};
  if (plain) {
    cells.push_back(percent(plain->median));
    cells.push_back(percent(plain->p90));
  }
  return cells;
}

Section systems(const Validation& v) {
  using enum Align;
  Section cells{.title = "Error by system (predicted / measured - 1)",
                .align = {kLeft, kRight, kRight, kRight, kRight, kRight, kRight},
                .rows = {{"system", "rows", "median", "mean", "90th", "worst", "bias"}}};
  if (v.cross_validated) {
    cells.title = "Error by system, predicted by a fit to all others (predicted / measured - 1)";
    for (const char* name : {"seen: median", "90th"}) {
      cells.align.push_back(kRight);
      cells.rows.front().emplace_back(name);
    }
  }
  for (const ValidationGroup& g : v.groups)
    cells.rows.push_back(figure_cells(printable(g.name), g.figures, g.plain));
  cells.rows.push_back(figure_cells("all", v.overall, v.overall_plain));
  return cells;
}

Section tables(const Validation& v) {
  using enum Align;
  Section cells{.title = "Median errors of tables, by class of machine",
                .align = {kLeft, kRight, kRight, kRight, kRight},
                .rows = {{"class", "tables", "median", "90th", "worst"}}};
  for (const ValidationGroup& g : v.tables)
    cells.rows.push_back({printable(g.name), fmt::format("{}", g.figures.rows), percent(g.figures.median),
                          percent(g.figures.p90), percent(g.figures.worst)});
  return cells;
}

std::string value(double amount, const std::string& unit) {
  if (unit == "bytes") return fmt::format("{:.2f} GiB", amount / (1024.0 * 1024 * 1024));
  return amount < 1e-3 ? fmt::format("{:.2f} us", 1e6 * amount) : fmt::format("{:.4g} s", amount);
}

std::string shares(const ValidationRow& r) {
  if (!r.shares) return "";
  return fmt::format("{:.0f} / {:.0f} / {:.0f}", 100 * r.shares->compute,
                     100 * r.shares->exposed_communication, 100 * r.shares->bubble);
}

Section furthest_off(const Validation& v, std::size_t worst) {
  using enum Align;
  std::vector<std::size_t> order(v.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(v.rows[a].error()) > std::abs(v.rows[b].error());
  });
  order.resize(std::min(worst, order.size()));
  Section cells{.title = "Furthest off",
                .align = {kRight, kLeft, kLeft, kLeft, kRight, kRight, kRight},
                .rows = {{"error", "row", "system", "what", "measured", "predicted"}}};
  if (!v.rows.empty() && v.rows.front().shares)
    cells.rows.front().emplace_back("% compute / exposed / bubble");
  for (const std::size_t i : order) {
    const ValidationRow& r = v.rows[i];
    cells.rows.push_back({signed_percent(r.error()), printable(r.id), printable(r.system), printable(r.what),
                          value(r.measured, v.unit), value(r.predicted, v.unit), shares(r)});
  }
  return cells;
}

// By reason, with a row that it stopped.
Section not_simulated(const Validation& v) {
  std::map<std::string, std::vector<const NotSimulated*>> by_reason;
  for (const NotSimulated& n : v.not_simulated) {
    // What differs from row to row is the place, which ends at the first blank.
    const std::size_t place = n.reason.find(".csv:");
    const std::size_t end = place == std::string::npos ? 0 : n.reason.find(' ', place);
    by_reason[n.system + ": " + n.reason.substr(end == std::string::npos ? 0 : end)].push_back(&n);
  }
  Section cells{.title = "Not simulated",
                .align = {Align::kRight, Align::kLeft, Align::kLeft},
                .rows = {{"rows", "such as", "why"}}};
  for (const auto& [reason, rows] : by_reason)
    cells.rows.push_back({fmt::format("{}", rows.size()), printable(rows.front()->id), printable(reason)});
  return cells;
}

Section fits(const FitVerdicts& f) {
  return {.title = fmt::format("Fits or does not: {} of {} jobs right", percent(f.right()), f.jobs()),
          .align = {Align::kLeft, Align::kRight, Align::kRight},
          .rows = {{"job", "predicted to fit", "predicted not to"},
                   {"fitted", fmt::format("{}", f.fits_right), fmt::format("{}", f.fits_wrong)},
                   {"ran out of memory", fmt::format("{}", f.oom_wrong), fmt::format("{}", f.oom_right)}}};
}

Section held(const Validation& v) {
  Section cells{.title = "Against what is recorded",
                .align = {Align::kLeft, Align::kRight, Align::kRight, Align::kLeft},
                .rows = {{"figure", "now", "recorded", ""}}};
  for (const HeldFigure& h : v.held)
    cells.rows.push_back({h.name, percent(h.value), percent(h.recorded), h.met ? "held" : "WORSE"});
  return cells;
}

std::vector<Section> parts(const Validation& v, std::size_t worst) {
  if (v.comparison) return comparison_sections(v);
  std::vector<Section> list{systems(v)};
  if (!v.tables.empty()) list.push_back(tables(v));
  if (v.fits) list.push_back(fits(*v.fits));
  if (worst > 0 && !v.rows.empty()) list.push_back(furthest_off(v, worst));
  if (!v.not_simulated.empty()) list.push_back(not_simulated(v));
  if (!v.held.empty()) list.push_back(held(v));
  return list;
}

std::string title(const Validation& v) {
  if (v.comparison)
    return fmt::format("{}, {}; calibration {}", v.quantity,
                       v.rows.empty() ? "nothing to compare" : printable(v.rows.front().system),
                       printable(v.calibration));
  std::string text = v.collection.empty() ? "" : printable(v.collection) + ", ";
  text += fmt::format("{}: {}, {} rows", v.suite, v.quantity, v.rows.size());
  if (!v.not_simulated.empty()) text += fmt::format(", {} not simulated", v.not_simulated.size());
  text += fmt::format("; calibration {}", printable(v.calibration));
  if (v.cross_validated) text += "; cross-validated: each system by a fit to all others";
  for (const std::string& filter : v.filters) text += "; " + printable(filter);
  return text;
}

std::string optional_cell(const std::optional<StepShares>& s, double StepShares::*part) {
  return s ? fmt::format("{:.4f}", (*s).*part) : "";
}

}  // namespace

std::string validation_text(const Validation& v, std::size_t worst) {
  std::string text = title(v) + "\n";
  for (const Section& section : parts(v, worst)) text += section_text(section);
  for (const std::string& note : v.notes) text += "\nnote: " + printable(note);
  if (!v.notes.empty()) text += "\n";
  if (v.comparison) text += fmt::format("\n{}\n", fmt::join(comparison_lines(v), "\n"));
  return text;
}

std::string validation_markdown(const Validation& v, std::size_t worst) {
  std::string text = "## " + title(v) + "\n";
  for (const Section& section : parts(v, worst)) text += section_markdown(section);
  if (!v.notes.empty()) text += "\n";
  for (const std::string& note : v.notes) text += "- " + printable(note) + "\n";
  if (v.comparison) text += fmt::format("\n- {}\n", fmt::join(comparison_lines(v), "\n- "));
  return text;
}

std::string validation_csv(std::span<const Validation> suites) {
  std::string text =
      "suite,id,what,system,source,framework,gpu,gpus,unit,measured,predicted,error,compute_share,"
      "exposed_share,bubble_share,predicted_plain\n";
  for (const Validation& v : suites)
    for (const ValidationRow& r : v.rows)
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.5f},{},{},{},{}\n", v.suite, csv_cell(r.id),
          csv_cell(r.what), csv_cell(r.system), csv_cell(r.source), csv_cell(r.framework), csv_cell(r.gpu),
          r.gpus, v.unit, r.measured, r.predicted, r.error(), optional_cell(r.shares, &StepShares::compute),
          optional_cell(r.shares, &StepShares::exposed_communication),
          optional_cell(r.shares, &StepShares::bubble), r.plain ? fmt::format("{:.6g}", *r.plain) : "");
  return text;
}

}  // namespace busbar
