#include "sim/study/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/base/error.h"
#include "workloads/workload_io.h"

namespace busbar {

namespace {

constexpr std::size_t kMostPoints = 1'000'000;  // as of a sweep of collectives
constexpr double kWorthIt = 0.5;

std::string first_part(const std::string& key) { return key.substr(0, key.find('.')); }

// Commas inside [] and {} belong to a value.
std::vector<std::string> values_of(const std::string& text) {
  std::vector<std::string> values(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0)
      values.emplace_back();
    else
      values.back() += c;
  }
  return values;
}

bool is_of_workload(const std::string& part) {
  const auto keys = workload_keys();
  static const std::vector<std::string_view> own = {"schema", "name", "model", "batch"};
  return std::find(keys.begin(), keys.end(), part) != keys.end() &&
         std::find(own.begin(), own.end(), part) == own.end();
}

}  // namespace

SweepAxis parse_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error({.where = "--sweep",
                 .expected = "key=value,value such as \"fabric.oversubscription=1,2,4\"",
                 .given = quoted(text)});
  SweepAxis axis{text.substr(0, equals), values_of(text.substr(equals + 1))};
  for (const std::string& value : axis.second)
    if (value.empty())
      throw Error({.where = "--sweep", .expected = "values between the commas", .given = quoted(text)});
  return axis;
}

JsonDocument with_key(const JsonDocument& study, const std::string& key, const std::string& value) {
  const std::string part = first_part(key);
  if (part == "fabric" || part == "hosts") {
    JsonDocument changed = study;
    const std::size_t clusters = study.root().at("clusters").items().size();
    for (std::size_t i = 0; i < clusters; ++i)
      changed = changed.with(fmt::format("clusters.{}.topology.{}", i, key), value);
    return changed;
  }
  if (is_of_workload(part)) return study.with("workload." + key, value);
  return study.with(key, value);
}

std::vector<StudyPoint> sweep_points(const JsonDocument& study, const std::vector<SweepAxis>& axes) {
  std::vector<StudyPoint> points = {{"", study}};
  for (const auto& [key, values] : axes) {
    if (points.size() * values.size() > kMostPoints)
      throw Error(
          {.where = "sweep", .expected = fmt::format("at most {} points", kMostPoints), .given = "more"});
    std::vector<StudyPoint> next;
    for (const StudyPoint& point : points)
      for (const std::string& value : values)
        next.push_back({fmt::format("{}{}{}={}", point.name, point.name.empty() ? "" : ", ", key, value),
                        with_key(point.study, key, value)});
    points = std::move(next);
  }
  return points;
}

std::vector<ScalingCurve> scaling_curves(const std::vector<ClusterRecord>& clusters) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<ScalingPoint>> by_name;
  for (const ClusterRecord& c : clusters)
    if (c.has_layout() && !c.between)
      by_name[{c.name, c.variant, c.scaling}].push_back(
          {.gpus = c.gpus, .tokens_per_s = c.figures.front().tokens_per_s, .marginal = {}});
  std::vector<ScalingCurve> curves;
  for (auto& [name, points] : by_name) {
    if (points.size() < 2) continue;
    std::sort(points.begin(), points.end(), [](auto& a, auto& b) { return a.gpus < b.gpus; });
    const auto& [cluster, variant, scaling] = name;
    ScalingCurve curve{cluster, scaling, points, {}};
    if (!variant.empty()) curve.name += fmt::format(", {}", variant);
    const double base = points.front().tokens_per_s / static_cast<double>(points.front().gpus);
    curve.knee = points.front().gpus;
    bool worth_it = true;
    for (std::size_t i = 0; i < points.size(); ++i) {
      ScalingPoint& p = curve.points[i];
      p.efficiency = p.tokens_per_s / static_cast<double>(p.gpus) / base;
      if (i == 0) continue;
      const ScalingPoint& before = curve.points[i - 1];
      p.marginal = (p.tokens_per_s - before.tokens_per_s) / static_cast<double>(p.gpus - before.gpus) / base;
      worth_it = worth_it && *p.marginal >= kWorthIt;
      if (worth_it) curve.knee = p.gpus;
    }
    if (worth_it) curve.knee.reset();  // none up to here
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace busbar
