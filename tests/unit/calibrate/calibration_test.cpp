// Fits to tables of machines whose true numbers are known.
#include "calibrate/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/compare_profiles.h"
#include "sim/base/error.h"
#include "sim/base/statistics.h"
#include "sim/cost/profile_io.h"
#include "sim/replay/prediction_interval.h"
#include "tests/support/errors.h"
#include "tests/unit/calibrate/synthetic.h"

namespace busbar {
namespace {

Measurement measured(std::vector<MeasuredTable> tables) {
  Measurement m;
  m.tables = std::move(tables);
  return m;
}

std::vector<double> errors(const std::vector<double>& predicted, const std::vector<double>& truth) {
  std::vector<double> list;
  for (std::size_t i = 0; i < truth.size(); ++i) list.push_back(std::abs(predicted[i] / truth[i] - 1));
  return list;
}

TEST(Calibration, PredictsWithinTwoPercentFromNoisyTables) {
  const Topology topology = one_dgx();
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Profile truth = moved_profile("hopper", 0.5, seed);
    std::vector<MeasuredTable> tables = usual_tables();
    fill(tables, topology, truth);
    add_noise(tables, {.share = 0.03, .outliers = 0.05, .seed = seed});
    const Calibration found = calibrate(topology, measured(tables), default_profile(), {});
    // Sizes between the measured ones, and an operation and a number of ranks that were not measured.
    std::vector<MeasuredTable> unseen{empty_table(CollectiveKind::kAllReduce, 8, 1536, 1 << 30),
                                      empty_table(CollectiveKind::kReduceScatter, 8, 2048, 1 << 30),
                                      empty_table(CollectiveKind::kAllGather, 6, 3072, 1 << 30)};
    const std::vector<double> off =
        errors(predicted(unseen, topology, found.profile), predicted(unseen, topology, truth));
    EXPECT_LT(quantile(off, 0.5), 0.02) << "seed " << seed;
    EXPECT_LT(found.report.fit.median, 0.03);  // of noise of 3 %: its median |z| is 0.67 x 3 %
    EXPECT_FALSE(found.report.outliers.empty());
    EXPECT_GT(found.report.cross_validated.rows, 0U);
  }
}

TEST(Calibration, GivesBackTheDefaultFromItsOwnPredictions) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = usual_tables();
  fill(tables, topology, default_profile());
  const Calibration found =
      calibrate(topology, measured(tables), default_profile(), {.cross_validate = false});
  Profile fitted = found.profile, start = default_profile();
  const std::vector<ParameterRef> a = parameters(fitted), b = parameters(start);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(*a[i].value / *b[i].value, 1, 1e-3) << a[i].name;
  EXPECT_TRUE(found.report.outliers.empty());
}

// All_reduce on four GPUs over PCIe: two sizes inside and beyond four measured ones. A latency and a rate
// through the two large ones, (41278 - 2605.3) us for 125829120 B, give 20653 and 165029 us.
TEST(Calibration, FourRowsPredictOthersWithinOnePercent) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "four cards",
    "hosts": {"count": 1, "type": "pcie-4", "gpu": "RTX-3090-24GB"}, "fabric": {"family": "none"}})");
  MeasuredTable table{.source = "four rows", .operation = CollectiveKind::kAllReduce, .ranks = 4};
  for (const auto& [size, us] : {std::pair(262144, 122.3), std::pair(1048576, 349.1),
                                 std::pair(8388608, 2605.3), std::pair(134217728, 41278.0)})
    table.rows.push_back({.operation = CollectiveKind::kAllReduce,
                          .size = Bytes(size),
                          .ranks = 4,
                          .time = Time::from_microseconds(us)});
  const Calibration found = calibrate(topology, measured({table}), default_profile(), {});
  MeasuredTable unseen{.source = "unseen", .operation = CollectiveKind::kAllReduce, .ranks = 4};
  for (const std::int64_t size : {67108864, 536870912})
    unseen.rows.push_back({.operation = CollectiveKind::kAllReduce,
                           .size = Bytes(size),
                           .ranks = 4,
                           .time = Time::from_seconds(1)});
  const std::vector<double> times = predicted({unseen}, topology, found.profile);
  EXPECT_NEAR(times[0] * 1e6 / 20653, 1, 0.01);
  EXPECT_NEAR(times[1] * 1e6 / 164854, 1, 0.01);
}

