#include "calibrate/import/nccl_debug_log.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace busbar {
namespace {

NcclDebugLog read(const std::string& text) { return read_nccl_debug_log(text, "d.log"); }

std::string line(const std::string& text, const std::string& thread = "h:7:8") {
  return thread + " [0] NCCL INFO " + text + "\n";
}

// Made-up figures.
const std::string kTable =
    line(
        "  Algorithm   |                            Tree                  |                            Ring "
        "                 |") +
    line(
        "  Protocol    |             LL |          LL128 |         Simple |             LL |          LL128 "
        "|  "
        "       Simple |") +
    line(
        " Max NThreads |            512 |            640 |            512 |            512 |            640 "
        "|  "
        "          512 |") +
    line(
        "     AllReduce |    11.0/   1.5 |    12.0/   2.5 |    13.0/   3.5 |    14.0/   4.5 |    15.0/   5.5 "
        "| "
        "   16.0/   6.5 |") +
    line(
        "  Algorithm   |                            NVLS                  |                            PAT  "
        "                |") +
    line(
        "     AllReduce |     0.0/   0.0 |     0.0/   0.0 |    23.0/ 480.0 |     0.0/   0.0 |     0.0/   0.0 "
        "| "
        "    0.0/   0.0 |") +
    line(
        "     AllGather |     0.0/   0.0 |     0.0/   0.0 |    24.0/ 360.0 |     0.0/   0.0 |     0.0/   0.0 "
        "| "
        "   25.0/  20.0 |");

const NcclCell& cell(const NcclLog& log, std::size_t table, NcclAlgorithm a, Protocol p) {
  return log.tables.at(table).cells[static_cast<std::size_t>(a)][static_cast<std::size_t>(p)];
}

TEST(NcclDebugLog, ReadsTheTableInBlocks) {
  const NcclLog log = read(kTable).log;
  ASSERT_EQ(log.tables.size(), 2U);
  EXPECT_EQ(log.tables[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(cell(log, 0, NcclAlgorithm::kTree, Protocol::kLl128).latency_us, 12.0);
  EXPECT_EQ(cell(log, 0, NcclAlgorithm::kRing, Protocol::kSimple).bandwidth_GBps, 6.5);
  EXPECT_EQ(cell(log, 0, NcclAlgorithm::kNvls, Protocol::kSimple).bandwidth_GBps, 480.0);
  EXPECT_EQ(log.tables[1].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(cell(log, 1, NcclAlgorithm::kPat, Protocol::kSimple).latency_us, 25.0);
  EXPECT_EQ(log.ranks, 0U);
}

TEST(NcclDebugLog, ReadsTheTableOfOldReleases) {
  const NcclLog log =
      read(line("Latency/AlgBw |    Tree/    LL |    Tree/ LL128 |    Ring/Simple | CollNet/    LL |") +
           line("    Broadcast |     1.0/   2.0 |     3.0/   4.0 |     5.0/   6.0 |     7.0/   8.0 |"))
          .log;
  ASSERT_EQ(log.tables.size(), 1U);
  EXPECT_EQ(log.tables[0].kind, CollectiveKind::kBroadcast);
  EXPECT_EQ(cell(log, 0, NcclAlgorithm::kTree, Protocol::kLl128).latency_us, 3.0);
  EXPECT_EQ(cell(log, 0, NcclAlgorithm::kRing, Protocol::kSimple).bandwidth_GBps, 6.0);
}

TEST(NcclDebugLog, ReadsVersionShapeAndChannelsOfTheLargestCommunicator) {
  const NcclDebugLog result =
      read("NCCL version 2.27.3+cuda12.4\n" +
           line("comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0") + kTable +
           line("24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 4 p2p channels "
                "per peer") +
           line("ncclCommInitRank comm 0x1 rank 0 nranks 16 cudaDev 0 - Init COMPLETE") +
           line("comm 0x2 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0") +
           line("  Algorithm   |  Ring  |") + line("     AllReduce | 1.0/ 1.0 | 1.0/ 1.0 | 1.0/ 1.0 |") +
           line("12 coll channels, 0 nvls channels, 32 p2p channels, 32 p2p channels per peer"));
  const NcclLog& log = result.log;
  EXPECT_EQ(log.version, (NcclVersion{2, 27, 3}));
  EXPECT_EQ(log.ranks, 16U);
  EXPECT_EQ(log.hosts, 2U);
  EXPECT_EQ(log.channels, 24);
  EXPECT_EQ(log.nvls_channels, 16);
  EXPECT_EQ(log.p2p_channels, 32);
  EXPECT_EQ(log.p2p_channels_per_peer, 4);
  EXPECT_EQ(cell(log, 0, NcclAlgorithm::kRing, Protocol::kSimple).bandwidth_GBps, 6.5);
  EXPECT_EQ(result.skipped, 0);
}

TEST(NcclDebugLog, ReadsCallsByName) {
  const NcclLog log =
      read(line("AllReduce: 4096 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}") +
           line("AllReduce: 4096 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}") +
           " 3: " + line("ReduceScatter: 8192 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={4..7}"))
          .log;
  ASSERT_EQ(log.calls.size(), 2U);
  EXPECT_EQ(log.calls[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(log.calls[0].bytes, Bytes(4096));
  EXPECT_EQ(log.calls[0].algorithm, NcclAlgorithm::kTree);
  EXPECT_EQ(log.calls[0].protocol, Protocol::kLl);
  EXPECT_EQ(log.calls[0].channels, 2);
  EXPECT_EQ(log.calls[1].algorithm, NcclAlgorithm::kNvlsTree);
  EXPECT_EQ(log.calls[1].channels, 4);
}

TEST(NcclDebugLog, ReadsCallsByNumber) {
  const NcclLog log = read(line("AllGather: 64 Bytes -> Algo 1 proto 2 time 28.5") +
                           line("Broadcast: opCount 1f sendbuff 0x1 recvbuff 0x2 count 8", "h:7:9") +
                           line("32 Bytes -> Algo 5 proto 0 time 3.0"))
                          .log;
  ASSERT_EQ(log.calls.size(), 2U);
  EXPECT_EQ(log.calls[0].algorithm, NcclAlgorithm::kRing);
  EXPECT_EQ(log.calls[0].protocol, Protocol::kSimple);
  EXPECT_FALSE(log.calls[0].channels);
  EXPECT_EQ(log.calls[1].kind, CollectiveKind::kBroadcast);
  EXPECT_EQ(log.calls[1].algorithm, NcclAlgorithm::kNvlsTree);
  const NcclLog by_program = read("$ ./reduce_perf -b 8\n" + line("32 Bytes -> Algo 0 proto 0 time 3.0")).log;
  EXPECT_EQ(by_program.calls.at(0).kind, CollectiveKind::kReduce);
}

TEST(NcclDebugLog, SkipsAndCountsTornLines) {
  const NcclDebugLog result = read(
      kTable + line("     AllReduce |    11.0/   1.5 |    12.0/h:9:9 [1] NCCL INFO Channel 00/24") +
      line("     AllReduce |    11.0/   1.5 |    12.0/   2.5 |") +
      line("8 Bytes -> Algo 0 proto 0 time 3.0") + line("AllReduce: 8 Bytes -> Algo RING proto") +
      line("AllReduce: 8 Bytes -> Algo 9 proto 0 time 1") + line("AllReduce: 8 Bytes -> Algo RING proto LL") +
      line("Foo: 8 Bytes -> Algo RING proto LL time 1") +
      line("  Algorithm   |  Ring h:9:9 [1] NCCL INFO x |") + std::string(70000, 'x') + "\n");
  EXPECT_EQ(result.skipped, 8);
  EXPECT_TRUE(result.log.calls.empty());
  EXPECT_EQ(cell(result.log, 0, NcclAlgorithm::kTree, Protocol::kLl).latency_us, 11.0);
}

TEST(NcclDebugLog, SaysWhichSettingsPrintWhatIsMissing) {
  EXPECT_EQ(
      error_of([] { (void)read(line("Connected all rings")); }),
      "d.log: expected NCCL's table of choices or its per-call lines, got neither; NCCL_DEBUG=INFO with "
      "NCCL_DEBUG_SUBSYS=INIT,TUNING prints both");
}

}  // namespace
}  // namespace busbar
