#include "reports/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

std::string seconds(double s) { return to_text(Time::from_seconds(s)); }
std::string seconds(const std::optional<double>& s) { return s ? seconds(*s) : ""; }
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

constexpr std::size_t kMostRanks = 32;  // in text; JSON has them all

Section ranks_section(const std::vector<MeasuredRank>& ranks) {
  using enum Align;
  Section section{
      .title = fmt::format("Measured, by rank{}", ranks.size() > kMostRanks ? " (the first 32)" : ""),
      .align = {kRight, kRight, kRight, kRight, kRight, kRight, kRight, kRight},
      .rows = {{"rank", "step", "compute", "communication", "exposed", "waiting", "bubble", "idle"}}};
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostRanks); ++i) {
    const MeasuredSplit& s = ranks[i].split;
    section.rows.push_back({fmt::format("{}", ranks[i].rank), to_text(ranks[i].step), to_text(s.compute),
                            to_text(s.communication), to_text(s.exposed), to_text(s.waiting),
                            to_text(s.bubble), to_text(s.idle)});
  }
  return section;
}

}  // namespace

std::vector<Section> comparison_sections(const Validation& v) {
  using enum Align;
  Section compared{.title = "Measured and predicted",
                   .align = {kLeft, kRight, kRight, kRight},
                   .rows = {{"what", "measured", "predicted", "error"}}};
  for (const ValidationRow& row : v.rows)
    compared.rows.push_back(
        {printable(row.what), seconds(row.measured), seconds(row.predicted), signed_percent(row.error())});
  std::vector<Section> list{std::move(compared)};
  if (!v.comparison->ranks.empty()) list.push_back(ranks_section(v.comparison->ranks));
  if (v.comparison->missing.empty()) return list;
  Section missing{.title = "Not compared",
                  .align = {kLeft, kRight, kRight, kLeft},
                  .rows = {{"what", "measured", "predicted", "why"}}};
  for (const MissingFigure& m : v.comparison->missing)
    missing.rows.push_back({printable(m.what), seconds(m.measured), seconds(m.predicted), printable(m.why)});
  list.push_back(std::move(missing));
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
