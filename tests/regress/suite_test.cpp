// The default profile held against every published table, and the fit behind it: reproduced, and tried on
// systems that it has not seen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/sanitized.h"
#include "validate/fit_suite.h"
#include "validate/suite_predictor.h"

namespace busbar {
namespace {

constexpr std::int64_t kKiB = 1024;

const std::vector<SuiteTable>& tables() {
  static const std::vector<SuiteTable> all =
      read_suite(std::string(BUSBAR_SOURCE_DIR) + "/validate/data/collectives/index.json");
  return all;
}

bool is_sends(const SuiteTable& t) {
  return t.operation == CollectiveKind::kAllToAll || t.operation == CollectiveKind::kSendRecv;
}

std::string class_of(const SuiteTable& t) { return t.machine_class + (is_sends(t) ? " sends" : ""); }

struct Scored {
  const SuiteTable* table;
  TableError error;
  std::vector<double> small;  // |errors| of rows of 1 to 16 KiB
};

std::vector<Scored> score(const Profile& profile, const std::vector<const SuiteTable*>& list) {
  SuitePredictor predictor(list, profile);
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::vector<double> predicted = predictor.predict(i);
    Scored s{list[i], error_of(list[i]->rows, predicted), {}};
    for (std::size_t r = 0; r < predicted.size(); ++r)
      if (list[i]->rows[r].size.count() >= kKiB && list[i]->rows[r].size.count() <= 16 * kKiB)
        s.small.push_back(std::abs(predicted[r] / list[i]->rows[r].time_s - 1));
    scored.push_back(std::move(s));
  }
  return scored;
}

std::vector<const SuiteTable*> in_model() {
  std::vector<const SuiteTable*> list;
  for (const SuiteTable& t : tables())
    if (t.in_model && !t.duplicate && t.topology) list.push_back(&t);
  return list;
}

// The q-th share of the values from below: the smallest that at least this share does not exceed.
double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

struct Spread {
  double median, p90, worst;
};

Spread spread(const std::vector<double>& values) {
  return {quantile(values, 0.5), quantile(values, 0.9), quantile(values, 1)};
}

struct Limits {
  std::set<std::string> classes;
  double median, p90, worst;
};

// Of the tables' median errors.
const std::map<std::string, Limits> kLimits = {
    {"one NVSwitch host", {{"nvswitch-host", "nvlink-rack"}, 0.05, 0.12, 0.25}},
    {"one NVSwitch host, sends", {{"nvswitch-host sends", "nvlink-rack sends"}, 0.08, 0.13, 0.25}},
    {"several hosts, InfiniBand or RoCE", {{"rdma", "rdma sends"}, 0.10, 0.25, 0.35}},
    {"EFA v2", {{"efa"}, 0.13, 0.35, 0.35}},
};

std::vector<double> medians(const std::vector<Scored>& scored, const std::set<std::string>& classes) {
  std::vector<double> values;
  for (const Scored& s : scored)
    if (classes.contains(class_of(*s.table))) values.push_back(s.error.median);
  return values;
}

TEST(DefaultProfile, IsWithinItsLimitsOnPublishedTables) {
  const std::vector<Scored> scored = score(default_profile(), in_model());
  for (const auto& [name, limits] : kLimits) {
    const Spread s = spread(medians(scored, limits.classes));
    fmt::print("  {}: median {:.1f} %, 90th percentile {:.1f} %, worst {:.1f} %\n", name, 100 * s.median,
               100 * s.p90, 100 * s.worst);
    EXPECT_LE(s.median, limits.median) << name;
    EXPECT_LE(s.p90, limits.p90) << name;
    EXPECT_LE(s.worst, limits.worst) << name;
  }
}

TEST(DefaultProfile, IsWithinItsLimitsOnV100) {
  for (const Scored& s : score(default_profile(), in_model()))
    if (s.table->system.find("V100") != std::string::npos ||
        s.table->file.find("v100") != std::string::npos) {
      fmt::print("  {}: {:.1f} %\n", s.table->name, 100 * s.error.median);
      EXPECT_LE(s.error.median, 0.15) << s.table->name;
    }
}

TEST(DefaultProfile, ReachesTheMeasuredPlateaus) {
  std::vector<double> one_host, several;
  for (const Scored& s : score(default_profile(), in_model())) {
    const std::string c = class_of(*s.table);
    if (c.starts_with("nvswitch-host") || c.starts_with("nvlink-rack")) one_host.push_back(s.error.plateau);
    if (c.starts_with("rdma") || c == "efa") several.push_back(s.error.plateau);
  }
  const Spread host = spread(one_host), net = spread(several);
  fmt::print("  NVSwitch: median {:.1f} %, worst {:.1f} %; several hosts: median {:.1f} %, worst {:.1f} %\n",
             100 * host.median, 100 * host.worst, 100 * net.median, 100 * net.worst);
  EXPECT_LE(host.median, 0.03);
  EXPECT_LE(host.worst, 0.12);
  EXPECT_LE(net.median, 0.05);
  EXPECT_LE(net.worst, 0.30);  // a pair of clouds' hosts with one GPU each misses 20 %: 26 %
}

TEST(DefaultProfile, ReachesTheMeasuredFloors) {
  std::vector<double> one_host, several;
  for (const Scored& s : score(default_profile(), in_model())) {
    const std::string c = class_of(*s.table);
    const bool known = s.table->launches_known;
    if (c == "nvswitch-host" && known) one_host.insert(one_host.end(), s.small.begin(), s.small.end());
    if (c == "rdma" || c == "efa") several.insert(several.end(), s.small.begin(), s.small.end());
  }
  const Spread host = spread(one_host), net = spread(several);
  fmt::print("  NVSwitch: median {:.1f} %, worst {:.1f} %; several hosts: median {:.1f} %, worst {:.1f} %\n",
             100 * host.median, 100 * host.worst, 100 * net.median, 100 * net.worst);
  EXPECT_LE(host.median, 0.12);
  EXPECT_LE(net.median, 0.20);
}

TEST(DefaultProfile, IsTheFitOfThePublishedTables) {
  if (kSanitized) GTEST_SKIP() << "fits take minutes under the sanitizers";
  Profile fitted = default_profile();
  for (const FittedPart& part : fit_to_suite(fitted, tables())) EXPECT_TRUE(part.converged) << part.name;
  Profile written = default_profile();
  const std::vector<ParameterRef> a = parameters(fitted), b = parameters(written);
  // Three digits are written down, and flat directions of the fit end anywhere in them.
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(*a[i].value / *b[i].value, 1, 0.05) << a[i].name;
}

// Each system's tables predicted by a fit that never saw it.
TEST(CrossValidation, LeavesOneSystemOut) {
  if (kSanitized) GTEST_SKIP() << "fits take minutes under the sanitizers";
  std::map<std::string, std::vector<const SuiteTable*>> systems;
  for (const SuiteTable* t : in_model()) systems[t->system].push_back(t);
  std::vector<Scored> all;
  for (const auto& [system, list] : systems) {
    Profile profile = default_profile();
    const std::vector<FittedPart> parts = fit_without(profile, tables(), system);
    const std::vector<Scored> scored = score(profile, list);
    std::vector<double> errors;
    for (const Scored& s : scored) errors.push_back(s.error.median);
    const Spread s = spread(errors);
    fmt::print("  {:<28} {:3} tables: median {:5.1f} %, worst {:5.1f} %{}\n", system, list.size(),
               100 * s.median, 100 * s.worst,
               parts.empty() ? " (no other system of its kind: constants unfitted)" : "");
    all.insert(all.end(), scored.begin(), scored.end());
  }
  for (const auto& [name, limits] : kLimits) {
    const Spread s = spread(medians(all, limits.classes));
    fmt::print("  {}, unseen: median {:.1f} %, 90th percentile {:.1f} %, worst {:.1f} %\n", name,
               100 * s.median, 100 * s.p90, 100 * s.worst);
    // Grouped sends of A100 hosts are in one system's tables only: without it their constants stay unfitted.
    EXPECT_LE(s.median, limits.median + (name.ends_with("sends") ? 0.01 : 0)) << name;
  }
}

}  // namespace
}  // namespace busbar
