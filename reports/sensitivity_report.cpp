#include "reports/sensitivity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr double kMatters = 5e-4;  // of an elasticity: below, 10 % change a step by less than 0.005 %
constexpr double kKink = 0.02;     // between the two sides of one, from which they are shown apart

bool matters(const SensitivityRecord& s) { return std::max(std::abs(s.up), std::abs(s.down)) >= kMatters; }

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

// "10 % more NIC bandwidth per host": the change that is better.
std::string better_words(const SensitivityRecord& s) {
  return fmt::format("10 % {} {}", s.less_is_better ? "less" : "more", printable(s.words));
}

// -0.0 is no sign of anything.
std::string number(double elasticity) {
  const std::string text = fmt::format("{:+.3f}", elasticity);
  return text == "-0.000" || text == "+0.000" ? "0" : text;
}

std::string sides(const SensitivityRecord& s) {
  if (std::abs(s.up - s.down) < kKink) return "";
  return fmt::format("{} to more, {} to less", number(s.up), number(s.down));
}

}  // namespace

std::string sensitivity_sentence(std::span<const SensitivityRecord> records, Time step) {
  const SensitivityRecord& best = records.front();
  if (!best.better || *best.better >= 0) return "Nothing here makes the step shorter by itself";
  return fmt::format("What would help most: {}: {} ({} of {})", better_words(best),
                     signed_percent(*best.better),
                     to_text(Time::from_seconds(-*best.better * step.seconds())), to_text(step));
}

RecordTable sensitivity_table(std::span<const SensitivityRecord> records) {
  using enum Align;
  RecordTable table{
      .name = "sensitivity",
      .title = "What the step time depends on (elasticity: % of step time per % of the parameter)",
      .columns = {{"parameter", "", kLeft},
                  {"now", "", kRight, "value"},
                  {"elasticity", ""},
                  {"elasticity_up", "", kRight, "", Reader::kPrograms},
                  {"elasticity_down", "", kRight, "", Reader::kPrograms},
                  {"10 % better", "share", kRight, "change_10_percent_better"},
                  {"sides that differ", "", kLeft, "", Reader::kPeople}},
      .rows = {}};
  const auto exact = [](double elasticity) { return fmt::format("{:.6g}", elasticity); };
  for (const SensitivityRecord& s : records)
    table.rows.push_back({{printable(s.words), s.parameter},
                          name_cell(s.value),
                          {number(s.elasticity), exact(s.elasticity)},
                          {"", exact(s.up)},
                          {"", exact(s.down)},
                          cell_of(s.better, change_cell),
                          {sides(s), ""}});
  return table;
}

RecordTable sensitivity_that_matters(std::span<const SensitivityRecord> records) {
  std::vector<SensitivityRecord> list;
  std::copy_if(records.begin(), records.end(), std::back_inserter(list), matters);
  return sensitivity_table(list);
}

std::string without_effect(std::span<const SensitivityRecord> records) {
  std::string names;
  for (const SensitivityRecord& s : records)
    if (!matters(s)) names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(s.words));
  return names.empty() ? "" : "no effect: " + names + "\n";
}

std::string sensitivity_text(const RunResult& r) {
  if (r.sensitivity.empty()) return "";
  const std::string none = without_effect(r.sensitivity);
  return section_text(sensitivity_that_matters(r.sensitivity)) + (none.empty() ? "" : "  " + none) + "\n" +
         sensitivity_sentence(r.sensitivity, r.step_time) + "\n";
}

std::string sensitivity_markdown(const RunResult& r) {
  if (r.sensitivity.empty()) return "";
  return section_markdown(sensitivity_that_matters(r.sensitivity)) + "\n" +
         sensitivity_sentence(r.sensitivity, r.step_time) + ".\n\n" + without_effect(r.sensitivity);
}

}  // namespace busbar
