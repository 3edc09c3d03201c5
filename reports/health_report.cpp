#include "reports/health_report.h"

#include <fmt/format.h>

#include "reports/record_table.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

using enum Align;

CellModel figure(double value) {
  return {value > 0 ? fmt::format("{:.3g}", value) : "", fmt::format("{:.6g}", value)};
}

// What was compared has units of its own: each row names its.
RecordTable compared(const HealthReport& r) {
  using enum Reader;
  RecordTable t{.name = "compared",
                .title = "Compared",
                .columns = {{"what", "", kLeft},
                            {"unit", "", kLeft, "quantity"},
                            {"measured", ""},
                            {"peers or model", "", kRight, "peers"},
                            {"datasheet", ""},
                            {"", "", kLeft, "", kPeople},
                            {"slow", "", kLeft, "", kPrograms},
                            {"impossible", "", kLeft, "", kPrograms}},
                .rows = {}};
  for (const HealthFinding& f : r.findings) {
    const char* verdict = f.impossible ? "IMPOSSIBLE" : f.slow ? "SLOW" : "healthy";
    t.rows.push_back({name_cell(f.what),
                      name_cell(f.quantity),
                      figure(f.measured),
                      figure(f.peers),
                      figure(f.nominal),
                      {verdict, ""},
                      {"", f.slow ? "true" : "false"},
                      {"", f.impossible ? "true" : "false"}});
  }
  return t;
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

std::vector<RecordTable> parts(const HealthReport& r) {
  std::vector<RecordTable> list{compared(r)};
  if (!r.notes.empty()) list.push_back(notes_table(r.notes));
  return list;
}

}  // namespace

std::string health_text(const HealthReport& r) {
  std::string text = summary(r);
  for (const RecordTable& t : parts(r)) text += section_text(t);
  return text;
}

std::string health_markdown(const HealthReport& r) {
  std::string text = "## Health\n\n" + summary(r);
  for (const RecordTable& t : parts(r)) text += section_markdown(t);
  return text;
}

std::vector<RecordTable> health_shapes() {
  RecordTable shape = compared({});
  shape.name = "health";
  return {std::move(shape)};
}

std::string health_csv(const HealthReport& r) { return table_csv(compared(r)); }

}  // namespace busbar
