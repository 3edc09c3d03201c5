// Intervals of calibrations hold the truth about as often as they say.
#include <gtest/gtest.h>

#include "calibrate/calibration.h"
#include "sim/replay/prediction_interval.h"
#include "tests/support/sanitized.h"
#include "tests/unit/calibrate/synthetic.h"

namespace busbar {
namespace {

constexpr int kDraws = kSanitized ? 4 : 200;  // some fifty times slower: four are too few to hold a share

struct Held {
  int inside = 0, all = 0;
  void take(bool is_inside) {
    inside += is_inside ? 1 : 0;
    ++all;
  }
  [[nodiscard]] double share() const { return static_cast<double>(inside) / all; }
};

void take_parameters(Held& held, const Profile& found, Profile truth) {
  for (const ParameterRef& p : parameters(truth))
    for (const CalibratedValue& v : found.calibration.values)
      if (v.name == p.name && v.origin == "fitted") held.take(*p.value >= v.low && *p.value <= v.high);
}

void take_predictions(Held& held, const Profile& found, const Profile& truth, const Topology& topology) {
  const std::vector<MeasuredTable> unseen{empty_table(CollectiveKind::kAllReduce, 8, 1536, 1 << 30),
                                          empty_table(CollectiveKind::kReduceScatter, 8, 2048, 1 << 30)};
  const std::vector<double> actual = predicted(unseen, topology, truth),
                            times = predicted(unseen, topology, found);
  std::vector<std::vector<double>> under(found.calibration.draws.size());
  for (std::size_t d = 0; d < under.size(); ++d) under[d] = predicted(unseen, topology, drawn(found, d));
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::vector<Time> drawn_times;
    for (const std::vector<double>& u : under) drawn_times.push_back(Time::from_seconds(u[i]));
    const Time time = Time::from_seconds(times[i]);
    const auto [low, high] = interval_of(time, drawn_times).value_or(std::pair{time, time});
    held.take(actual[i] >= low.seconds() && actual[i] <= high.seconds());
  }
}

// 200 machines, each measured with 3 % of noise and 5 % of outliers. Of independent trials 95 +- 1.5 % would
// be inside; what one machine's intervals hold goes together, so the bounds are wider.
TEST(Intervals, HoldTheTruthInAboutNinetyFivePercent) {
  const Topology topology = one_dgx();
  Held numbers, predictions;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto seed = static_cast<std::uint64_t>(draw) + 1;
    const Profile truth = moved_profile("hopper", 0.5, seed);
    Measurement m;
    m.tables = usual_tables();
    fill(m.tables, topology, truth);
    add_noise(m.tables, {.share = 0.03, .outliers = 0.05, .seed = seed});
    const Profile found =
        calibrate(topology, m, default_profile(), {.seed = seed, .cross_validate = false}).profile;
    take_parameters(numbers, found, truth);
    take_predictions(predictions, found, truth, topology);
  }
  RecordProperty("numbers", std::to_string(numbers.share()));
  RecordProperty("predictions", std::to_string(predictions.share()));
  std::printf("numbers %.3f of %d, predictions %.3f of %d\n", numbers.share(), numbers.all,
              predictions.share(), predictions.all);
  if (kDraws < 200) GTEST_SKIP() << "too few draws to hold a share";
  EXPECT_NEAR(numbers.share(), 0.95, 0.03);
  EXPECT_NEAR(predictions.share(), 0.95, 0.03);
}

}  // namespace
}  // namespace busbar
