#include "sim/cost/nccl_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "tests/unit/cost/nccl_groups.h"

namespace busbar {
namespace {

// One published row: latency in us and bus bandwidth in GB/s of a cell, as printed.
struct Printed {
  NcclAlgorithm algorithm;
  Protocol protocol;
  std::string latency, bus;
};

constexpr auto kLl = Protocol::kLl;
constexpr auto kLl128 = Protocol::kLl128;
constexpr auto kSimple = Protocol::kSimple;

// Half a unit of the last printed digit; the source printed 152.53 as 152 once, hence a hair more.
double last_digit(const std::string& text) {
  const std::size_t point = text.find('.');
  return .54 *
         (point == std::string::npos ? 1 : std::pow(10.0, -static_cast<double>(text.size() - point - 1)));
}

const NcclCell& cell(const NcclTable& table, NcclAlgorithm algorithm, Protocol protocol) {
  return table.cells[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(protocol)];
}

void expect_row(const std::string& name, const GroupFacts& facts, const std::vector<Printed>& row,
                CollectiveKind kind = CollectiveKind::kAllReduce) {
  SCOPED_TRACE(name);
  const NcclTable table = nccl_table(kind, DataType::kFp32, facts, version(28, 9));
  for (const Printed& printed : row) {
    SCOPED_TRACE(std::string(name_of(printed.algorithm)) + " " + std::string(name_of(printed.protocol)));
    const NcclCell& c = cell(table, printed.algorithm, printed.protocol);
    EXPECT_NEAR(c.latency_us, std::stod(printed.latency), last_digit(printed.latency));
    EXPECT_NEAR(c.bandwidth_GBps * busbw_factor(kind, facts.ranks), std::stod(printed.bus),
                last_digit(printed.bus));
  }
}

std::vector<Printed> tree_and_ring(const std::vector<std::string>& words) {
  std::vector<Printed> row;
  std::size_t w = 0;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::kTree, NcclAlgorithm::kRing})
    for (const Protocol protocol : {kLl, kLl128, kSimple}) {
      row.push_back({algorithm, protocol, words.at(w), words.at(w + 1)});
      w += 2;
    }
  return row;
}

TEST(NcclTable, HasThePricesOfOneHost) {
  expect_row("A100", a100_hosts(1, 8),
             tree_and_ring({"15.2", "50.8", "31.5", "150", "64.4", "193", "15.0", "87.7", "40.6", "221",
                            "56.0", "240"}));
  expect_row("H100", h100_hosts(1, 8),
             tree_and_ring(
                 {"15.2", "76", "31.5", "225", "64.4", "290", "15.0", "141", "40.6", "331", "56.0", "360"}));
  expect_row("B200", b200_hosts(1, 8),
             tree_and_ring(
                 {"15.2", "152", "31.5", "451", "64.4", "580", "15.0", "282", "40.6", "662", "56.0", "720"}));
}

TEST(NcclTable, HasThePricesOfNvls) {
  expect_row("H100", h100_hosts(1, 8), {{NcclAlgorithm::kNvls, kSimple, "25", "476"}});
  expect_row("B200", b200_hosts(1, 8), {{NcclAlgorithm::kNvls, kSimple, "25", "720"}});
  expect_row("H100 2x8", h100_hosts(2, 8), {{NcclAlgorithm::kNvlsTree, kSimple, "66.8", "462"}});
  expect_row("H100 4x8", h100_hosts(4, 8), {{NcclAlgorithm::kNvlsTree, kSimple, "109", "360"}});
  expect_row("H100 16x8", h100_hosts(16, 8), {{NcclAlgorithm::kNvlsTree, kSimple, "192", "360"}});
  expect_row("H100 64x8", h100_hosts(64, 8), {{NcclAlgorithm::kNvlsTree, kSimple, "276", "360"}});
}

// On two hosts the tree's search raises its speed inside, here from 24 to min(2 x 24, 240/8) = 30 GB/s, so
// that the ceiling of 23.6 GB/s per channel binds: 8 x 23.6 x 15/16 = 177 GB/s.
TEST(NcclTable, HasThePricesOfSeveralA100Hosts) {
  expect_row(
      "2x8", a100_hosts(2, 8),
      tree_and_ring({"25.2", "21", "48.5", "150", "92.4", "177", "68", "22.5", "78", "160", "204", "192"}));
  expect_row(
      "16x8", a100_hosts(16, 8),
      tree_and_ring({"55.2", "19", "99.5", "132", "176", "141", "536", "19", "582", "160", "1772", "192"}));
}

