#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.h"
#include "sim/cost/nccl_table.h"
#include "tests/unit/cost/nccl_groups.h"

namespace busbar {
namespace {

constexpr auto kAllReduce = CollectiveKind::kAllReduce;

NcclChoice choose(const GroupFacts& facts, Bytes bytes, const NcclSettings& settings,
                  CollectiveKind kind = kAllReduce) {
  return nccl_choose(nccl_table(kind, DataType::kFp32, facts, settings), bytes, facts, settings);
}

std::string name(const NcclChoice& choice) {
  return std::string(name_of(choice.algorithm)) + " " + std::string(name_of(choice.protocol));
}

NcclLog log_of_group(std::uint32_t ranks, std::uint32_t hosts) {
  NcclLog log;
  log.ranks = ranks;
  log.hosts = hosts;
  return log;
}

TEST(NcclOverrides, RestrictAlgorithmsAndProtocolsOfOneCollective) {
  NcclSettings settings = version(28);
  settings.algorithms[0] = {true, false, false, false, false, false, false};
  settings.protocols[0] = {false, false, true};
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 8_B, settings)), "tree Simple");
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 8_B, settings, CollectiveKind::kAllGather)), "ring LL");
}

TEST(NcclOverrides, FailWhereTheyLeaveNothing) {
  NcclSettings settings = version(28);
  settings.algorithms[0] = {false, false, false, false, false, true, false};  // NVLSTree, on one host
  try {
    (void)choose(h100_hosts(1, 8), 8_B, settings);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_STREQ(error.what(),
                 "NCCL_ALGO and NCCL_PROTO leave no algorithm for all_reduce; allow ring and Simple, which "
                 "always work");
  }
}

TEST(NcclOverrides, SetTheNetworkOverhead) {
  NcclSettings settings = version(28);
  settings.net_overhead_ns = 500;
  const NcclTable table = nccl_table(kAllReduce, DataType::kFp32, h100_hosts(2, 8), settings);
  EXPECT_NEAR(table.cells[1][0].latency_us, 6.6 + 28 * .6 + 2 * 2.7, 1e-12);  // NVLink's .6 > .5
  settings.net_overhead_ns = 4000;
  const NcclTable slow = nccl_table(kAllReduce, DataType::kFp32, h100_hosts(2, 8), settings);
  EXPECT_NEAR(slow.cells[1][2].latency_us, 8.4 + 28 * 12 + 2 * 14, 1e-12);  // Simple: three times 4
}

TEST(NcclOverrides, TakeALoggedTableOfTheSameGroup) {
  NcclSettings settings = version(28);
  settings.log = log_of_group(8, 1);
  LoggedTable logged = {.kind = kAllReduce, .cells = {}};
  logged.cells[0][2] = {.latency_us = 10, .bandwidth_GBps = 100};
  settings.log->tables.push_back(logged);
  const NcclChoice choice = choose(h100_hosts(1, 8), 1_GB, settings);
  EXPECT_EQ(name(choice), "tree Simple");
  EXPECT_DOUBLE_EQ(choice.estimate_us, 10 + 1e9 / (1000 * 100.0));  // beyond the sizes that are corrected
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 8_B, settings, CollectiveKind::kAllGather)), "ring LL");
  EXPECT_EQ(name(choose(h100_hosts(1, 4), 8_B, settings)), "ring LL");  // the log is of another group
}

TEST(NcclOverrides, TakeALoggedCallOfTheSameSize) {
  NcclSettings settings = version(28);
  settings.log = log_of_group(0, 0);
  settings.log->calls = {{.kind = kAllReduce,
                          .bytes = 1_GB,
                          .algorithm = NcclAlgorithm::kRing,
                          .protocol = Protocol::kLl128,
                          .channels = 7},
                         {.kind = CollectiveKind::kAllGather,
                          .bytes = 1000_B,
                          .algorithm = NcclAlgorithm::kRing,
                          .protocol = Protocol::kSimple,
                          .channels = {}}};
  const NcclChoice choice = choose(h100_hosts(1, 8), 1_GB, settings);
  EXPECT_EQ(name(choice), "ring LL128");
  EXPECT_EQ(choice.channels, 7);
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 2_GB, settings)), "nvls Simple");
  // A log prints one rank's part of a gather, NCCL's size is eight times that.
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 8000_B, settings, CollectiveKind::kAllGather)), "ring Simple");
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 1000_B, settings, CollectiveKind::kAllGather)), "ring LL");
}

TunerRule rule(NcclAlgorithm algorithm, Protocol protocol) {
  return {.kind = kAllReduce,
          .least = 1_KiB,
          .most = 1_MiB,
          .algorithm = algorithm,
          .protocol = protocol,
          .channels = {},
          .hosts = {},
          .ranks = {}};
}

TEST(NcclOverrides, TakeTheFirstTunerRuleThatMatchesAnAvailableCell) {
  NcclSettings settings = version(28);
  settings.tuner = {rule(NcclAlgorithm::kNvlsTree, Protocol::kSimple),  // not on one host
                    rule(NcclAlgorithm::kTree, Protocol::kLl128), rule(NcclAlgorithm::kRing, Protocol::kLl)};
  settings.tuner[1].channels = 5;
  const NcclChoice choice = choose(h100_hosts(1, 8), 1_MiB, settings);  // both ends are included
  EXPECT_EQ(name(choice), "tree LL128");
  EXPECT_EQ(choice.channels, 5);
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 1_KiB, settings)), "tree LL128");
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 1023_B, settings)), "ring LL");
  EXPECT_EQ(name(choose(h100_hosts(2, 8), 1_MiB, settings)), "nvls-tree Simple");
  settings.tuner[1].ranks = 4;  // other groups only: the third rule applies
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 1_MiB, settings)), "ring LL");
  EXPECT_EQ(name(choose(h100_hosts(1, 4), 1_MiB, settings)), "tree LL128");
}

TEST(NcclOverrides, PreferALoggedCallToATunerRule) {
  NcclSettings settings = version(28);
  settings.tuner = {rule(NcclAlgorithm::kTree, Protocol::kLl)};
  settings.log = log_of_group(8, 1);
  settings.log->calls = {{.kind = kAllReduce,
                          .bytes = 1_MiB,
                          .algorithm = NcclAlgorithm::kRing,
                          .protocol = Protocol::kSimple,
                          .channels = {}}};
  EXPECT_EQ(name(choose(h100_hosts(1, 8), 1_MiB, settings)), "ring Simple");
}

}  // namespace
}  // namespace busbar
