#include "reports/solution_report.h"

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

// "12.1 GB/s instead of 400 GB/s (x 0.0303)", or the factor alone.
std::string value_words(const Solution& s) {
  if (s.value.empty()) return fmt::format("x {:.3g}", *s.factor);
  return fmt::format("{} instead of {} (x {:.3g})", s.value, s.value_now, *s.factor);
}

std::string end_words(const std::optional<double>& factor, const std::string& value) {
  if (!factor) return "";
  return value.empty() ? fmt::format("x {:.3g}", *factor) : value;
}

template <class Found>
std::string interval_words(const Found& s) {
  const std::string low = end_words(s.low, s.value_low), high = end_words(s.high, s.value_high);
  if (low.empty() && high.empty()) return "any value of those searched";
  if (low.empty()) return "up to " + high;
  if (high.empty()) return low + " or more";
  return fmt::format("{} to {}", low, high);
}

const char* choices_words(bool chosen_anew) {
  return chosen_anew ? "with NICs that NCCL knows to be so" : "with links that NCCL takes for what they were";
}

// Where several values explain the step: under which assumption each does, and whether its parts tell which.
std::string alternatives_text(const Solution& s) {
  if (s.alternatives.empty() && !s.chosen_anew) return "";
  std::string text = fmt::format("    {}\n", choices_words(s.chosen_anew));
  for (const Alternative& a : s.alternatives)
    text += fmt::format(
        "    {} {} ({}; {})\n", a.contradicts_parts ? "the step alone, not its parts:" : "or",
        a.value.empty() ? fmt::format("x {:.3g}", a.factor) : fmt::format("{} (x {:.3g})", a.value, a.factor),
        interval_words(a), choices_words(a.chosen_anew));
  if (is_ambiguous(s)) text += "    ambiguous: what was measured does not tell which of these it is\n";
  return text;
}

std::string found_text(const Solution& s) {
  std::string text = fmt::format("  {}: {}\n", printable(s.words), value_words(s));
  if (!s.interval_of.empty()) text += fmt::format("    {} ({})\n", interval_words(s), s.interval_of);
  text += alternatives_text(s);
  if (!s.suggestion.empty()) text += fmt::format("    {}\n", s.suggestion);
  if (!s.monotone)
    text += "    the step time is not monotone in it: more values than those found may explain the step\n";
  return text;
}

std::string not_found_text(const Solution& s) {
  const std::string of = s.value_now.empty() ? "what it is" : s.value_now;
  return fmt::format(
      "  {}: no value from {:g} to {:g} times {} explains it; the step takes {} at {:g} times, {} at {:g} "
      "times\n",
      printable(s.words), s.range.first, s.range.second, of, to_text(s.range_times.first), s.range.first,
      to_text(s.range_times.second), s.range.second);
}

}  // namespace

std::string solutions_text(const std::vector<SolvedStep>& steps) {
  std::string text;
  for (const SolvedStep& step : steps) {
    if (!text.empty()) text += "\n";
    if (step.solutions.empty()) {
      text += fmt::format("{}: no single parameter explains it, whatever its value\n", printable(step.name));
      continue;
    }
    const Solution& first = step.solutions.front();
    text += fmt::format("{}: {}, predicted {} ({:+.1f} %). It is explained by\n", printable(step.name),
                        to_text(first.measured), to_text(first.predicted),
                        100 * (first.predicted.seconds() / first.measured.seconds() - 1));
    for (const Solution& s : step.solutions) text += s.factor ? found_text(s) : not_found_text(s);
  }
  return text;
}

}  // namespace busbar
