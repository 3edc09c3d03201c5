#include "reports/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

const ValidationRow* worst_of(const Validation& v) {
  const ValidationRow* worst = nullptr;
  for (const ValidationRow& row : v.rows)
    if (worst == nullptr || std::abs(row.error()) > std::abs(worst->error())) worst = &row;
  return worst;
}

std::string verdict(const Validation& v) {
  const ErrorFigures& f = v.overall;
  const Comparison& c = *v.comparison;
  std::string text =
      fmt::format("verdict: {} row{}, median |error| {:.1f} %, mean |error| {:.1f} %, bias {}", f.rows,
                  f.rows == 1 ? "" : "s", 100 * f.median, 100 * f.mean, signed_percent(f.bias));
  if (const ValidationRow* worst = worst_of(v))
    text += fmt::format(", worst {} ({})", signed_percent(worst->error()), printable(worst->what));
  if (c.judged_error) text += fmt::format("; {} {}", c.judged, signed_percent(*c.judged_error));
  if (c.tolerance)
    text += fmt::format(", tolerance {:g} %: {}", 100 * *c.tolerance, c.within() ? "within" : "BEYOND");
  return text;
}

using enum Align;

RecordTable ranks_table(const std::vector<MeasuredRank>& ranks) {
  RecordTable table{.name = "ranks",
                    .title = "Measured, by rank",
                    .columns = {{"rank", ""},
                                {"step", "s"},
                                {"compute", "s"},
                                {"communication", "s"},
                                {"exposed", "s"},
                                {"waiting", "s"},
                                {"bubble", "s"},
                                {"idle", "s"}},
                    .rows = {}};
  for (const MeasuredRank& r : ranks) {
    const MeasuredSplit& s = r.split;
    std::vector<CellModel> cells{count_cell(r.rank)};
    for (const Time time : {r.step, s.compute, s.communication, s.exposed, s.waiting, s.bubble, s.idle})
      cells.push_back(time_cell(time.seconds()));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

RecordTable compared_table(const std::vector<ValidationRow>& rows) {
  RecordTable table{
      .name = "figures",
      .title = "Measured and predicted",
      .columns = {{"what", "", kLeft}, {"measured", "s"}, {"predicted", "s"}, {"error", "share"}},
      .rows = {}};
  for (const ValidationRow& row : rows)
    table.rows.push_back(
        {name_cell(row.what), time_cell(row.measured), time_cell(row.predicted), change_cell(row.error())});
  return table;
}

RecordTable missing_table(const std::vector<MissingFigure>& missing) {
  RecordTable table{
      .name = "not_compared",
      .title = "Not compared",
      .columns = {{"what", "", kLeft}, {"measured", "s"}, {"predicted", "s"}, {"why", "", kLeft}},
      .rows = {}};
  for (const MissingFigure& m : missing)
    table.rows.push_back({name_cell(m.what), cell_of(m.measured, time_cell), cell_of(m.predicted, time_cell),
                          name_cell(m.why)});
  return table;
}

}  // namespace

std::vector<RecordTable> comparison_tables(const Validation& v) {
  std::vector<RecordTable> list{compared_table(v.rows)};
  if (!v.comparison->ranks.empty()) list.push_back(ranks_table(v.comparison->ranks));
  if (!v.comparison->missing.empty()) list.push_back(missing_table(v.comparison->missing));
  return list;
}

std::vector<std::string> comparison_lines(const Validation& v) {
  std::vector<std::string> lines;
  for (const std::string& note : v.comparison->notes) lines.push_back("note: " + printable(note));
  if (!v.comparison->largest.empty())
    lines.push_back("largest disagreement: " + printable(v.comparison->largest));
  if (!v.comparison->closing.empty())
    lines.push_back("the step as a whole: " + printable(v.comparison->closing));
  lines.push_back(verdict(v));
  return lines;
}

}  // namespace busbar