TEST(NcclTable, HasThePricesOfSeveralH100Hosts) {
  expect_row(
      "2x8", h100_hosts(2, 8),
      tree_and_ring({"25.2", "36.6", "48.5", "275", "92.4", "310", "40", "39", "75", "294", "132", "360"}));
  expect_row(
      "4x8", h100_hosts(4, 8),
      tree_and_ring({"35.2", "19.8", "65.5", "225", "120", "279", "79", "20", "144", "294", "283", "360"}));
  expect_row(
      "16x8", h100_hosts(16, 8),
      tree_and_ring({"55.2", "20", "99.5", "230", "176", "286", "312", "20", "560", "294", "1190", "360"}));
  expect_row(
      "64x8", h100_hosts(64, 8),
      tree_and_ring({"75.2", "20", "134", "232", "232", "287", "1243", "20", "2220", "294", "4819", "360"}));
}

TEST(NcclTable, HasThePricesOfAllGather) {
  const auto ring = [](const std::vector<std::string>& w) {
    return std::vector<Printed>{{NcclAlgorithm::kRing, kLl, w[0], w[1]},
                                {NcclAlgorithm::kRing, kLl128, w[2], w[3]},
                                {NcclAlgorithm::kRing, kSimple, w[4], w[5]}};
  };
  expect_row("1x8", h100_hosts(1, 8), ring({"10.8", "141", "27.3", "331", "32.2", "360"}),
             CollectiveKind::kAllGather);
  expect_row("16x8", h100_hosts(16, 8), ring({"159", "20", "287", "294", "599", "360"}),
             CollectiveKind::kAllGather);
}

bool has(const NcclTable& table, NcclAlgorithm algorithm, Protocol protocol) {
  return cell(table, algorithm, protocol).bandwidth_GBps > 0;
}

NcclTable table_of(const GroupFacts& facts, const NcclSettings& settings,
                   CollectiveKind kind = CollectiveKind::kAllReduce) {
  return nccl_table(kind, DataType::kBf16, facts, settings);
}

TEST(NcclTable, HasNoLl128WhereTheNicIsBehindThePeerOfAnA100) {
  GroupFacts facts = a100_hosts(2, 8);
  facts.inter_path = PathType::kPxn;
  EXPECT_FALSE(has(table_of(facts, version(28)), NcclAlgorithm::kRing, kLl128));
  facts = h100_hosts(2, 8);
  facts.inter_path = PathType::kPxn;
  EXPECT_TRUE(has(table_of(facts, version(28)), NcclAlgorithm::kRing, kLl128));
}

TEST(NcclTable, HasNoLl128OverChipLinksToTheNicFromVersion2297) {
  GroupFacts facts = h100_hosts(2, 2);
  facts.inter_path = PathType::kP2c;
  EXPECT_TRUE(has(table_of(facts, version(29, 6)), NcclAlgorithm::kRing, kLl128));
  EXPECT_FALSE(has(table_of(facts, version(29, 7)), NcclAlgorithm::kRing, kLl128));
}

TEST(NcclTable, HasNoLl128OverPcie) {
  const GroupFacts facts = pcie_host(PathType::kPxb, CpuVendor::kIntel, 31.5, 4);
  EXPECT_FALSE(has(table_of(facts, version(28)), NcclAlgorithm::kRing, kLl128));
  NcclSettings named = version(28);
  named.protocols[0] = {false, true, false};
  EXPECT_TRUE(has(table_of(facts, named), NcclAlgorithm::kRing, kLl128));
}

TEST(NcclTable, HasLl128OnMixedHopperAndLaterOnlySince2297) {
  GroupFacts facts = h100_hosts(2, 8);
  facts.cc_most = 100;
  EXPECT_FALSE(has(table_of(facts, version(28)), NcclAlgorithm::kTree, kLl128));
  EXPECT_TRUE(has(table_of(facts, version(30)), NcclAlgorithm::kTree, kLl128));
}