TEST(Calibration, RefusesWhatPinsNothing) {
  const Topology topology = one_dgx();
  MeasuredTable alone{.source = "one GPU", .operation = CollectiveKind::kAllReduce, .ranks = 1};
  alone.rows.push_back({.operation = CollectiveKind::kAllReduce,
                        .size = Bytes(1 << 20),
                        .ranks = 1,
                        .time = Time::from_microseconds(10)});
  Measurement nothing;
  EXPECT_THROW(static_cast<void>(calibrate(topology, nothing, default_profile(), {})), Error);
  MeasuredTable many = alone;
  many.ranks = 16;
  EXPECT_THROW(static_cast<void>(calibrate(topology, measured({many}), default_profile(), {})), Error);
}

TEST(Calibration, KeepsWhatNothingPinsAndSaysWhatWould) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables{empty_table(CollectiveKind::kAllReduce, 8, 1 << 26, 1 << 30)};
  fill(tables, topology, moved_profile("hopper", 0.5, 4));
  const Calibration found =
      calibrate(topology, measured(tables), default_profile(), {.cross_validate = false});
  // Only large sizes: their time hardly depends on latencies.
  const auto& unpinned = found.report.unpinned;
  const auto base = std::find_if(unpinned.begin(), unpinned.end(),
                                 [](const UnpinnedParameter& p) { return p.name.ends_with("base_latency"); });
  ASSERT_NE(base, unpinned.end());
  EXPECT_FALSE(base->measurement.empty());
}

TEST(Calibration, FindsABreakInACurve) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = usual_tables();
  fill(tables, topology, default_profile());
  // From 1 MiB on, four times as slow: a protocol that should not have been taken.
  for (MeasuredRow& row : tables[0].rows)
    if (row.size.count() >= 1 << 20) row.time = 4 * row.time;
  const Calibration found =
      calibrate(topology, measured(tables), default_profile(), {.cross_validate = false});
  EXPECT_FALSE(found.report.breaks.empty() && found.report.outliers.empty());
}

TEST(Calibration, MeasuresKernelsByThemselves) {
  const Topology topology = one_dgx();
  Measurement m;
  const double bandwidth = topology.gpu_models()[0].memory_bandwidth.Bps();
  for (const double share : {0.90, 0.91, 0.92})
    m.kernels.push_back({.where = "here",
                         .kind = MeasuredKernelKind::kCopy,
                         .bytes = Bytes(1 << 30),
                         .time = Time::from_seconds(2.0 * (1 << 30) / (share * bandwidth))});
  m.kernels.push_back(
      {.where = "here", .kind = MeasuredKernelKind::kLaunch, .time = Time::from_microseconds(3.5)});
  const Calibration found = calibrate(topology, m, default_profile(), {});
  const Generation& g = *generation_of(found.profile, "H100-SXM5-80GB").generation;
  EXPECT_NEAR(g.memory_efficiency, 0.91, 1e-4);
  EXPECT_NEAR(g.launch_us, 3.5, 1e-6);
  ASSERT_EQ(found.report.parameters.size(), 2U);
  EXPECT_EQ(found.report.parameters[0].origin, "measured");
}

