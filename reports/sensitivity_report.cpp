#include "reports/sensitivity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

Section sensitivity_section(std::span<const SensitivityRecord> records) {
  using enum Align;
  Section cells{.title = "What the step time depends on (elasticity: % of step time per % of the parameter)",
                .align = {kLeft, kRight, kRight, kRight, kLeft},
                .rows = {{"parameter", "now", "elasticity", "10 % better", "sides that differ"}}};
  for (const SensitivityRecord& s : records)
    if (matters(s))
      cells.rows.push_back({printable(s.words), printable(s.value), number(s.elasticity),
                            s.better ? signed_percent(*s.better) : "", sides(s)});
  return cells;
}

std::string without_effect(std::span<const SensitivityRecord> records) {
  std::string names;
  for (const SensitivityRecord& s : records)
    if (!matters(s)) names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(s.parameter));
  return names.empty() ? "" : "no effect: " + names + "\n";
}

std::string sensitivity_text(const RunResult& r) {
  if (r.sensitivity.empty()) return "";
  const std::string none = without_effect(r.sensitivity);
  return section_text(sensitivity_section(r.sensitivity)) + (none.empty() ? "" : "  " + none) + "\n" +
         sensitivity_sentence(r.sensitivity, r.step_time) + "\n";
}

std::string sensitivity_markdown(const RunResult& r) {
  if (r.sensitivity.empty()) return "";
  return sensitivity_sentence(r.sensitivity, r.step_time) + ".\n" +
         section_markdown(sensitivity_section(r.sensitivity)) + "\n" + without_effect(r.sensitivity);
}

std::string sensitivity_csv(const RunResult& r) {
  std::string text = "parameter,value,elasticity,elasticity_up,elasticity_down,change_10_percent_better\n";
  for (const SensitivityRecord& s : r.sensitivity)
    text += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{}\n", csv_cell(s.parameter), csv_cell(s.value),
                        s.elasticity, s.up, s.down, s.better ? fmt::format("{:.6g}", *s.better) : "");
  return text;
}

}  // namespace busbar
