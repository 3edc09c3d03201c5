#include "validate/recorded.h"

#include <array>

#include "sim/base/error.h"
#include "validate/csv_table.h"
#include "validate/run_suites.h"

namespace busbar {

namespace {

constexpr std::array<std::string_view, 3> kColumns = {"suite", "figure", "value"};

HeldFigure held(const Validation& v, const CsvRow& row) {
  const std::string& figure = row.needed_text("figure");
  HeldFigure h{.name = figure, .recorded = row.needed_number("value")};
  if (figure == "median" || figure == "p90") {
    h.value = figure == "median" ? v.overall.median : v.overall.p90;
    h.met = v.overall.rows > 0 && h.value <= h.recorded + kRecordedSlack;  // of no row nothing is known
  } else if (figure == "right" && v.fits) {
    h.value = v.fits->right();
    h.met = h.value >= h.recorded - kRecordedSlack;
  } else {
    row.fail("figure", v.fits ? "median, p90 or right" : "median or p90");
  }
  return h;
}

void check_suite(const CsvRow& row) {
  for (const Suite& suite : suites())
    if (suite.name == row.text("suite")) return;
  row.fail("suite", "a suite");
}

}  // namespace

void hold_recorded(Validation& validation, std::string_view table, const std::string& name) {
  if (!validation.filters.empty() || validation.calibration != "default") return;
  const CsvTable csv(table, name, kColumns);
  for (const CsvRow& row : csv.rows()) {
    check_suite(row);
    if (row.text("suite") == validation.suite) validation.held.push_back(held(validation, row));
  }
}

}  // namespace busbar
