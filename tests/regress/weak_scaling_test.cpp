// How much longer steps take on more GPUs than everything that is simulated says: what kSpeedSpread rests on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "calibrate/import/text_scan.h"
#include "sim/base/statistics.h"
#include "sim/cost/slowest_gpu.h"
#include "sim/replay/simulate.h"
#include "tests/support/sanitized.h"
#include "validate/run_suites.h"

namespace busbar {
namespace {

struct Point {
  std::int64_t gpus = 0;
  double log_error = 0;  // ln(measured / predicted)
};

/// The same job per GPU on different numbers of them: machine, workload and microbatches alike but for dp.
/// Without pipelines, in which a slow GPU delays one stage only.
std::map<std::string, std::vector<const StepRow*>> families(const std::vector<StepRow>& rows) {
  std::map<std::string, std::vector<const StepRow*>> families;
  for (const StepRow& row : rows) {
    const Workload w = workload_of(row.run);
    if (w.parallel.pp > 1 || w.parallel.ep > 1) continue;
    families[fmt::format("{} on {}, {}, tp {} cp {}, {} x {} tokens, {} microbatches", row.run.model,
                         row.run.gpu, name_of(w.precision.compute), w.parallel.tp, w.parallel.cp,
                         w.batch.micro, w.batch.sequence, w.batch.global / w.parallel.dp / w.batch.micro)]
        .push_back(&row);
  }
  std::erase_if(families, [](const auto& family) {
    std::set<std::int64_t> sizes;
    for (const StepRow* row : family.second) sizes.insert(row->run.gpus());
    return sizes.size() < 2;
  });
  return families;
}

/// The least-squares slope of log_error over mean_largest_of(gpus).
double slope_of(const std::vector<Point>& points) {
  double x0 = 0, y0 = 0, xy = 0, xx = 0;
  for (const Point& p : points) {
    x0 += mean_largest_of(p.gpus) / static_cast<double>(points.size());
    y0 += p.log_error / static_cast<double>(points.size());
  }
  for (const Point& p : points) {
    const double x = mean_largest_of(p.gpus) - x0;
    xy += x * (p.log_error - y0);
    xx += x * x;
  }
  return xy / xx;
}

// Nothing of torchtitan's is in it: its run on 128 GPUs is predicted with this number.
TEST(WeakScaling, OfPublishedStepsGivesTheSpreadOfGpus) {
  if (kSanitized) GTEST_SKIP() << "simulates steps of 1,024 GPUs";
  const std::string path = std::string(BUSBAR_SOURCE_DIR) + "/validate/data/steps/dgxc.csv";
  const std::vector<StepRow> rows = read_steps(load_text(path), path);
  std::vector<double> slopes;
  std::size_t steps = 0;
  for (const auto& [name, members] : families(rows)) {
    std::vector<Point> points;
    for (const StepRow* row : members) {
      const Topology topology = topology_of(row->run);
      const double predicted =
          simulate(topology, step_of(row->run, topology), default_profile(), {}).step_time.seconds();
      points.push_back({row->run.gpus(), std::log(row->measured_s / predicted)});
    }
    slopes.push_back(slope_of(points));
    steps += points.size();
    fmt::print("  {}: {} steps, {:.1f} %\n", name, points.size(), 100 * slopes.back());
  }
  fmt::print("  {} families, {} steps, median {:.2f} %\n", slopes.size(), steps, 100 * median_of(slopes));
  for (const double slope : slopes) EXPECT_GT(slope, 0);  // every one takes longer on more
  EXPECT_NEAR(median_of(slopes), kSpeedSpread, 0.001);
}

}  // namespace
}  // namespace busbar
