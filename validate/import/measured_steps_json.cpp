#include "validate/import/measured_steps_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/unit_text.h"

namespace busbar {

namespace {

constexpr double kLongest_s = 86400;
constexpr double kMostParts = 1.1;  // of the step: parts are medians of their own
constexpr std::int64_t kLargest = std::int64_t{1} << 40;
constexpr std::array<std::string_view, 12> kSettings = {
    "gpus",        "batch.micro", "batch.global", "batch.sequence", "parallel.tp",  "parallel.pp",
    "parallel.cp", "parallel.ep", "parallel.dp",  "model.layers",   "model.hidden", "model.heads"};
constexpr std::array<std::pair<std::string_view, Time MeasuredSplit::*>, 6> kParts = {{
    {"compute_s", &MeasuredSplit::compute},
    {"communication_s", &MeasuredSplit::communication},
    {"exposed_communication_s", &MeasuredSplit::exposed},
    {"straggler_wait_s", &MeasuredSplit::waiting},
    {"bubble_s", &MeasuredSplit::bubble},
    {"idle_s", &MeasuredSplit::idle},
}};

Time time_at(const JsonValue& value) { return Time::from_seconds(value.number(0, kLongest_s)); }

void read_settings(const JsonValue& settings, MeasuredStep& step) {
  settings.only_keys(kSettings);
  for (const std::string& key : settings.keys()) {
    const JsonValue value = settings.at(key);
    step.settings.push_back({key, value.integer(1, kLargest), value.where()});
  }
}

void read_split(const JsonValue& row, MeasuredStep& step) {
  const bool any = std::any_of(kParts.begin(), kParts.end(),
                               [&](const auto& part) { return row.find(part.first).has_value(); });
  if (!any) return;
  MeasuredSplit split;
  for (const auto& [key, part] : kParts) split.*part = time_at(row.at(key));
  const Time parts = split.compute + split.exposed + split.waiting + split.bubble + split.idle;
  if (parts.seconds() > kMostParts * step.time->seconds())
    row.fail_because(
        fmt::format("compute, exposed communication, waiting, bubble and idle are {} of a step of {}",
                    to_text(parts), to_text(*step.time)));
  step.split = split;
  step.waiting_separated = true;
}

MeasuredStep read_step(const JsonValue& row) {
  row.only_keys({"step_time_s", "p10_s", "p90_s", "settings", "compute_s", "communication_s",
                 "exposed_communication_s", "straggler_wait_s", "bubble_s", "idle_s"});
  MeasuredStep step{.source = row.where(), .format = "busbar.measured/1", .steps = 1};
  const JsonValue time = row.at("step_time_s");
  step.time = time_at(time);
  if (*step.time <= Time::zero()) time.fail("a time above 0");
  if (const auto p10 = row.find("p10_s")) step.p10 = time_at(*p10);
  if (const auto p90 = row.find("p90_s")) step.p90 = time_at(*p90);
  if (step.p10 && *step.p10 > *step.time) row.at("p10_s").fail("at most step_time_s, which is the median");
  if (step.p90 && *step.p90 < *step.time) row.at("p90_s").fail("at least step_time_s, which is the median");
  if (const auto settings = row.find("settings")) read_settings(*settings, step);
  read_split(row, step);
  return step;
}

}  // namespace

std::vector<MeasuredStep> read_measured_steps(const JsonDocument& document) {
  std::vector<MeasuredStep> steps;
  if (const auto rows = document.root().find("steps"))
    for (const JsonValue& row : rows->items()) steps.push_back(read_step(row));
  return steps;
}

}  // namespace busbar
