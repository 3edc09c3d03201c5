#include "sim/replay/sweep_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.h"
#include "sim/base/statistics.h"
#include "sim/cost/nccl_types.h"

namespace busbar {

namespace {

// A sweep rounds gathered sizes down to 16 bytes per rank (if that leaves none, to elements), others to whole
// elements.
bool has_size(const Sweep& sweep, const SweepRow& row, Bytes measured) {
  std::int64_t step = size_of(sweep.type);
  if (divides_by_ranks(row.operation)) {
    const std::int64_t aligned = 16 * std::int64_t{sweep.ranks};
    step = row.size.count() % aligned == 0 ? aligned : step * std::int64_t{sweep.ranks};
  }
  return row.size <= measured && measured.count() - row.size.count() < step;
}

// Both as this library spells it, where it is known.
std::string own_algorithm(const std::string& name) {
  NcclAlgorithm algorithm{};
  return parse_nccl_algorithm(name, algorithm) ? std::string(name_of(algorithm)) : name;
}
std::string own_protocol(const std::string& name) {
  Protocol protocol{};
  return parse_protocol(name, protocol) ? std::string(name_of(protocol)) : name;
}

void take_choice(MeasuredPoint& point, const MeasuredRow& measured, const SweepRow& row) {
  const auto take = [&](const std::string& said, const std::string& predicted) {
    point.choice += (point.choice.empty() ? "" : "/") + said;
    point.agrees = point.agrees && said == predicted;
  };
  if (measured.algorithm) take(own_algorithm(*measured.algorithm), row.algorithm);
  if (measured.protocol) take(own_protocol(*measured.protocol), row.protocol);
  if (measured.channels) take(fmt::format("{}", *measured.channels), fmt::format("{}", row.channels));
}

std::optional<MeasuredPoint> point_of(const Sweep& sweep, const SweepRow& row, const MeasuredTable& table) {
  std::vector<double> times;
  const MeasuredRow* first = nullptr;
  for (const MeasuredRow& measured : table.rows) {
    if (!has_size(sweep, row, measured.size)) continue;
    if (first == nullptr) first = &measured;
    times.push_back(measured.time.seconds());
  }
  if (first == nullptr) return std::nullopt;
  MeasuredPoint point{.time = Time::from_seconds(median_of(times)), .choice = {}};
  if (point.time <= Time::zero()) return std::nullopt;
  point.error = row.time.seconds() / point.time.seconds() - 1;
  take_choice(point, *first, row);
  return point;
}

std::string setting(const Sweep& sweep, std::string_view key) {
  for (const auto& [name, value] : sweep.inputs.settings)
    if (name == key) return value;
  return "";
}

// What the source says of its run, against the settings of the prediction.
void note_differences(Sweep& sweep, const MeasuredTable& table) {
  const std::string version = setting(sweep, "nccl-version");
  if (!table.nccl_version.empty() && !version.empty() && table.nccl_version != version)
    sweep.notes.push_back(
        fmt::format("measured with NCCL {}, predicted for {}", printable(table.nccl_version), version));
  const std::string per_process = setting(sweep, "gpus-per-process");
  const std::int64_t predicted = per_process.empty() ? 1 : std::stoll(per_process);
  if (table.gpus_per_process && *table.gpus_per_process != predicted)
    sweep.notes.push_back(fmt::format("measured with {} GPUs per process, predicted for {}",
                                      *table.gpus_per_process, predicted));
  if (table.hosts && *table.hosts != sweep.hosts)
    sweep.notes.push_back(fmt::format("measured on {} hosts, predicted for {}", *table.hosts, sweep.hosts));
  for (const std::string& note : table.notes) sweep.notes.push_back("measured: " + note);
}

}  // namespace

ErrorSummary summary_of(std::span<const SizedError> errors) {
  ErrorSummary summary{.rows = errors.size(), .worst_size = {}};
  std::vector<double> all, absolute;
  for (const SizedError& e : errors) {
    if (e.size < ErrorSummary::kSmallestCounted) {
      ++summary.small;
      continue;
    }
    all.push_back(e.error);
    absolute.push_back(std::abs(e.error));
    summary.mean_abs += absolute.back();
    if (all.size() > 1 && absolute.back() <= std::abs(summary.worst)) continue;
    summary.worst = e.error;
    summary.worst_size = e.size;
  }
  if (all.empty()) return summary;
  summary.mean_abs /= static_cast<double>(all.size());
  summary.median_abs = median_of(absolute);
  summary.bias = median_of(all);
  return summary;
}

void compare_with(Sweep& sweep, const MeasuredTable& table) {
  std::vector<SizedError> errors;
  std::size_t choices = 0, agreeing = 0;
  for (SweepRow& row : sweep.rows) {
    row.measured = point_of(sweep, row, table);
    if (!row.measured) continue;
    errors.push_back({row.size, row.measured->error});
    if (row.measured->choice.empty()) continue;
    ++choices;
    if (row.measured->agrees) ++agreeing;
  }
  if (errors.empty())
    throw Error({.where = table.source, .message = "the sweep and the measurements have no size in common"});
  sweep.comparison = SweepComparison{.source = table.source, .summary = summary_of(errors)};
  sweep.comparison->summary.choices = choices;
  sweep.comparison->summary.agreeing = agreeing;
  note_differences(sweep, table);
}

}  // namespace busbar
