#include "reports/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "reports/comparison_report.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

using enum Align;

std::vector<CellModel> figure_cells(const std::string& name, const ErrorFigures& f,
                                    const std::optional<ErrorFigures>& plain) {
  std::vector<CellModel> cells{name_cell(name), count_cell(static_cast<std::int64_t>(f.rows))};
  add_error_cells(cells, f);
  if (plain) {
    cells.push_back(share_cell(plain->median));
    cells.push_back(share_cell(plain->p90));
  }
  return cells;
}

RecordTable systems(const Validation& v) {
  RecordTable table{.name = "systems",
                    .title = "Error by system (predicted / measured - 1)",
                    .columns = {{"system", "", kLeft}, {"rows", ""}},
                    .rows = {}};
  add_error_columns(table);
  if (v.cross_validated) {
    table.title = "Error by system, predicted by a fit to all others (predicted / measured - 1)";
    for (const char* name : {"seen: median", "90th"}) table.columns.push_back({name, "share"});
  }
  for (const ValidationGroup& g : v.groups) table.rows.push_back(figure_cells(g.name, g.figures, g.plain));
  table.rows.push_back(figure_cells("all", v.overall, v.overall_plain));
  return table;
}

RecordTable tables(const Validation& v) {
  RecordTable table{.name = "tables",
                    .title = "Median errors of tables, by class of machine",
                    .columns = {{"class", "", kLeft},
                                {"tables", ""},
                                {"median", "share"},
                                {"90th", "share"},
                                {"worst", "share"}},
                    .rows = {}};
  for (const ValidationGroup& g : v.tables)
    table.rows.push_back({name_cell(g.name), count_cell(static_cast<std::int64_t>(g.figures.rows)),
                          share_cell(g.figures.median), share_cell(g.figures.p90),
                          share_cell(g.figures.worst)});
  return table;
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

CellModel value_cell(double amount, const std::string& unit) {
  return {value(amount, unit), fmt::format("{:.6g}", amount)};
}

CellModel part_cell(const ValidationRow& r, double StepShares::*part) {
  return {"", r.shares ? fmt::format("{:.4f}", (*r.shares).*part) : ""};
}

// Columns for people, and those of a file with a line per row.
std::vector<ColumnModel> row_columns(bool with_shares) {
  using enum Reader;
  std::vector<ColumnModel> columns{{"suite", "", kLeft, "", kPrograms},
                                   {"error", "", kRight, "", kPeople},
                                   {"row", "", kLeft, "id"},
                                   {"what", "", kLeft, "", kPrograms},
                                   {"system", "", kLeft},
                                   {"what", "", kLeft, "", kPeople},
                                   {"source", "", kLeft, "", kPrograms},
                                   {"framework", "", kLeft, "", kPrograms},
                                   {"gpu", "", kLeft, "", kPrograms},
                                   {"gpus", "", kRight, "", kPrograms},
                                   {"unit", "", kLeft, "", kPrograms},
                                   {"measured", ""},
                                   {"predicted", ""},
                                   {"error", "", kRight, "", kPrograms},
                                   {"compute_share", "share", kRight, "", kPrograms},
                                   {"exposed_share", "share", kRight, "", kPrograms},
                                   {"bubble_share", "share", kRight, "", kPrograms},
                                   {"predicted_plain", "", kRight, "", kPrograms}};
  if (with_shares) columns.push_back({"% compute / exposed / bubble", "", kRight, "", kPeople});
  return columns;
}

std::vector<CellModel> row_cells(const Validation& v, const ValidationRow& r) {
  return {name_cell(v.suite),
          change_cell(r.error()),
          name_cell(r.id),
          name_cell(r.what),
          name_cell(r.system),
          name_cell(r.what),
          name_cell(r.source),
          name_cell(r.framework),
          name_cell(r.gpu),
          count_cell(r.gpus),
          name_cell(v.unit),
          value_cell(r.measured, v.unit),
          value_cell(r.predicted, v.unit),
          {"", fmt::format("{:.5f}", r.error())},
          part_cell(r, &StepShares::compute),
          part_cell(r, &StepShares::exposed_communication),
          part_cell(r, &StepShares::bubble),
          {"", r.plain ? fmt::format("{:.6g}", *r.plain) : ""},
          {shares(r), ""}};
}

RecordTable furthest_off(const Validation& v, std::size_t worst) {
  std::vector<std::size_t> order(v.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(v.rows[a].error()) > std::abs(v.rows[b].error());
  });
  order.resize(std::min(worst, order.size()));
  RecordTable table{.name = "rows",
                    .title = "Furthest off",
                    .columns = row_columns(!v.rows.empty() && v.rows.front().shares.has_value()),
                    .rows = {}};
  for (const std::size_t i : order) table.rows.push_back(row_cells(v, v.rows[i]));
  return table;
}

