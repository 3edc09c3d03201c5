// Health: what is slow, by name.
#include "calibrate/health.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/unit/calibrate/synthetic.h"

namespace busbar {
namespace {

Topology hosts(int count) {
  return topology_from(fmt::format(R"({{"schema": "busbar.topology/1", "name": "some hosts",
    "hosts": {{"count": {}, "type": "dgx-h100"}}, "fabric": {{"family": "rail-optimized"}}}})",
                                   count));
}

MeasuredTable pair(std::uint32_t a, std::uint32_t b) {
  MeasuredTable table = empty_table(CollectiveKind::kSendRecv, 2, 1 << 20, 1 << 28);
  table.source = fmt::format("{}-{}", a, b);
  table.members = {a, b};
  return table;
}

void slow_down(MeasuredTable& table, double factor) {
  for (MeasuredRow& row : table.rows) row.time = Time::from_seconds(row.time.seconds() * factor);
}

// Every NIC in two pairs, with the same NIC of the two next hosts. NIC 5 of host 3 at half of its rate makes
// both of its pairs slow, and leaves each partner one that is not.
TEST(Health, NamesTheSlowNic) {
  const Topology topology = hosts(4);
  std::vector<MeasuredTable> tables;
  for (std::uint32_t host = 0; host < 4; ++host)
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu)
      tables.push_back(pair(8 * host + gpu, 8 * ((host + 1) % 4) + gpu));
  fill(tables, topology, default_profile());
  for (MeasuredTable& table : tables)
    if (table.members[0] == 29 || table.members[1] == 29) slow_down(table, 2);
  Measurement m;
  m.tables = tables;
  const HealthReport report = check_health(topology, m, default_profile(), 0.15);
  ASSERT_FALSE(report.healthy());
  EXPECT_TRUE(report.findings[0].slow);
  EXPECT_FALSE(report.findings[1].slow);
  EXPECT_TRUE(report.findings[0].text.starts_with("host 3, NIC 5")) << report.findings[0].text;
  EXPECT_NEAR(report.findings[0].measured / report.findings[0].peers, 0.5, 0.01);
}

TEST(Health, SaysThatAHealthyClusterIs) {
  const Topology topology = hosts(3);
  Measurement m;
  for (std::uint32_t host = 0; host < 3; ++host) {
    MeasuredTable table = empty_table(CollectiveKind::kAllReduce, 8, 1024, 1 << 28);
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) table.members.push_back(8 * host + gpu);
    m.tables.push_back(table);
  }
  fill(m.tables, topology, default_profile());
  add_noise(m.tables, {.share = 0.01, .outliers = 0});
  EXPECT_TRUE(check_health(topology, m, default_profile(), 0.15).healthy());
  slow_down(m.tables[1], 1.5);
  const HealthReport sick = check_health(topology, m, default_profile(), 0.15);
  ASSERT_FALSE(sick.healthy());
  EXPECT_TRUE(sick.findings[0].text.starts_with("host 1")) << sick.findings[0].text;
}

// All alike and all slow: peers say nothing, the datasheet does.
TEST(Health, HoldsAWholeClassAgainstTheDatasheet) {
  const Topology topology = hosts(3);
  Measurement m;
  for (std::uint32_t host = 0; host < 3; ++host) {
    MeasuredTable table = empty_table(CollectiveKind::kAllReduce, 8, 1 << 20, 1 << 28);
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) table.members.push_back(8 * host + gpu);
    m.tables.push_back(table);
  }
  fill(m.tables, topology, default_profile());
  for (MeasuredTable& table : m.tables) slow_down(table, 2);
  EXPECT_FALSE(check_health(topology, m, default_profile(), 0.15).healthy());
}

TEST(Health, ComparesMemoryCopiesOfGpus) {
  const Topology topology = hosts(1);
  Measurement m;
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    m.kernels.push_back({.where = "here",
                         .kind = MeasuredKernelKind::kCopy,
                         .rank = rank,
                         .bytes = Bytes(1 << 30),
                         .time = Time::from_seconds(rank == 6 ? 1.0e-3 : 0.75e-3)});
  const HealthReport report = check_health(topology, m, default_profile(), 0.15);
  ASSERT_FALSE(report.healthy());
  EXPECT_TRUE(report.findings[0].text.starts_with("rank 6")) << report.findings[0].text;
}

TEST(Health, RefusesWhatNamesNobody) {
  const Topology topology = hosts(2);
  Measurement m;
  m.tables.push_back(empty_table(CollectiveKind::kAllReduce, 8, 1 << 20, 1 << 28));
  EXPECT_THROW(static_cast<void>(check_health(topology, m, default_profile(), 0.15)), Error);
}

}  // namespace
}  // namespace busbar
