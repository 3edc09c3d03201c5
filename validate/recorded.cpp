#include "validate/recorded.h"

#include <array>
#include <span>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
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

bool later_row_of(std::span<const CsvRow> rows, std::size_t of) {
  for (std::size_t i = of + 1; i < rows.size(); ++i)
    if (rows[i].text("suite") == rows[of].text("suite") && rows[i].text("figure") == rows[of].text("figure"))
      return true;
  return false;
}

}  // namespace

void hold_recorded(Validation& validation, std::string_view table, const std::string& name) {
  if (!validation.filters.empty() || validation.calibration != "default") return;
  const CsvTable csv(table, name, columns_of(table));
  for (std::size_t i = 0; i < csv.rows().size(); ++i) {
    const CsvRow& row = csv.rows()[i];
    check_suite(row);
    if (row.text("suite") == validation.suite && !later_row_of(csv.rows(), i))
      validation.held.push_back(held(validation, row));
  }
}

}  // namespace busbar