TEST(Comparison, NamesWhatChangedBeyondItsInterval) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = usual_tables();
  fill(tables, topology, default_profile());
  add_noise(tables, {.outliers = 0, .seed = 5});
  const CalibrateOptions quick{.cross_validate = false};
  const Profile before = calibrate(topology, measured(tables), default_profile(), quick).profile;
  EXPECT_FALSE(compare_profiles(before, before).any_beyond());
  Profile slower = default_profile();
  for (Generation& g : slower.generations) g.links.efficiency *= 0.7;
  fill(tables, topology, slower);
  add_noise(tables, {.outliers = 0, .seed = 6});
  const ProfileComparison changed =
      compare_profiles(before, calibrate(topology, measured(tables), default_profile(), quick).profile);
  EXPECT_TRUE(changed.any_beyond());
  const auto link = std::find_if(changed.changes.begin(), changed.changes.end(),
                                 [](const ProfileChange& c) { return c.name == "hopper.links.efficiency"; });
  ASSERT_NE(link, changed.changes.end());
  EXPECT_TRUE(link->beyond());
  EXPECT_NEAR(link->ratio, 0.7, 0.05);
}

TEST(ProfileFile, ReadsBackAsItWasWritten) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = usual_tables();
  fill(tables, topology, moved_profile("hopper", 0.5, 7));
  add_noise(tables, {.seed = 7});
  const Profile profile =
      calibrate(topology, measured(tables), default_profile(), {.cross_validate = false}).profile;
  const std::string text = write_profile(profile);
  Profile back = read_profile(JsonDocument::parse(text, "profile.json")), given = profile;
  EXPECT_EQ(write_profile(back), text);
  const std::vector<ParameterRef> a = parameters(given), b = parameters(back);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(*b[i].value / *a[i].value, 1, 1e-4) << a[i].name;
  ASSERT_EQ(back.calibration.draws.size(), 16U);
  // Draws belong to the same numbers: a drawn profile predicts the same either way.
  const std::vector<double> x = predicted(tables, topology, drawn(profile, 3));
  const std::vector<double> y = predicted(tables, topology, drawn(back, 3));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i] / x[i], 1, 1e-3);
}

// Of what hardware could do nothing reaches more than all. A step's speed, of a modelled one, may.
TEST(ProfileFiles, RefuseSharesAboveOne) {
  const auto refusal = [](const std::string& name) {
    return error_of([&] {
      (void)read_profile(
          JsonDocument::parse(R"({"schema": "busbar.profile/1", "name": "x", "parameters": [{"name": ")" +
                                  name + R"(", "value": 1.2, "origin": "measured", "rows": 1}]})",
                              "hand.json"));
    });
  };
  for (const char* share :
       {"hopper.links.efficiency", "rdma.efficiency", "rdma.sends_share", "kernels.hopper.memory_efficiency"})
    EXPECT_EQ(refusal(share).find("hand.json#/parameters/0/value: expected a share of at most 1"), 0U)
        << share << ": " << refusal(share);
  EXPECT_EQ(refusal("kernels.hopper.step_speed"), "no error");
}

TEST(ProfileFiles, CountTheGpusOfTheStepThatTheyWereMeasuredBy) {
  Profile profile = default_profile();
  profile.calibration.step_gpus = 8;
  EXPECT_EQ(read_profile(JsonDocument::parse(write_profile(profile), "p.json")).calibration.step_gpus, 8);
  EXPECT_FALSE(
      read_profile(JsonDocument::parse(write_profile(default_profile()), "p.json")).calibration.step_gpus);
}

// A profile fitted on the ideal one keeps that as what its numbers replace.
TEST(ProfileFiles, SayWhatTheirNumbersReplace) {
  const auto with = [](const std::string& base) {
    return read_profile(JsonDocument::parse(
        R"({"schema": "busbar.profile/1", "name": "x", )" + base + R"("parameters": []})", "profile.json"));
  };
  EXPECT_FALSE(with("").ideal);
  EXPECT_FALSE(with(R"("base": "default", )").ideal);
  const Profile ideal = with(R"("base": "ideal", )");
  EXPECT_TRUE(ideal.ideal);
  EXPECT_TRUE(read_profile(JsonDocument::parse(write_profile(ideal), "profile.json")).ideal);
  try {
    (void)with(R"("base": "idael", )");
    ADD_FAILURE() << "read a base that does not exist";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 R"(profile.json#/base: expected default or ideal, got 'idael'; did you mean 'ideal'?)");
  }
}

}  // namespace
}  // namespace busbar
