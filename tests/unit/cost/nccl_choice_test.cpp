#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "sim/cost/nccl_table.h"
#include "tests/unit/cost/nccl_groups.h"

namespace busbar {
namespace {

std::string chosen(const GroupFacts& facts, Bytes bytes, const NcclSettings& settings,
                   CollectiveKind kind = CollectiveKind::kAllReduce) {
  const NcclTable table = nccl_table(kind, DataType::kFp32, facts, settings);
  const NcclChoice choice = nccl_choose(table, bytes, facts, settings);
  return std::string(name_of(choice.algorithm)) + " " + std::string(name_of(choice.protocol));
}

struct Switch {
  std::string name;
  Bytes from;
};

// Every power of two from 8 B to 8 GiB takes what the list says, each entry from its size on.
void expect_switches(const GroupFacts& facts, const NcclSettings& settings, const std::vector<Switch>& list,
                     CollectiveKind kind = CollectiveKind::kAllReduce) {
  for (std::int64_t bytes = 8; bytes <= std::int64_t{8} << 30; bytes *= 2) {
    std::string expected;
    for (const Switch& entry : list)
      if (entry.from.count() <= bytes) expected = entry.name;
    EXPECT_EQ(chosen(facts, Bytes(bytes), settings, kind), expected) << bytes << " bytes";
  }
}

TEST(NcclChoice, SwitchesOnOneHost) {
  expect_switches(a100_hosts(1, 8), version(28, 9),
                  {{"ring LL", 8_B}, {"ring LL128", 4_MiB}, {"ring Simple", 32_MiB}});
  expect_switches(h100_hosts(1, 8), version(28, 9), {{"ring LL", 8_B}, {"nvls Simple", 2_MiB}});
  NcclSettings no_nvls = version(28, 9);
  no_nvls.nvls = false;
  expect_switches(h100_hosts(1, 8), no_nvls,
                  {{"ring LL", 8_B}, {"ring LL128", 4_MiB}, {"ring Simple", 64_MiB}});
}

// 15.0 + S (14/8) / 141 = 25 + S (14/8) / 476: S = 10 us x 8/14 x 1000 / (1/141 - 1/476) = 1.145 MB.
TEST(NcclChoice, TakesNvlsOnAnH100HostFrom1145kB) {
  const GroupFacts facts = h100_hosts(1, 8);
  EXPECT_EQ(chosen(facts, Bytes(1143000), version(28, 9)), "ring LL");
  EXPECT_EQ(chosen(facts, Bytes(1147000), version(28, 9)), "nvls Simple");
}

TEST(NcclChoice, SwitchesBetweenH100Hosts) {
  const std::pair<std::uint32_t, Bytes> nvls_from[] = {{2, 4_MiB}, {4, 16_MiB}, {16, 32_MiB}, {64, 64_MiB}};
  for (const auto& [hosts, from] : nvls_from) {
    SCOPED_TRACE(hosts);
    expect_switches(h100_hosts(hosts, 8), version(28, 9),
                    {{"tree LL", 8_B}, {"tree LL128", 256_KiB}, {"nvls-tree Simple", from}});
  }
}

TEST(NcclChoice, SwitchesBetweenA100Hosts) {
  struct Row {
    std::uint32_t hosts;
    Bytes ring, simple;
  };
  for (const Row& row : {Row{2, 16_MiB, 128_MiB}, Row{4, 32_MiB, 256_MiB}, Row{16, 256_MiB, 1_GiB}}) {
    SCOPED_TRACE(row.hosts);
    expect_switches(
        a100_hosts(row.hosts, 8), version(28, 9),
        {{"tree LL", 8_B}, {"tree LL128", 256_KiB}, {"ring LL128", row.ring}, {"ring Simple", row.simple}});
  }
}

// LL128 to Simple: 287 + S (127/128) / 294 = 599 + S (127/128) / 360 at 0.50 GB.
TEST(NcclChoice, SwitchesAllGatherBetweenH100Hosts) {
  expect_switches(h100_hosts(16, 8), version(28, 9),
                  {{"ring LL", 8_B}, {"ring LL128", 4_MiB}, {"ring Simple", 512_MiB}},
                  CollectiveKind::kAllGather);
}

// 2.27: 5 x 60 x 5/6 = 250 > 360 x 5/8 = 225 on H200; 6 x 90 x 5/6 = 450 > 720 x 6/10 = 432 on B200, but with
// 5 GPUs 375 < 450. 2.28: H200's 6 x 60 = 360 ties the ring's bus bandwidth and has less latency; B200 needs
// 8 x 90 = 720.
TEST(NcclChoice, TakesNvlsForLargeMessagesFromSomeGpusOn) {
  const auto nvls = [](const GroupFacts& facts, const NcclSettings& settings) {
    return chosen(facts, 8_GiB, settings) == "nvls Simple";
  };
  for (std::uint32_t gpus = 2; gpus <= 8; ++gpus) {
    SCOPED_TRACE(gpus);
    EXPECT_EQ(nvls(h100_hosts(1, gpus), version(27, 7)), gpus >= 5);
    EXPECT_EQ(nvls(b200_hosts(1, gpus), version(27, 7)), gpus >= 6);
    EXPECT_EQ(nvls(h100_hosts(1, gpus), version(28, 9)), gpus >= 6);
    EXPECT_EQ(nvls(b200_hosts(1, gpus), version(28, 9)), gpus >= 8);
  }
}

// Latency x 1.4 from 64 bytes per channel and rank: 16 x 16 x 64 = 16384 bytes; 1.9 before Ampere.
TEST(NcclChoice, RaisesTheRingsLatencyAtItsPlateau) {
  const auto latency = [](const GroupFacts& facts, std::int64_t bytes) {
    const NcclSettings settings = version(28, 9);
    const NcclTable table = nccl_table(CollectiveKind::kAllReduce, DataType::kFp32, facts, settings);
    const double all =
        nccl_estimate_us(table, NcclAlgorithm::kRing, Protocol::kSimple, Bytes(bytes), facts, settings);
    return all - static_cast<double>(bytes) / (1000 * table.cells[1][2].bandwidth_GBps);
  };
  const GroupFacts h100 = h100_hosts(2, 8);
  EXPECT_NEAR(latency(h100, 16383), 131.6, 1e-9);
  EXPECT_NEAR(latency(h100, 16384), 1.4 * 131.6, 1e-9);
  const GroupFacts v100 = with_nics(switched_group(70, 150, 2, 8), 4, 12.5);
  EXPECT_NEAR(latency(v100, 1 << 20), 1.9 * latency(v100, 64), 1e-9);
}

// 24 channels of 512 threads with 8 bytes x 8 ranks (ring LL) or 64 bytes (Simple) each: 786432 bytes.
TEST(NcclLaunchedChannels, ShrinkForSmallMessages) {
  const GroupFacts facts = h100_hosts(1, 8);
  const auto launched = [&](NcclAlgorithm algorithm, Protocol protocol, std::int64_t bytes) {
    const NcclChoice choice = {.algorithm = algorithm, .protocol = protocol, .channels = 24};
    return nccl_launched_channels(choice, Bytes(bytes), facts);
  };
  for (const Protocol protocol : {Protocol::kLl, Protocol::kSimple}) {
    EXPECT_EQ(launched(NcclAlgorithm::kRing, protocol, 786432), 24);
    EXPECT_EQ(launched(NcclAlgorithm::kRing, protocol, 786431), 23);
    EXPECT_EQ(launched(NcclAlgorithm::kRing, protocol, 8), 1);
  }
  EXPECT_EQ(launched(NcclAlgorithm::kTree, Protocol::kLl, 98304), 24);  // 24 x 512 x 8
  EXPECT_EQ(launched(NcclAlgorithm::kTree, Protocol::kLl, 98303), 23);
  EXPECT_EQ(launched(NcclAlgorithm::kTree, Protocol::kLl128, 640 * 8 * 3), 3);
  EXPECT_EQ(launched(NcclAlgorithm::kNvls, Protocol::kSimple, 8), 24);  // always all
}

// A ring no faster than PCIe Gen3 takes 256 threads: 64 x 256 bytes per channel.
TEST(NcclLaunchedChannels, ShrinkLaterOnSlowRings) {
  const GroupFacts facts = pcie_host(PathType::kPxb, CpuVendor::kIntel, 15.75, 4);
  const NcclChoice choice = {.protocol = Protocol::kSimple, .channels = 2};
  EXPECT_EQ(nccl_launched_channels(choice, Bytes(2 * 64 * 256), facts), 2);
  EXPECT_EQ(nccl_launched_channels(choice, Bytes(2 * 64 * 256 - 1), facts), 1);
}

template <class Work>
double us_each(int times, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work(i);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / times;
}

// Far below a second for 10,000: 25 us each would be a quarter, even on a slow and busy machine.
TEST(NcclChoice, CostsMicroseconds) {
  const GroupFacts facts = h100_hosts(64, 8);
  const NcclSettings settings = version(28, 9);
  const NcclTable table = nccl_table(CollectiveKind::kAllReduce, DataType::kFp32, facts, settings);
  double sum = 0;
  const double choose = us_each(10000, [&](int i) {
    sum += nccl_choose(table, Bytes(std::int64_t{8} << (i % 30)), facts, settings).estimate_us;
  });
  const double build = us_each(10000, [&](int) {
    sum += nccl_table(CollectiveKind::kAllReduce, DataType::kFp32, facts, settings).cells[0][0].latency_us;
  });
  RecordProperty("choose_us", std::to_string(choose));
  RecordProperty("table_us", std::to_string(build));
  EXPECT_GT(sum, 0);
  EXPECT_LT(choose, 25);
  EXPECT_LT(build, 25);
}

}  // namespace
}  // namespace busbar
