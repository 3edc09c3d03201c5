#include "calibrate/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/health_samples.h"
#include "sim/base/error.h"
#include "sim/base/statistics.h"

namespace busbar {

namespace {

using Best = std::map<std::string, HealthSample>;                    // by part
using Groups = std::map<std::pair<std::string, std::string>, Best>;  // by group and quantity

Groups best_of(std::vector<HealthSample> samples) {
  Groups groups;
  for (HealthSample& s : samples) {
    Best& best = groups[{s.group, s.quantity}];
    const auto [found, added] = best.try_emplace(s.part, s);
    const bool better = s.smaller_is_better ? s.value < found->second.value : s.value > found->second.value;
    if (!added && better) found->second = std::move(s);
  }
  return groups;
}

bool is_slow(double value, double expected, bool smaller_is_better, double tolerance) {
  if (!(expected > 0)) return false;
  return smaller_is_better ? value > (1 + 2 * tolerance) * expected : value < (1 - tolerance) * expected;
}

// Collectives gain twofold at most where switches reduce, and models are off by a part: more is no
// measurement.
constexpr double kImpossible = 3;

bool is_impossible(const HealthSample& s) {
  if (s.faster_than_hardware) return true;
  return !s.smaller_is_better && s.modelled > 0 && s.value > kImpossible * s.modelled;
}

HealthFinding finding_of(const HealthSample& s, double peers, double tolerance) {
  HealthFinding f{.what = s.part + ", " + s.group.substr(0, s.group.find(':')),
                  .quantity = s.quantity,
                  .measured = s.value,
                  .peers = peers,
                  .nominal = s.nominal,
                  .impossible = is_impossible(s)};
  f.slow = is_slow(s.value, peers, s.smaller_is_better, tolerance);
  f.text = s.smaller_is_better
               ? fmt::format("{}: {:.3g} {} where its peers take {:.3g}", s.part, s.value, s.quantity, peers)
               : fmt::format("{}: {:.3g} of {:.3g} {}", s.part, s.value, peers, s.quantity);
  if (f.impossible)
    f.text = fmt::format("{}: {:.3g} {} cannot be (the model: {:.3g}): wrong units, or another machine",
                         s.part, s.value, s.quantity, s.modelled);
  return f;
}

// Two parts alone: the better one is the other's peer, and the model stands in for its own.
void compare_parts(HealthReport& report, const Best& best, double tolerance) {
  for (const auto& [part, sample] : best) {
    std::vector<double> others;
    for (const auto& [name, other] : best)
      if (name != part) others.push_back(other.value);
    const double peers = others.size() >= 2 ? median_of(others) : sample.modelled;
    report.findings.push_back(finding_of(sample, peers, tolerance));
  }
}

// All of them together beside what the datasheet lets one expect.
void compare_group(HealthReport& report, const std::string& group, const Best& best, double tolerance) {
  std::vector<double> values, modelled;
  for (const auto& [part, s] : best) {
    values.push_back(s.value);
    modelled.push_back(s.modelled);
  }
  const HealthSample& any = best.begin()->second;
  HealthSample all{.group = group,
                   .part = "all " + group.substr(group.rfind(' ') + 1),
                   .quantity = any.quantity,
                   .value = median_of(values),
                   .nominal = any.nominal,
                   .smaller_is_better = any.smaller_is_better};
  HealthFinding f = finding_of(all, median_of(modelled), tolerance);
  f.what = group + ", all";
  f.text = fmt::format("{}: {:.3g} {} in the middle where {:.3g} is expected", group, f.measured, f.quantity,
                       f.peers);
  report.findings.push_back(std::move(f));
}

}  // namespace

HealthReport check_health(const Topology& topology, const Measurement& measured, const Profile& profile,
                          double tolerance) {
  HealthReport report{
      .topology = topology.name(), .tables = measured.tables.size(), .kernels = measured.kernels.size()};
  for (const auto& [key, best] : best_of(health_samples(topology, measured, profile, report.notes))) {
    compare_parts(report, best, tolerance);
    if (best.size() > 2) compare_group(report, key.first, best, tolerance);
  }
  if (report.findings.empty())
    throw Error({.where = "calibrate --check",
                 .message = report.notes.empty() ? "no row says anything of a part's health"
                                                 : "nothing to compare: " + report.notes.front(),
                 .suggestion =
                     "ranks come from \"members\" and \"rank\" of busbar.measured/1 or from a list of "
                     "them; rates from sizes of 1 MiB and more, latencies from up to 16 KiB"});
  std::stable_partition(report.findings.begin(), report.findings.end(),
                        [](const HealthFinding& f) { return f.slow || f.impossible; });
  return report;
}

}  // namespace busbar
