#include "reports/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/record_table.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

using enum Align;

std::string interval_of(const CalibratedParameter& p) {
  return p.low.empty() ? "" : fmt::format("{} to {}", p.low, p.high);
}

RecordTable numbers(const CalibrationReport& r) {
  RecordTable t{.name = "numbers",
                .title = "Numbers",
                .columns = {{"name", "", kLeft},
                            {"value", ""},
                            {"95 % interval", "", kLeft, "", Reader::kPeople},
                            {"low", "", kRight, "", Reader::kPrograms},
                            {"high", "", kRight, "", Reader::kPrograms},
                            {"origin", "", kLeft},
                            {"rows", ""}},
                .rows = {}};
  for (const CalibratedParameter& p : r.parameters)
    t.rows.push_back({name_cell(p.name),
                      name_cell(p.value),
                      {interval_of(p), ""},
                      name_cell(p.low),
                      name_cell(p.high),
                      name_cell(p.origin),
                      count_cell(static_cast<std::int64_t>(p.rows))});
  return t;
}

RecordTable errors(const CalibrationReport& r) {
  RecordTable t{.name = "errors",
                .title = "Error (predicted / measured - 1)",
                .columns = {{"rows", "", kLeft}},
                .rows = {}};
  add_error_columns(t);
  const auto add = [&](const std::string& name, const ErrorFigures& f) {
    if (f.rows == 0) return;
    t.rows.push_back({name_cell(name)});
    add_error_cells(t.rows.back(), f);
  };
  add("before the fit", r.before);
  add("fitted", r.fit);
  add(fmt::format("left out of the fit, {} at a time", r.left_out), r.cross_validated);
  return t;
}

RecordTable unpinned(const CalibrationReport& r) {
  RecordTable t{.name = "unpinned",
                .title = "Kept at their default: not pinned by these measurements",
                .columns = {{"name", "", kLeft}, {"value", ""}, {"what would pin it", "", kLeft}},
                .rows = {}};
  for (const UnpinnedParameter& p : r.unpinned)
    t.rows.push_back({name_cell(p.name), name_cell(p.value), name_cell(p.measurement)});
  return t;
}

RecordTable outliers(const CalibrationReport& r) {
  RecordTable t{.name = "outliers",
                .title = "Rows that the fit does not follow",
                .columns = {{"table", "", kLeft},
                            {"size", "bytes"},
                            {"measured", "s"},
                            {"fitted", "s"},
                            {"measured / fitted", ""}},
                .rows = {},
                .keys = 2};
  for (const OutlierRow& o : r.outliers) {
    const double ratio = o.measured_s / o.fitted_s;
    t.rows.push_back({name_cell(o.table),
                      count_cell(o.size.count()),
                      time_cell(o.measured_s),
                      time_cell(o.fitted_s),
                      {fmt::format("{:.2f}", ratio), fmt::format("{}", ratio)}});
  }
  return t;
}

RecordTable breaks(const CalibrationReport& r) {
  RecordTable t{.name = "breaks",
                .title = "Breaks in measured curves, as a change of protocol or algorithm makes them",
                .columns = {{"table", "", kLeft},
                            {"from size", "bytes"},
                            {"to size", "bytes"},
                            {"time", "s", kRight, "from"},
                            {"time", "s", kRight, "to"},
                            {"the model's choice", "", kLeft}},
                .rows = {},
                .keys = 3};
  for (const CurveBreak& b : r.breaks)
    t.rows.push_back(
        {name_cell(b.table), count_cell(b.from.count()), count_cell(b.to.count()), time_cell(b.from_s),
         time_cell(b.to_s),
         name_cell(b.model_from == b.model_to ? b.model_from : b.model_from + ", then " + b.model_to)});
  return t;
}

std::vector<RecordTable> parts(const CalibrationReport& r) {
  std::vector<RecordTable> list{numbers(r)};
  if (r.fit.rows > 0) list.push_back(errors(r));
  if (!r.unpinned.empty()) list.push_back(unpinned(r));
  if (!r.outliers.empty()) list.push_back(outliers(r));
  if (!r.breaks.empty()) list.push_back(breaks(r));
  if (!r.notes.empty()) list.push_back(notes_table(r.notes));
  return list;
}

