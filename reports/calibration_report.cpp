#include "reports/calibration_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/section.h"
#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

using enum Align;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }
std::string time_text(double seconds) { return to_text(Time::from_seconds(seconds)); }

std::string interval_of(const CalibratedParameter& p) {
  return p.low.empty() ? "" : fmt::format("{} to {}", p.low, p.high);
}

Section numbers(const CalibrationReport& r) {
  Section s{.title = "Numbers",
            .align = {kLeft, kRight, kLeft, kLeft, kRight},
            .rows = {{"name", "value", "95 % interval", "origin", "rows"}}};
  for (const CalibratedParameter& p : r.parameters)
    s.rows.push_back({p.name, p.value, interval_of(p), p.origin, fmt::format("{}", p.rows)});
  return s;
}

Section errors(const CalibrationReport& r) {
  Section s{.title = "Error (predicted / measured - 1)",
            .align = {kLeft, kRight, kRight, kRight, kRight, kRight},
            .rows = {{"rows", "median", "mean", "90th", "worst", "bias"}}};
  const auto add = [&](const std::string& name, const ErrorFigures& f) {
    if (f.rows > 0)
      s.rows.push_back({name, percent(f.median), percent(f.mean), percent(f.p90), signed_percent(f.worst),
                        signed_percent(f.bias)});
  };
  add("before the fit", r.before);
  add("fitted", r.fit);
  add(fmt::format("left out of the fit, {} at a time", r.left_out), r.cross_validated);
  return s;
}

Section unpinned(const CalibrationReport& r) {
  Section s{.title = "Kept at their default: not pinned by these measurements",
            .align = {kLeft, kRight, kLeft},
            .rows = {{"name", "value", "what would pin it"}}};
  for (const UnpinnedParameter& p : r.unpinned) s.rows.push_back({p.name, p.value, p.measurement});
  return s;
}

Section outliers(const CalibrationReport& r) {
  Section s{.title = "Rows that the fit does not follow",
            .align = {kLeft, kRight, kRight, kRight, kRight},
            .rows = {{"table", "size", "measured", "fitted", "measured / fitted"}}};
  for (const OutlierRow& o : r.outliers)
    s.rows.push_back({printable(o.table), fmt::format("{}", o.size.count()), time_text(o.measured_s),
                      time_text(o.fitted_s), fmt::format("{:.2f}", o.measured_s / o.fitted_s)});
  return s;
}

Section breaks(const CalibrationReport& r) {
  Section s{.title = "Breaks in measured curves, as a change of protocol or algorithm makes them",
            .align = {kLeft, kRight, kRight, kRight, kRight, kLeft},
            .rows = {{"table", "from size", "to size", "time", "time", "the model's choice"}}};
  for (const CurveBreak& b : r.breaks)
    s.rows.push_back({printable(b.table), fmt::format("{}", b.from.count()), fmt::format("{}", b.to.count()),
                      time_text(b.from_s), time_text(b.to_s),
                      b.model_from == b.model_to ? b.model_from : b.model_from + ", then " + b.model_to});
  return s;
}

Section noted(const std::vector<std::string>& notes) {
  Section s{.title = "Notes", .align = {kLeft}, .rows = {{""}}};
  for (const std::string& note : notes) s.rows.push_back({printable(note)});
  return s;
}

std::vector<Section> parts(const CalibrationReport& r) {
  std::vector<Section> list{numbers(r)};
  if (r.fit.rows > 0) list.push_back(errors(r));
  if (!r.unpinned.empty()) list.push_back(unpinned(r));
  if (!r.outliers.empty()) list.push_back(outliers(r));
  if (!r.breaks.empty()) list.push_back(breaks(r));
  if (!r.notes.empty()) list.push_back(noted(r.notes));
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

Section changes(const ProfileComparison& c) {
  Section s{.title = "Numbers that were measured before or after (95 % intervals)",
            .align = {kLeft, kLeft, kLeft, kRight, kLeft},
            .rows = {{"name", "before", "after", "change", ""}}};
  for (const ProfileChange& x : ordered(c))
    s.rows.push_back({x.name, beside(x.before, x.before_interval), beside(x.after, x.after_interval),
                      signed_percent(x.ratio - 1), std::string(text_of(x.verdict))});
  return s;
}

std::string verdict(const ProfileComparison& c) {
  const auto beyond =
      std::count_if(c.changes.begin(), c.changes.end(), [](const ProfileChange& x) { return x.beyond(); });
  return fmt::format("{} against {}: {} of {} numbers changed (their intervals do not overlap)",
                     printable(c.after), printable(c.before), beyond, c.changes.size());
}

}  // namespace

std::string calibration_text(const CalibrationReport& r) {
  std::string text = title(r) + "\n";
  for (const Section& s : parts(r)) text += section_text(s);
  return text;
}

std::string calibration_markdown(const CalibrationReport& r) {
  std::string text = "## " + title(r) + "\n";
  for (const Section& s : parts(r)) text += section_markdown(s);
  return text;
}

std::string calibration_csv(const CalibrationReport& r) {
  std::string text = "name,value,low,high,origin,rows\n";
  for (const CalibratedParameter& p : r.parameters)
    text += fmt::format("{},{},{},{},{},{}\n", csv_cell(p.name), csv_cell(p.value), csv_cell(p.low),
                        csv_cell(p.high), p.origin, p.rows);
  return text;
}

std::string comparison_text(const ProfileComparison& c) {
  return verdict(c) + "\n" + section_text(changes(c)) + (c.notes.empty() ? "" : section_text(noted(c.notes)));
}

std::string comparison_markdown(const ProfileComparison& c) {
  return "## " + verdict(c) + "\n" + section_markdown(changes(c)) +
         (c.notes.empty() ? "" : section_markdown(noted(c.notes)));
}

std::string comparison_csv(const ProfileComparison& c) {
  std::string text = "name,before,before_interval,after,after_interval,ratio,verdict\n";
  for (const ProfileChange& x : ordered(c))
    text += fmt::format("{},{},{},{},{},{:.5f},{}\n", csv_cell(x.name), csv_cell(x.before),
                        csv_cell(x.before_interval), csv_cell(x.after), csv_cell(x.after_interval), x.ratio,
                        text_of(x.verdict));
  return text;
}

}  // namespace busbar
