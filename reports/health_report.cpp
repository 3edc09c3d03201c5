#include "reports/health_report.h"

#include <fmt/format.h>

#include "reports/section.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

using enum Align;

std::string figure(double value) { return value > 0 ? fmt::format("{:.3g}", value) : ""; }

Section compared(const HealthReport& r) {
  Section s{.title = "Compared",
            .align = {kLeft, kLeft, kRight, kRight, kRight, kLeft},
            .rows = {{"what", "unit", "measured", "peers or model", "datasheet", ""}}};
  for (const HealthFinding& f : r.findings)
    s.rows.push_back({printable(f.what), f.quantity, figure(f.measured), figure(f.peers), figure(f.nominal),
                      f.impossible ? "IMPOSSIBLE"
                      : f.slow     ? "SLOW"
                                   : "healthy"});
  return s;
}

std::string summary(const HealthReport& r) {
  std::string text;
  std::size_t bad = 0;
  for (const HealthFinding& f : r.findings)
    if (f.slow || f.impossible) {
      ++bad;
      text += printable(f.text) + "\n";
    }
  if (bad == 0) text = fmt::format("nothing is slow among {} compared\n", r.findings.size());
  return fmt::format("{}: tables: {}, kernels: {}\n{}", printable(r.topology), r.tables, r.kernels, text);
}

std::vector<Section> parts(const HealthReport& r) {
  std::vector<Section> list{compared(r)};
  if (r.notes.empty()) return list;
  list.push_back({.title = "Notes", .align = {kLeft}, .rows = {{""}}});
  for (const std::string& note : r.notes) list.back().rows.push_back({printable(note)});
  return list;
}

}  // namespace

std::string health_text(const HealthReport& r) {
  std::string text = summary(r);
  for (const Section& s : parts(r)) text += section_text(s);
  return text;
}

std::string health_markdown(const HealthReport& r) {
  std::string text = "## Health\n\n" + summary(r);
  for (const Section& s : parts(r)) text += section_markdown(s);
  return text;
}

std::string health_csv(const HealthReport& r) {
  std::string text = "what,quantity,measured,peers,datasheet,slow,impossible\n";
  for (const HealthFinding& f : r.findings)
    text += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{},{}\n", csv_cell(f.what), csv_cell(f.quantity),
                        f.measured, f.peers, f.nominal, f.slow, f.impossible);
  return text;
}

}  // namespace busbar
