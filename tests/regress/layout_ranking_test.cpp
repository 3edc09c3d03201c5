// Whether the layout that is predicted to be the fastest is, among published layouts of one job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/worker_pool.h"
#include "sim/study/short_steps.h"
#include "tests/support/sanitized.h"
#include "validate/run_suites.h"

namespace busbar {
namespace {

struct Timed {
  double measured = 0, predicted = 0;
  std::string name;
};
using Groups = std::vector<std::vector<Timed>>;

constexpr std::size_t kLeast = 5;  // layouts of a group
constexpr double kTenth = 0.1;

// Some published layouts are none by the rules of the model: more stages than blocks.
bool is_refused(const StepRow& row) {
  try {
    check_layout(workload_of(row.run));
    return false;
  } catch (const Error&) {
    return true;
  }
}

/// Groups of one model, machine, sequence and global batch.
Groups groups_of(const std::string& table) {
  const std::string path = std::string(BUSBAR_SOURCE_DIR) + "/validate/data/" + table;
  std::vector<StepRow> rows = read_steps(load_text(path), path);
  std::erase_if(rows, [](const StepRow& row) { return !row.run.not_simulated.empty() || is_refused(row); });
  std::map<std::tuple<std::string, std::string, std::int64_t, std::int64_t>, std::vector<std::size_t>> by_job;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BatchSpec batch = workload_of(rows[i].run).batch;
    by_job[{rows[i].run.model, topology_text(rows[i].run.machine), batch.sequence, batch.global}].push_back(
        i);
  }
  std::erase_if(by_job, [](const auto& job) { return job.second.size() < kLeast; });
  std::vector<std::size_t> order;
  for (const auto& [job, members] : by_job) order.insert(order.end(), members.begin(), members.end());
  std::vector<double> predicted(rows.size(), 0);
  const Profile profile = default_profile();
  run_jobs(order, 2, [&](std::size_t i) {
    predicted[i] = step_figures(topology_of(rows[i].run), profile, workload_of(rows[i].run)).step_s;
  });
  Groups groups;
  for (const auto& [job, members] : by_job) {
    groups.emplace_back();
    for (const std::size_t i : members)
      groups.back().push_back(
          {rows[i].measured_s, predicted[i], rows[i].run.id + " (" + rows[i].run.layout + ")"});
  }
  return groups;
}

/// Equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<Timed>& group, double Timed::*value) {
  std::vector<double> ranks;
  for (const Timed& t : group) {
    double below = 0, equal = 0;
    for (const Timed& other : group) {
      below += other.*value < t.*value ? 1 : 0;
      equal += other.*value == t.*value ? 1 : 0;
    }
    ranks.push_back(below + (equal - 1) / 2);
  }
  return ranks;
}

/// Spearman's.
double rank_correlation(const std::vector<Timed>& group) {
  const std::vector<double> a = ranks_of(group, &Timed::measured), b = ranks_of(group, &Timed::predicted);
  const double mean = static_cast<double>(group.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa * bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

const Timed& least(const std::vector<Timed>& group, double Timed::*value) {
  return *std::min_element(group.begin(), group.end(),
                           [&](const Timed& a, const Timed& b) { return a.*value < b.*value; });
}

/// How much longer than the best the one takes that is predicted to be.
double regret(const std::vector<Timed>& group) {
  return least(group, &Timed::predicted).measured / least(group, &Timed::measured).measured - 1;
}

/// For who looks for the cause.
void print_choice(const std::vector<Timed>& group) {
  const Timed &chosen = least(group, &Timed::predicted), &best = least(group, &Timed::measured);
  fmt::print(
      "  {} layouts: chosen {} measured {:.3g} s predicted {:.3g} s; best {} measured {:.3g} s predicted "
      "{:.3g} s\n",
      group.size(), chosen.name, chosen.measured, chosen.predicted, best.name, best.measured, best.predicted);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

struct Ranking {
  std::size_t groups = 0, within_tenth = 0;
  double correlation = 0, regret = 0;  // medians over groups
};

Ranking ranking_of(const std::string& table) {
  Ranking r;
  std::vector<double> correlations, regrets;
  for (const std::vector<Timed>& group : groups_of(table)) {
    correlations.push_back(rank_correlation(group));
    regrets.push_back(regret(group));
    if (regrets.back() <= kTenth)
      ++r.within_tenth;
    else
      print_choice(group);
  }
  r.groups = regrets.size();
  r.correlation = median(correlations);
  r.regret = median(regrets);
  fmt::print(
      "{}: {} groups, rank correlation {:.3f}, best {:.1f} % above the measured best, within 10 % in {}\n",
      table, r.groups, r.correlation, 100 * r.regret, r.within_tenth);
  return r;
}

// The goal is 0.9, 3 % and nine groups in ten over all sources; limits are just below what each reaches
// (docs/planning.md).
TEST(LayoutRanking, OfAlephAlphaIsTheMeasuredOne) {
  if (kSanitized) GTEST_SKIP() << "simulates for minutes under the sanitizers";
  const Ranking r = ranking_of("steps/aleph-alpha.csv");
  EXPECT_EQ(r.groups, 4U);
  EXPECT_GE(r.correlation, 0.9);
  EXPECT_LE(r.regret, 0.03);
  EXPECT_EQ(r.within_tenth, r.groups);
}

TEST(LayoutRanking, OfVtrainsSmallModelsOnOneHostIsNearlyTheMeasuredOne) {
  const Ranking r = ranking_of("sweeps/vtrain-one-host.csv");
  EXPECT_EQ(r.groups, 52U);
  EXPECT_GE(r.correlation, 0.87);
  EXPECT_LE(r.regret, 0.03);
  EXPECT_GE(r.within_tenth, 39U);
}

TEST(LayoutRanking, OfNanotronIsTheMeasuredOne) {
  if (kSanitized) GTEST_SKIP() << "simulates for minutes under the sanitizers";
  const Ranking r = ranking_of("steps/nanotron.csv");
  EXPECT_GE(r.correlation, 0.9);
  EXPECT_LE(r.regret, 0.03);
}

TEST(LayoutRanking, OfBloomAndSeveralHostsOfVtrain) {
  if (kSanitized) GTEST_SKIP() << "simulates for minutes under the sanitizers";
  EXPECT_LE(ranking_of("steps/bloom.csv").regret, 0.03);
  EXPECT_LE(ranking_of("sweeps/vtrain-hosts.csv").regret, 0.04);
}

}  // namespace
}  // namespace busbar