TEST(NcclTable, HasNvlsOnSwitchedHopperHostsOnly) {
  const auto nvls = [](const GroupFacts& facts, const NcclSettings& settings) {
    return has(table_of(facts, settings), NcclAlgorithm::kNvls, kSimple);
  };
  EXPECT_TRUE(nvls(h100_hosts(1, 8), version(28)));
  EXPECT_FALSE(nvls(a100_hosts(1, 8), version(28)));
  EXPECT_FALSE(nvls(h100_hosts(2, 8), version(28)));  // between hosts only with CollNet
  NcclSettings off = version(28);
  off.nvls = false;
  EXPECT_FALSE(nvls(h100_hosts(1, 8), off));
  EXPECT_FALSE(has(table_of(h100_hosts(2, 8), off), NcclAlgorithm::kNvlsTree, kSimple));
}

TEST(NcclTable, HasCollNetOnlyWhereAskedForAndThere) {
  GroupFacts facts = h100_hosts(2, 8);
  facts.in_network_reduction = true;
  EXPECT_FALSE(has(table_of(facts, version(28)), NcclAlgorithm::kCollNetDirect, kSimple));
  NcclSettings settings = version(28);
  settings.collnet = true;
  for (const auto algorithm :
       {NcclAlgorithm::kCollNetDirect, NcclAlgorithm::kCollNetChain, NcclAlgorithm::kNvls})
    EXPECT_TRUE(has(table_of(facts, settings), algorithm, kSimple)) << name_of(algorithm);
  EXPECT_TRUE(has(table_of(facts, settings, CollectiveKind::kAllGather), NcclAlgorithm::kNvls, kSimple));
  facts.in_network_reduction = false;
  EXPECT_FALSE(has(table_of(facts, settings), NcclAlgorithm::kCollNetChain, kSimple));
}

TEST(NcclTable, HasPatForOneRankPerHostSince223) {
  const auto pat = [](const GroupFacts& facts, int minor) {
    return has(table_of(facts, version(minor), CollectiveKind::kAllGather), NcclAlgorithm::kPat, kSimple);
  };
  EXPECT_TRUE(pat(h100_hosts(16, 1), 28));
  EXPECT_FALSE(pat(h100_hosts(16, 1), 22));
  EXPECT_FALSE(pat(h100_hosts(16, 2), 28));
}

// Ring times 1024 beyond 8 ranks, for reductions.
TEST(NcclTable, AvoidsRingsThatAddFp8OverManyRanks) {
  const GroupFacts many = h100_hosts(2, 8), few = h100_hosts(1, 8);
  const auto ring = [](const GroupFacts& facts, DataType type, CollectiveKind kind) {
    return cell(nccl_table(kind, type, facts, version(28)), NcclAlgorithm::kRing, kSimple);
  };
  const NcclCell fp8 = ring(many, DataType::kFp8, CollectiveKind::kAllReduce);
  const NcclCell bf16 = ring(many, DataType::kBf16, CollectiveKind::kAllReduce);
  EXPECT_DOUBLE_EQ(fp8.latency_us, 1024 * bf16.latency_us);
  EXPECT_DOUBLE_EQ(fp8.bandwidth_GBps, bf16.bandwidth_GBps / 1024);
  EXPECT_DOUBLE_EQ(ring(few, DataType::kFp8, CollectiveKind::kAllReduce).latency_us,
                   ring(few, DataType::kBf16, CollectiveKind::kAllReduce).latency_us);
  EXPECT_DOUBLE_EQ(ring(many, DataType::kFp8, CollectiveKind::kAllGather).latency_us,
                   ring(many, DataType::kBf16, CollectiveKind::kAllGather).latency_us);
}

TEST(NcclTable, PricesABarrierAsAnAllReduce) {
  const NcclTable barrier = table_of(h100_hosts(2, 8), version(28), CollectiveKind::kBarrier);
  EXPECT_EQ(barrier.kind, CollectiveKind::kAllReduce);
  EXPECT_DOUBLE_EQ(cell(barrier, NcclAlgorithm::kTree, kLl).latency_us, 25.2);  // as in the row above
}

TEST(NcclTable, CostsOneRankNothing) {
  const GroupFacts facts = h100_hosts(1, 1);
  const NcclTable table = table_of(facts, version(28));
  const NcclChoice choice = nccl_choose(table, 1_GiB, facts, version(28));
  EXPECT_EQ(choice.algorithm, NcclAlgorithm::kRing);
  EXPECT_EQ(choice.protocol, kSimple);
  EXPECT_EQ(choice.estimate_us, 0);
}

}  // namespace
}  // namespace busbar
