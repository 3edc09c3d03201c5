// Faulty machines and faulty measurements: what is found, what is left out, what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/calibration.h"
#include "calibrate/compare_profiles.h"
#include "calibrate/health.h"
#include "sim/base/error.h"
#include "sim/replay/prediction_interval.h"
#include "tests/unit/calibrate/synthetic.h"

namespace busbar {
namespace {

const CalibrateOptions kQuick{.cross_validate = false};

Measurement measured(std::vector<MeasuredTable> tables) {
  return {.tables = std::move(tables), .kernels = {}};
}

std::vector<MeasuredTable> two_tables() {
  return {empty_table(CollectiveKind::kAllReduce, 8, 1024, std::int64_t{1} << 30),
          empty_table(CollectiveKind::kAllGather, 8, 1024, std::int64_t{1} << 30)};
}

bool notes_say(const std::vector<std::string>& notes, const std::string& what) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(what) != std::string::npos; });
}

const CalibratedValue* value_of(const Profile& profile, const std::string& name) {
  for (const CalibratedValue& v : profile.calibration.values)
    if (v.name == name) return &v;
  return nullptr;
}

// Links at a third of what any healthy machine reaches: eleven spreads of the prior.
TEST(FaultyMachine, IsFoundHoweverFarItIsFromAHealthyOne) {
  const Topology topology = one_dgx();
  Profile truth = default_profile();
  for (Generation& g : truth.generations) g.links.efficiency /= 3;
  std::vector<MeasuredTable> tables = two_tables();
  fill(tables, topology, truth);
  add_noise(tables, {.outliers = 0});
  const Calibration found = calibrate(topology, measured(tables), default_profile(), kQuick);
  const double true_efficiency = generation_of(truth, "H100-SXM5-80GB").generation->links.efficiency;
  const Generation& g = *generation_of(found.profile, "H100-SXM5-80GB").generation;
  EXPECT_NEAR(g.links.efficiency / true_efficiency, 1, 0.05);
  const CalibratedValue* efficiency = value_of(found.profile, "hopper.links.efficiency");
  ASSERT_NE(efficiency, nullptr);
  EXPECT_LE(efficiency->low, true_efficiency);
  EXPECT_GE(efficiency->high, true_efficiency);
  EXPECT_LT(found.report.fit.median, 0.05);
  EXPECT_FALSE(found.report.misfit);
}

// Milliseconds read as microseconds: a thousand times too fast for every link.
TEST(FaultyInput, InAnotherUnitIsToldOrRefused) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = two_tables();
  fill(tables, topology, default_profile());
  for (MeasuredTable& table : tables)
    for (MeasuredRow& row : table.rows) row.time = Time::from_seconds(row.time.seconds() / 1000);
  try {
    const Calibration found = calibrate(topology, measured(tables), default_profile(), kQuick);
    EXPECT_TRUE(found.report.misfit);
    EXPECT_TRUE(notes_say(found.report.notes, "check their units"));
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("units"), std::string::npos) << e.what();
  }
}

TEST(FaultyInput, OneRankByItselfIsLeftOut) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = two_tables();
  fill(tables, topology, default_profile());
  const Profile without = calibrate(topology, measured(tables), default_profile(), kQuick).profile;
  MeasuredTable alone = empty_table(CollectiveKind::kAllReduce, 1, 1024, 1 << 20);
  alone.source = "one.log:1";
  tables.push_back(alone);
  const Calibration with = calibrate(topology, measured(tables), default_profile(), kQuick);
  EXPECT_TRUE(notes_say(with.report.notes, "one rank by itself"));
  Profile a = without, b = with.profile;
  const std::vector<ParameterRef> x = parameters(a), y = parameters(b);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(*x[i].value, *y[i].value) << x[i].name;
}

TEST(FaultyInput, OfMoreHostsThanTheTopologyIsRefused) {
  std::vector<MeasuredTable> tables = two_tables();
  tables[0].hosts = 2;
  try {
    static_cast<void>(calibrate(one_dgx(), measured(tables), default_profile(), kQuick));
    ADD_FAILURE() << "took a measurement of two hosts for one of one";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("2 hosts of 4 GPUs"), std::string::npos) << e.what();
  }
  tables[0].members = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THROW(static_cast<void>(members_of(tables[0], one_dgx())), Error);
}

