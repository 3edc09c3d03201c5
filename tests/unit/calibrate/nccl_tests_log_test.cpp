#include "tests/support/errors.h"
#include "tests/unit/calibrate/nccl_tests_text.h"

namespace busbar {
namespace {

TEST(NcclTestsLog, ReadsABannerAListOfRanksAndATable) {
  const MeasuredTable t =
      one("# nccl-tests version 2.17.9 nccl-headers=22602 nccl-library=22902\n"
          "# Collective test starting: all_reduce_perf\n"
          "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
          "validation: 1 graph: 3 unalign: 0\n#\n" +
          ranks(8) + kHeaderE + kRowE + kRowE2 +
          "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 17.5\n" +
          "# Collective test concluded: all_reduce_perf\n");
  EXPECT_EQ(t.operation, CollectiveKind::kAllReduce);
  EXPECT_EQ(t.ranks, 8);
  EXPECT_EQ(t.hosts, 1);
  EXPECT_EQ(t.type, "float");
  EXPECT_EQ(t.reduction, Reduction::kSum);
  EXPECT_FALSE(t.root);
  EXPECT_EQ(t.nccl_version, "2.29.2");
  EXPECT_EQ(t.gpus_per_process, 1);
  EXPECT_EQ(t.cuda_graph, true);
  EXPECT_EQ(t.gpu, "NVIDIA H100 80GB");
  EXPECT_EQ(t.source, "log.txt:14");
  ASSERT_EQ(t.rows.size(), 2U);
  EXPECT_EQ(t.rows[0].size, Bytes(1048576));
  EXPECT_EQ(t.rows[0].ranks, 8);
  expect_times(t, 0, 104.8, 100.0);
  EXPECT_TRUE(t.notes.empty());
}

TEST(NcclTestsLog, ReadsEveryOrderOfColumns) {
  const std::string tail = " time algbw busbw error time algbw busbw error\n";
  const MeasuredTable a = one("# size count type redop" + tail +
                              "1048576 262144 float sum 104.8 10.01 17.51 2e-07 100.0 10.49 18.35 2e-07\n");
  EXPECT_EQ(a.operation, CollectiveKind::kAllReduce);
  expect_times(a, 0, 104.8, 100.0);
  const MeasuredTable b =
      one("# size count type" + tail + "1048576 32768 float 104.8 10.01 8.76 0e+00 100.0 10.49 9.18 0e+00\n");
  EXPECT_EQ(b.operation, CollectiveKind::kAllGather);
  EXPECT_EQ(b.ranks, 8);
  expect_times(b, 0, 104.8, 100.0);
  const MeasuredTable c = one("# size count type root" + tail +
                              "1048576 262144 float 0 104.8 10.01 10.01 0e+00 100.0 10.49 10.49 0e+00\n");
  EXPECT_EQ(c.operation, CollectiveKind::kBroadcast);
  EXPECT_EQ(c.root, 0);
  expect_times(c, 0, 104.8, 100.0);
  const MeasuredTable d = one("# size count type redop root" + tail +
                              "1048576 262144 float sum 3 104.8 10.01 10.01 0e+00 100.0 10.49 10.49 0e+00\n");
  EXPECT_EQ(d.operation, CollectiveKind::kReduce);
  EXPECT_EQ(d.root, 3);
  const MeasuredTable f =
      one(kHeaderE +
          "1048576 262144 float sum -1   104.80   10.01   17.51       0   100.00   10.49   "
          "18.35       0 \n");
  expect_times(f, 0, 104.8, 100.0);
  const MeasuredTable g =
      one("# bytes N type op time algbw busbw res\n"
          "1048576 262144 float sum 0.105 9.99 17.48 N/A\n",
          "log.txt", kAllReduce);
  EXPECT_EQ(g.rows.at(0).time, Time::from_microseconds(105));
  EXPECT_FALSE(g.rows[0].time_in_place);
}

TEST(NcclTestsLog, CountsFiguresWhereTheHeaderIsLost) {
  const std::string head = "1048576 262144 float sum ";
  struct Case {
    std::string tail;
    bool in_place;
  };
  const Case cases[] = {{"-1 104.8 10.01 17.51 0 100.0 10.49 18.35 0", true},       // root, two quadruples
                        {"104.8 10.01 17.51 2e-07 100.0 10.49 18.35 2e-07", true},  // no root
                        {"-1 104.8 10.01 17.51 100.0 10.49 18.35", true},           // root, two triples
                        {"104.8 10.01 17.51 100.0 10.49 18.35", true},              // two triples
                        {"104.8 10.01 17.51 N/A", false},                           // out of place only
                        {"-1 104.8 10.01 17.51 0", false},
                        {"104.8 10.01 17.51", false}};
  for (const Case& c : cases) {
    const MeasuredTable t = one(head + c.tail + "\n");
    ASSERT_EQ(t.rows.size(), 1U) << c.tail;
    EXPECT_EQ(t.rows[0].time, Time::from_microseconds(104.8)) << c.tail;
    EXPECT_EQ(t.rows[0].time_in_place.has_value(), c.in_place) << c.tail;
  }
}

TEST(NcclTestsLog, TakesHeadersWithoutTheHashOrTheUnits) {
  const MeasuredTable t = one(
      "     size      count   type  redop  root   time  algbw  busbw  wrong   time  algbw  busbw  wrong\n" +
      kRowE);
  expect_times(t, 0, 104.8, 100.0);
}

TEST(NcclTestsLog, ReadsTheColumnsOfVariation) {
  const std::string four = " i_min i_max i_p99 i_cv%";
  const MeasuredTable t =
      one("# size count type redop root time algbw busbw #wrong" + four + " time algbw busbw #wrong" + four +
          "\n1048576 262144 float sum -1 104.8 10.01 17.51 0 99.0 110.0 108.0 2.5 100.0 10.49 18.35 0 98.0 "
          "104.0 103.0 1.5\n");
  expect_times(t, 0, 104.8, 100.0);
}

TEST(NcclTestsLog, IgnoresATimeStampAfterTheRow) {
  std::string row = kRowE;
  row.insert(row.size() - 1, "  2031-01-02 03:04:05");
  expect_times(one(kHeaderE + row), 0, 104.8, 100.0);
}

TEST(NcclTestsLog, SaysWhenTimesAreTheHosts) {
  std::string header = kHeaderE;
  header.replace(header.find("   time"), 7, "cputime");
  EXPECT_TRUE(has_note(one(header + kRowE), "the host's (cputime)"));
}

TEST(NcclTestsLog, SeesThroughPrefixesAndWrappings) {
  const std::string row = kRowE.substr(0, kRowE.size() - 1);
  const std::string lines[] = {"[1,0]<stdout>:" + row,
                               "[1,0]<stdout>: " + row,
                               " 0: " + row,
                               "00: " + row,
                               "[0] " + row,
                               "x9999c0s0b0n0.site 0: " + row,
                               "2031-01-02T03:04:05.678901234Z " + row,
                               "worker-0 | " + row,
                               "- " + row,
                               row + " | |",
                               "> " + row,
                               "        " + row,
                               "    \"" + row + "\",",
                               "'" + row + "\\n'",
                               "\x1b[32m" + row + "\x1b[0m",
                               row + "\r",
                               "\xe4\xb8\xad " + row};
  for (const std::string& line : lines) {
    const MeasuredTable t = one(kHeaderE + line + "\n");
    expect_times(t, 0, 104.8, 100.0);
    EXPECT_EQ(t.rows[0].size, Bytes(1048576)) << line;
  }
  std::string tabs = kRowE;
  for (char& c : tabs) c = c == ' ' ? '\t' : c;
  expect_times(one(kHeaderE + tabs), 0, 104.8, 100.0);
}

TEST(NcclTestsLog, SeesThroughPrefixedBannersToo) {
  std::string text;
  for (const std::string& part :
       {std::string("# nThread 1 nGpus 1 graph: 0"), std::string("# Using devices")})
    text += "[1,0]<stdout>:" + part + "\n";
  for (int r = 0; r < 2; ++r)
    text += "x1 0: #   Rank " + std::to_string(r) + " Pid 7 on n" + std::to_string(r) +
            " device 0 [0x1b] Tesla V\n";
  const MeasuredTable t = one(text + " 0: " + kHeaderE +
                              " 0: 1048576 262144 float sum -1 104.8 10.01 10.01 0 "
                              "100.0 10.49 10.49 0\n");
  EXPECT_EQ(t.operation, CollectiveKind::kAllReduce);  // factor 1 on two ranks, a reduction without a root
  EXPECT_EQ(t.ranks, 2);
  EXPECT_EQ(t.hosts, 2);
  EXPECT_EQ(t.gpu, "Tesla V");
  EXPECT_EQ(t.cuda_graph, false);
}

TEST(NcclTestsLog, TakesOutLabelsThatAreGluedIntoARow) {
  const MeasuredTable t =
      one(kHeaderE + "1048576 262144 float sum -1[0]  104.8 10.01 17.51  0[0]  100.0 10.49 18.35 0\n");
  expect_times(t, 0, 104.8, 100.0);
}

TEST(NcclTestsLog, LeavesOutTornRowsAndCountsThem) {
  const MeasuredTable t = one(
      kHeaderE + kRowE + "host:77:88 [0] NCCL INFO Connected all trees\n" +
      "     2097152        524288     float     sum      -1host:77:88 [0] NCCL INFO Channel 00 : 7 -> 0\n" +
      "    579.3    0.00    0.00      0    137.0    0.00    0.00      0\n");
  EXPECT_EQ(t.rows.size(), 1U);
  EXPECT_TRUE(has_note(t, "2 torn rows left out"));
}

TEST(NcclTestsLog, DropsRowsOfSizeZero) {
  const MeasuredTable t = one(kHeaderE +
                              "0 0 float none -1 0.31 0.00 0.00 0 0.30 0.00 0.00 0\n0 0 float none -1 0.31 "
                              "0.00 0.00 0 0.30 0.00 0.00 0\n" +
                              "1048576 32768 float none -1 104.8 10.01 8.76 0 100.0 10.49 9.18 0\n");
  EXPECT_EQ(t.rows.size(), 1U);
  EXPECT_TRUE(has_note(t, "2 rows of size 0 left out"));
}

TEST(NcclTestsLog, JoinsRunsOfOneRowEach) {
  const std::string banner = "$ ./all_reduce_perf -b 1M -e 1M\n# nThread 1 nGpus 8 graph: 0\n";
  const MeasuredTable t = one(banner + kHeaderE + kRowE + "# Avg bus bandwidth : 17\n" + banner + kHeaderE +
                              kRowE2 + "# Avg bus bandwidth : 17\n");
  ASSERT_EQ(t.rows.size(), 2U);
  EXPECT_EQ(t.gpus_per_process, 8);
}

TEST(NcclTestsLog, KeepsSeveralOperationsOfOneFileApart) {
  const Measurement m =
      read("# Collective test starting: all_reduce_perf\n" + ranks(8) + kHeaderE + kRowE +
           "# Avg bus bandwidth : 1\n# Collective test starting: sendrecv_perf\n" + ranks(1) + kHeaderE +
           "1048576 262144 float sum -1 104.8 10.01 10.01 0 100.0 10.49 10.49 N/A\n");
  ASSERT_EQ(m.tables.size(), 2U);
  EXPECT_EQ(m.tables[0].operation, CollectiveKind::kAllReduce);
  EXPECT_EQ(m.tables[0].ranks, 8);
  EXPECT_EQ(m.tables[1].operation, CollectiveKind::kSendRecv);
  EXPECT_EQ(m.tables[1].ranks, 1);
}

TEST(NcclTestsLog, SplitsTypesRoundsAndHeaders) {
  std::string half = kRowE;
  half.replace(half.find("float"), 5, " half");
  EXPECT_EQ(read(kHeaderE + kRowE + half).tables.size(), 2U);
  EXPECT_EQ(read(kHeaderE + kRowE + kRowE2 + kRowE).tables.size(), 2U);
  EXPECT_EQ(read(kHeaderE + kRowE2 + kHeaderE + kRowE).tables.size(), 2U);
}

}  // namespace
}  // namespace busbar