std::string title(const CalibrationReport& r) {
  std::string text = fmt::format("profile {}", printable(r.profile));
  if (r.tables > 0)
    text += fmt::format(": {} table{}, {} rows, on {}", r.tables, r.tables == 1 ? "" : "s", r.rows,
                        printable(r.topology));
  return text;
}

std::vector<ProfileChange> ordered(const ProfileComparison& c) {
  std::vector<ProfileChange> changes = c.changes;
  std::stable_sort(changes.begin(), changes.end(),
                   [](const ProfileChange& x, const ProfileChange& y) { return x.verdict < y.verdict; });
  return changes;
}

std::string_view text_of(ProfileChange::Verdict verdict) {
  switch (verdict) {
    case ProfileChange::Verdict::kChanged:
      return "CHANGED";
    case ProfileChange::Verdict::kOverlaps:
      return "intervals overlap";
    case ProfileChange::Verdict::kNoInterval:
      return "no interval";
    case ProfileChange::Verdict::kOnlyBefore:
      return "not measured after";
    case ProfileChange::Verdict::kOnlyAfter:
      return "not measured before";
  }
  BUSBAR_CHECK(false);
}

std::string beside(const std::string& value, const std::string& interval) {
  return interval.empty() ? value : fmt::format("{} ({})", value, interval);
}

RecordTable changes(const ProfileComparison& c) {
  using enum Reader;
  RecordTable t{.name = "changes",
                .title = "Numbers that were measured before or after (95 % intervals)",
                .columns = {{"name", "", kLeft},
                            {"before", "", kLeft},
                            {"before_interval", "", kLeft, "", kPrograms},
                            {"after", "", kLeft},
                            {"after_interval", "", kLeft, "", kPrograms},
                            {"ratio", "", kRight, "", kPrograms},
                            {"change", "share", kRight, "", kPeople},
                            {"", "", kLeft, "verdict"}},
                .rows = {}};
  for (const ProfileChange& x : ordered(c))
    t.rows.push_back({name_cell(x.name),
                      {beside(x.before, x.before_interval), x.before},
                      {"", x.before_interval},
                      {beside(x.after, x.after_interval), x.after},
                      {"", x.after_interval},
                      {"", fmt::format("{:.5f}", x.ratio)},
                      change_cell(x.ratio - 1),
                      name_cell(std::string(text_of(x.verdict)))});
  return t;
}

std::string verdict(const ProfileComparison& c) {
  const auto beyond =
      std::count_if(c.changes.begin(), c.changes.end(), [](const ProfileChange& x) { return x.beyond(); });
  const std::string names = fmt::format("{} against {}", printable(c.after), printable(c.before));
  if (c.changes.empty()) return names + ": neither was measured, so there is nothing to compare";
  const std::string all =
      fmt::format("{} {}", c.changes.size(), c.changes.size() == 1 ? "number" : "numbers");
  if (beyond == 0) return fmt::format("{}: no change: of {}, none moved beyond its interval", names, all);
  return fmt::format("{}: {} of {} changed (the intervals do not overlap)", names, beyond, all);
}

}  // namespace

std::string calibration_text(const CalibrationReport& r) {
  std::string text = title(r) + "\n";
  for (const RecordTable& t : parts(r)) text += section_text(t);
  return text;
}

std::string calibration_markdown(const CalibrationReport& r) {
  std::string text = "## " + title(r) + "\n";
  for (const RecordTable& t : parts(r)) text += section_markdown(t);
  return text;
}

std::string calibration_csv(const CalibrationReport& r) { return table_csv(numbers(r)); }

std::vector<RecordTable> calibration_shapes() {
  const CalibrationReport none;
  return {numbers(none), errors(none), unpinned(none), outliers(none), breaks(none), changes({})};
}

std::string comparison_text(const ProfileComparison& c) {
  return verdict(c) + "\n" + section_text(changes(c)) +
         (c.notes.empty() ? "" : section_text(notes_table(c.notes)));
}

std::string comparison_markdown(const ProfileComparison& c) {
  return "## " + verdict(c) + "\n" + section_markdown(changes(c)) +
         (c.notes.empty() ? "" : section_markdown(notes_table(c.notes)));
}

std::string comparison_csv(const ProfileComparison& c) { return table_csv(changes(c)); }

}  // namespace busbar
