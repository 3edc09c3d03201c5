#include "validate/recorded.h"

#include <array>
#include <span>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/result/version.h"
#include "validate/csv_table.h"
#include "validate/run_suites.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 4> kColumns = {"model_version", "suite", "figure", "value"};

// A table without a history has no versions.
std::span<const std::string_view> columns_of(std::string_view table) {
  LineScanner lines(table);
  while (lines.next()) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty() || line.starts_with('#')) continue;
    const bool versions = line.find(kColumns.front()) != std::string_view::npos;
    return std::span(kColumns).subspan(versions ? 0 : 1);
  }
  return kColumns;
}

void check_suite(const CsvRow& row) {
  for (const Suite& suite : suites())
    if (suite.name == row.text("suite")) return;
  row.fail("suite", "a suite");
}

bool later_row_of(std::span<const CsvRow> rows, std::size_t of) {
  for (std::size_t i = of + 1; i < rows.size(); ++i)
    if (rows[i].text("suite") == rows[of].text("suite") && rows[i].text("figure") == rows[of].text("figure"))
      return true;
  return false;
}

}  // namespace

bool hold_figure(Validation& v, const std::string& figure, double recorded, double slack) {
  HeldFigure h{.name = figure, .recorded = recorded};
  if (figure == "median" || figure == "p90") {
    h.value = figure == "median" ? v.overall.median : v.overall.p90;
    h.met = v.overall.rows > 0 && h.value <= h.recorded + slack;  // of no row nothing is known
  } else if (figure == "right" && v.fits) {
    h.value = v.fits->right();
    h.met = h.value >= h.recorded - slack;
  } else {
    return false;
  }
  v.held.push_back(std::move(h));
  return true;
}

void hold_recorded(Validation& validation, std::string_view table, const std::string& name) {
  if (!validation.filters.empty() || validation.calibration != "default" || validation.cross_validated)
    return;
  const std::span<const std::string_view> columns = columns_of(table);
  const bool versions = columns.size() == kColumns.size();
  const CsvTable csv(table, name, columns);
  for (std::size_t i = 0; i < csv.rows().size(); ++i) {
    const CsvRow& row = csv.rows()[i];
    check_suite(row);
    if (row.text("suite") != validation.suite || later_row_of(csv.rows(), i)) continue;
    const bool same = versions && row.needed_text("model_version") == kModelVersion;
    if (!hold_figure(validation, row.needed_text("figure"), row.needed_number("value"),
                     same ? kSameVersionSlack : kRecordedSlack))
      row.fail("figure", validation.fits ? "median, p90 or right" : "median or p90");
  }
}

}  // namespace busbar