// By reason, with a row that it stopped.
RecordTable not_simulated(const Validation& v) {
  std::map<std::string, std::vector<const NotSimulated*>> by_reason;
  for (const NotSimulated& n : v.not_simulated) {
    // What differs from row to row is the place, which ends at the first blank.
    const std::size_t place = n.reason.find(".csv:");
    const std::size_t end = place == std::string::npos ? 0 : n.reason.find(' ', place);
    by_reason[n.system + ": " + n.reason.substr(end == std::string::npos ? 0 : end)].push_back(&n);
  }
  RecordTable table{.name = "not_simulated",
                    .title = "Not simulated",
                    .columns = {{"rows", ""}, {"such as", "", kLeft}, {"why", "", kLeft}},
                    .rows = {}};
  for (const auto& [reason, rows] : by_reason)
    table.rows.push_back(
        {count_cell(static_cast<std::int64_t>(rows.size())), name_cell(rows.front()->id), name_cell(reason)});
  return table;
}

RecordTable fits(const FitVerdicts& f) {
  const auto row = [](const char* name, std::size_t to, std::size_t not_to) {
    return std::vector<CellModel>{name_cell(name), count_cell(static_cast<std::int64_t>(to)),
                                  count_cell(static_cast<std::int64_t>(not_to))};
  };
  return {.name = "fits",
          .title = fmt::format("Fits or does not: {} of {} jobs right", percent(f.right()), f.jobs()),
          .columns = {{"job", "", kLeft}, {"predicted to fit", ""}, {"predicted not to", ""}},
          .rows = {row("fitted", f.fits_right, f.fits_wrong),
                   row("ran out of memory", f.oom_wrong, f.oom_right)}};
}

RecordTable held(const Validation& v) {
  RecordTable table{
      .name = "recorded",
      .title = "Against what is recorded",
      .columns = {{"figure", "", kLeft}, {"now", "share"}, {"recorded", "share"}, {"", "", kLeft, "met"}},
      .rows = {}};
  for (const HeldFigure& h : v.held)
    table.rows.push_back({name_cell(h.name), share_cell(h.value), share_cell(h.recorded),
                          name_cell(h.met ? "held" : "WORSE")});
  return table;
}

std::vector<RecordTable> parts(const Validation& v, std::size_t worst) {
  if (v.comparison) return comparison_tables(v);
  std::vector<RecordTable> list{systems(v)};
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

// Of what one side of a comparison says of every rank, people get the first.
std::size_t most_of(const Validation& v) { return v.comparison ? kRowsForPeople : kAllRows; }

}  // namespace

std::string validation_text(const Validation& v, std::size_t worst) {
  std::string text = title(v) + "\n";
  for (const RecordTable& table : parts(v, worst)) text += section_text(table, most_of(v));
  for (const std::string& note : v.notes) text += "\nnote: " + printable(note);
  if (!v.notes.empty()) text += "\n";
  if (v.comparison) text += fmt::format("\n{}\n", fmt::join(comparison_lines(v), "\n"));
  return text;
}

std::string validation_markdown(const Validation& v, std::size_t worst) {
  std::string text = "## " + title(v) + "\n";
  for (const RecordTable& table : parts(v, worst)) text += section_markdown(table, most_of(v));
  if (!v.notes.empty()) text += "\n";
  for (const std::string& note : v.notes) text += "- " + printable(note) + "\n";
  if (v.comparison) text += fmt::format("\n- {}\n", fmt::join(comparison_lines(v), "\n- "));
  return text;
}

std::vector<RecordTable> validation_shapes() {
  Validation none;
  none.comparison.emplace();
  none.comparison->ranks.emplace_back();
  none.comparison->missing.emplace_back();
  std::vector<RecordTable> shapes = comparison_tables(none);
  shapes.push_back(systems({}));
  shapes.push_back(furthest_off({}, 0));
  shapes.push_back(held({}));
  return shapes;
}

std::string validation_csv(std::span<const Validation> suites) {
  RecordTable table{.name = "rows", .title = "", .columns = row_columns(false), .rows = {}};
  for (const Validation& v : suites)
    for (const ValidationRow& r : v.rows) table.rows.push_back(row_cells(v, r));
  return table_csv(table);
}

}  // namespace busbar
