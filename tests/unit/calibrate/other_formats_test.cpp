// OSU's benchmarks, NCCL's inspector, and the parts of busbar.measured/1 that say who measured.
#include <gtest/gtest.h>

#include "calibrate/import/read_measured.h"
#include "sim/base/error.h"

namespace busbar {
namespace {

TEST(Osu, ReadsCollectivesWithTheFullBuffer) {
  const std::string text =
      "# OSU MPI-CUDA Allgather Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
      "1                      10.50\n1024                   12.25\n";
  const Measurement m = read_measured_text(text, "osu.txt", {.ranks = 8});
  ASSERT_EQ(m.tables.size(), 1U);
  EXPECT_EQ(m.tables[0].operation, CollectiveKind::kAllGather);
  EXPECT_EQ(m.tables[0].ranks, 8);
  EXPECT_TRUE(m.tables[0].isolated);
  ASSERT_EQ(m.tables[0].rows.size(), 2U);
  EXPECT_EQ(m.tables[0].rows[1].size, Bytes(8 * 1024));
  EXPECT_EQ(m.tables[0].rows[1].time, Time::from_microseconds(12.25));
}

TEST(Osu, ReadsWiderColumnsAndSeveralTests) {
  const std::string text =
      "# OSU MPI Allreduce Latency Test v5.6.2\n# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  "
      "Iterations\n1048576   400.1   399.0   402.2   100\n\n# OSU MPI Bi-Directional Bandwidth Test v5.6.2\n"
      "# Size      Bandwidth (MB/s)\n1048576   20000.0\n";
  const Measurement m = read_measured_text(text, "osu.txt", {.ranks = 4});
  ASSERT_EQ(m.tables.size(), 2U);
  EXPECT_EQ(m.tables[0].rows[0].time, Time::from_microseconds(400.1));
  EXPECT_EQ(m.tables[1].operation, CollectiveKind::kSendRecv);
  EXPECT_EQ(m.tables[1].ranks, 2);
  // Both directions together carry 2 x 1 MiB at 20 x 10^9 B/s.
  EXPECT_NEAR(m.tables[1].rows[0].time.seconds(), 2.0 * 1048576 / 20e9, 1e-12);
}

TEST(Osu, SaysWhatIsMissing) {
  const std::string collective = "# OSU MPI Broadcast Latency Test v7\n# Size  Avg Latency(us)\n8  1.5\n";
  EXPECT_THROW(static_cast<void>(read_measured_text(collective, "osu.txt")), Error);
  const std::string broken = "# OSU MPI Latency Test v7\n8  fast\n";
  EXPECT_THROW(static_cast<void>(read_measured_text(broken, "osu.txt")), Error);
  const std::string other = "# OSU MPI Put Latency Test v7\n8  1.5\n";
  EXPECT_THROW(static_cast<void>(read_measured_text(other, "osu.txt")), Error);
}

TEST(RcclTests, ReadsTheExportWithoutNames) {
  const Measurement m = read_measured_text(
      "0,\"AllReduce\",8,1024,\"float\",\"sum\",0,41.201000,0.024854,0.043494,\"0\"\n"
      "0,\"AllReduce\",8,2048,\"float\",\"sum\",0,42.000000,0.048762,0.085333,\"0\"\n",
      "rccl.csv");
  ASSERT_EQ(m.tables.size(), 1U);
  EXPECT_EQ(m.tables[0].ranks, 8);
  ASSERT_EQ(m.tables[0].rows.size(), 2U);
  EXPECT_EQ(m.tables[0].rows[1].time, Time::from_microseconds(42));
}

std::string inspector(int rank, int sequence, const std::string& perf) {
  return R"({"header": {"id": "0xab", "rank": )" + std::to_string(rank) +
         R"(, "n_ranks": 2, "nnodes": 1}, "metadata": {"hostname": "h0"}, "coll_perf": {"coll_sn": )" +
         std::to_string(sequence) + ", " + perf + "}}\n";
}

TEST(NcclInspector, TakesTheSlowestRankAndTheMedianOfRepetitions) {
  const auto perf = [](double us) {
    return R"("coll": "AllReduce", "coll_msg_size_bytes": 1000000, "coll_exec_time_us": )" +
           std::to_string(us) + R"(, "coll_algobw_gbs": )" + std::to_string(1e3 / us) +
           R"(, "coll_algo": "RING", "coll_proto": "SIMPLE")";
  };
  const std::string text = inspector(0, 1, perf(50)) + inspector(1, 1, perf(60)) + inspector(0, 2, perf(70)) +
                           inspector(1, 2, perf(40)) + inspector(0, 3, perf(90)) + inspector(1, 3, perf(90));
  const Measurement m = read_measured_text(text, "run.jsonl");
  ASSERT_EQ(m.tables.size(), 1U);
  EXPECT_EQ(m.tables[0].ranks, 2);
  EXPECT_EQ(m.tables[0].hosts, 1);
  EXPECT_EQ(m.tables[0].member_hosts, (std::vector<std::string>{"h0", "h0"}));
  ASSERT_EQ(m.tables[0].rows.size(), 1U);
  EXPECT_EQ(m.tables[0].rows[0].time, Time::from_microseconds(70));  // of 60, 70 and 90
  EXPECT_EQ(m.tables[0].rows[0].algorithm, "RING");
}

// The plugin's own rate tells that the size is one rank's part: 2 x 10^6 B in 100 us are 20 GB/s.
TEST(NcclInspector, MakesTheFullBufferOfOnesPart) {
  const std::string text = inspector(
      0, 1,
      R"("coll": "AllGather", "coll_msg_size_bytes": 1000000, "coll_exec_time_us": 100, "coll_algobw_gbs": 20)");
  EXPECT_EQ(read_measured_text(text, "run.jsonl").tables[0].rows[0].size, Bytes(2000000));
}

TEST(NcclInspector, NamesTheLineThatIsWrong) {
  const std::string good =
      inspector(0, 1, R"("coll": "AllReduce", "coll_msg_size_bytes": 8, "coll_exec_time_us": 5)");
  try {
    static_cast<void>(read_measured_text(good + R"({"header": 1, "coll_perf": })" + "\n", "run.jsonl"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("run.jsonl:2"), std::string::npos) << e.what();
  }
}

// A job that was ended leaves half a line; only the last may be half, and not without any before it.
TEST(NcclInspector, LeavesOutALastLineThatIsCut) {
  const std::string good =
      inspector(0, 1, R"("coll": "AllReduce", "coll_msg_size_bytes": 8, "coll_exec_time_us": 5)");
  for (const std::size_t length : {std::size_t{1}, good.size() / 2, good.size() - 2}) {
    const Measurement m = read_measured_text(good + good.substr(0, length), "run.jsonl");
    ASSERT_EQ(m.tables.size(), 1U);
    EXPECT_EQ(m.tables[0].rows.size(), 1U);
    EXPECT_EQ(m.tables[0].notes.back(), "line 2, the last, is cut; left out") << length;
  }
  EXPECT_THROW((void)read_measured_text(good + good.substr(0, 40) + "\n" + good, "run.jsonl"), Error);
}

TEST(MeasuredJson, SaysWhoTookPart) {
  const Measurement m = read_measured_text(
      R"({"schema": "busbar.measured/1", "collectives": [
          {"operation": "send_recv", "size_bytes": 1024, "members": [3, 11], "time_s": 1e-5},
          {"operation": "send_recv", "size_bytes": 2048, "members": [3, 11], "time_s": 2e-5},
          {"operation": "all_reduce", "size_bytes": 1024, "members": "0-6:2", "time_s": 1e-5, "isolated": true}],
        "kernels": [{"kind": "matmul", "rank": 2, "shape": [64, 32, 16], "type": "bf16", "time_s": 1e-5},
                    {"kind": "launch", "time_s": 4e-6}]})",
      "m.json");
  ASSERT_EQ(m.tables.size(), 2U);
  EXPECT_EQ(m.tables[0].members, (std::vector<std::uint32_t>{3, 11}));
  EXPECT_EQ(m.tables[0].rows.size(), 2U);
  EXPECT_EQ(m.tables[1].members, (std::vector<std::uint32_t>{0, 2, 4, 6}));
  EXPECT_TRUE(m.tables[1].isolated);
  ASSERT_EQ(m.kernels.size(), 2U);
  EXPECT_EQ(m.kernels[0].rank, 2U);
  EXPECT_EQ(m.kernels[1].time, Time::from_microseconds(4));
}

TEST(MeasuredJson, RefusesKernelsAndMembersThatAreNone) {
  const auto read = [](const std::string& body) {
    return read_measured_text(R"({"schema": "busbar.measured/1", )" + body + "}", "m.json");
  };
  EXPECT_THROW(static_cast<void>(read(R"("kernels": [{"kind": "copi", "bytes": 8, "time_s": 1}])")), Error);
  EXPECT_THROW(static_cast<void>(read(R"("kernels": [{"kind": "copy", "time_s": 1}])")), Error);
  EXPECT_THROW(static_cast<void>(read(R"("kernels": [{"kind": "launch", "bytes": 8, "time_s": 1}])")), Error);
  for (const std::string members : {"[1, 1]", "[]", "\"7-3\"", "\"x\"", "[-1]"})
    EXPECT_THROW(
        static_cast<void>(
            read(R"("collectives": [{"operation": "all_reduce", "size_bytes": 8, "time_s": 1, "members": )" +
                 members + "}]")),
        Error)
        << members;
}

}  // namespace
}  // namespace busbar