TEST(FaultyInput, OfAnotherGpuIsNoted) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = two_tables();
  fill(tables, topology, default_profile());
  tables[0].gpu = "NVIDIA A100-SXM4-80GB";
  tables[1].gpu = "NVIDIA H100 80GB HBM3";
  const Calibration found = calibrate(topology, measured(tables), default_profile(), kQuick);
  EXPECT_TRUE(notes_say(found.report.notes, "'NVIDIA A100-SXM4-80GB'"));
  EXPECT_FALSE(notes_say(found.report.notes, "HBM3"));
}

Topology mixed() {
  return topology_from(R"({"schema": "busbar.topology/1", "hosts": [
    {"count": 1, "type": "dgx-a100"}, {"count": 1, "type": "dgx-h100"}],
    "fabric": {"family": "rail-optimized"}})");
}

MeasuredKernel copy_on(const Topology& topology, std::uint32_t rank, double share) {
  const double Bps =
      topology.gpu_models()[static_cast<std::size_t>(topology.gpu_model_of(topology.ranks()[rank]))]
          .memory_bandwidth.Bps();
  return {.where = "here",
          .kind = MeasuredKernelKind::kCopy,
          .rank = rank,
          .bytes = Bytes(1 << 30),
          .time = Time::from_seconds(2.0 * (1 << 30) / (share * Bps))};
}

TEST(Kernels, CountForTheGenerationOfTheirGpu) {
  const Topology topology = mixed();
  Measurement m;
  m.kernels = {copy_on(topology, 0, 0.7), copy_on(topology, 8, 0.8)};
  const Profile profile = calibrate(topology, m, default_profile(), {}).profile;
  EXPECT_NEAR(generation_of(profile, "A100-SXM4-80GB").generation->memory_efficiency, 0.7, 1e-4);
  EXPECT_NEAR(generation_of(profile, "H100-SXM5-80GB").generation->memory_efficiency, 0.8, 1e-4);
}

TEST(Kernels, BeyondTheDatasheetAreLeftOut) {
  const Topology topology = mixed();
  Measurement m;
  m.kernels = {copy_on(topology, 0, 0.7), copy_on(topology, 1, 70)};
  m.kernels.push_back(
      {.where = "here", .kind = MeasuredKernelKind::kLaunch, .rank = 0, .time = Time::from_seconds(3600)});
  const Calibration found = calibrate(topology, m, default_profile(), {});
  EXPECT_NEAR(generation_of(found.profile, "A100-SXM4-80GB").generation->memory_efficiency, 0.7, 1e-4);
  EXPECT_TRUE(notes_say(found.report.notes, "times what the datasheet allows"));
  EXPECT_TRUE(notes_say(found.report.notes, "a launch of"));
}

TEST(Health, CallsTheImpossibleByItsName) {
  const Topology topology = mixed();
  Measurement m;
  for (std::uint32_t rank = 0; rank < 16; ++rank) m.kernels.push_back(copy_on(topology, rank, 0.85));
  EXPECT_TRUE(check_health(topology, m, default_profile(), 0.15).healthy()) << "each model among its own";
  m.kernels[3] = copy_on(topology, 3, 80);
  const HealthReport report = check_health(topology, m, default_profile(), 0.15);
  ASSERT_FALSE(report.healthy());
  EXPECT_TRUE(report.findings[0].impossible);
  EXPECT_NE(report.findings[0].text.find("rank 3"), std::string::npos) << report.findings[0].text;
}

// What was a default before has not changed: nothing is known of it.
TEST(Comparison, ANumberThatWasNotMeasuredOnceHasNotChanged) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = two_tables();
  Profile truth = default_profile();
  for (Generation& g : truth.generations) g.links.efficiency *= 0.6;
  fill(tables, topology, truth);
  add_noise(tables, {.outliers = 0});
  const Profile now = calibrate(topology, measured(tables), default_profile(), kQuick).profile;
  const ProfileComparison comparison = compare_profiles(default_profile(), now);
  EXPECT_FALSE(comparison.changes.empty());
  EXPECT_FALSE(comparison.any_beyond());
  for (const ProfileChange& c : comparison.changes)
    EXPECT_EQ(c.verdict, ProfileChange::Verdict::kOnlyAfter) << c.name;
}

TEST(Interval, IsNoneWhereNothingItRestsOnWasMeasured) {
  const Time t = Time::from_microseconds(10), u = Time::from_microseconds(11);
  EXPECT_FALSE(interval_of(t, std::vector{t, t, t}));
  const auto interval = interval_of(t, std::vector{t, u, t});
  ASSERT_TRUE(interval);
  EXPECT_LT(interval->first, t);
  EXPECT_GT(interval->second, t);
}

}  // namespace
}  // namespace busbar
