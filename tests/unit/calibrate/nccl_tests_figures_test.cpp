// What the figures of a table say of its operation, its ranks and its rows.
#include "tests/support/errors.h"
#include "tests/unit/calibrate/nccl_tests_text.h"

namespace busbar {
namespace {

TEST(NcclTestsLog, TrustsTheTableMoreThanTheCommand) {
  // An all_reduce command above a table without a reduction, whose factor is 15/16.
  const MeasuredTable t = one("./all_reduce_perf -b 1M\n" + kHeaderE +
                              "1048576 16384 float none -1 104.8 10.01 9.38 0 100.0 10.49 9.83 0\n");
  EXPECT_EQ(t.operation, CollectiveKind::kAllGather);
  EXPECT_EQ(t.ranks, 16);
  EXPECT_TRUE(has_note(t, "called all_reduce, but its figures are those of all_gather"));
  const MeasuredTable named = one(kHeaderE + kRowE, "study_allgather.txt");
  EXPECT_EQ(named.operation, CollectiveKind::kAllReduce);
}

TEST(NcclTestsLog, TellsAllToAllByTheMissingCheck) {
  const MeasuredTable t =
      one(kHeaderE + "1048576 32768 float none -1 104.8 10.01 8.76 0 100.0 10.49 9.18 N/A\n");
  EXPECT_EQ(t.operation, CollectiveKind::kAllToAll);
  const MeasuredTable rs =
      one(kHeaderE + "1048576 32768 float sum -1 104.8 10.01 8.76 0 100.0 10.49 9.18 0\n");
  EXPECT_EQ(rs.operation, CollectiveKind::kReduceScatter);
}

TEST(NcclTestsLog, TakesTheOperationFromTheFilesName) {
  const std::string unchecked = "1048576 32768 float none -1 104.8 10.01 8.76 N/A 100.0 10.49 9.18 N/A\n";
  EXPECT_EQ(one(kHeaderE + unchecked, "/x/n2_alltoall_1.log").operation, CollectiveKind::kAllToAll);
  EXPECT_EQ(one(kHeaderE + unchecked, "all.log", {.operation = CollectiveKind::kAllGather}).operation,
            CollectiveKind::kAllGather);
}

TEST(NcclTestsLog, TakesRanksFromTheFactorWhereTheListIsWrongOrCut) {
  // 1.9844 is 2 x 127/128.
  const std::string row =
      "8589934592 2147483648 float sum -1 85899.3 100.00 198.44 0 85899.3 100.00 198.44 0\n";
  const MeasuredTable t =
      one("# Using devices\n# Rank 143 Group 0 Pid 5 on n17 device 7 [0x1b] X\n" + kHeaderE + row);
  EXPECT_EQ(t.ranks, 128);
  EXPECT_TRUE(has_note(t, "the figures are those of 128 ranks; the list says 144"));
  EXPECT_FALSE(t.hosts);
  const MeasuredTable cut =
      one("# Using devices\n# Rank 127 Group 0 Pid 5 on n15 device 7 [0x1b] X\n" + kHeaderE + row);
  EXPECT_EQ(cut.ranks, 128);
  EXPECT_TRUE(has_note(cut, "the list of ranks is cut"));
  const MeasuredTable hinted = one(kHeaderE + row, "log", {.ranks = 64});
  EXPECT_EQ(hinted.ranks, 128);
  EXPECT_TRUE(has_note(hinted, "128 ranks, not of 64"));
}

TEST(NcclTestsLog, TakesRanksOfGathersFromTheCount) {
  const MeasuredTable t =
      one(kHeaderE + "33554400 838860 float none -1 3355.4 10.00 9.00 0 3355.4 10.00 9.00 0\n");
  EXPECT_EQ(t.ranks, 10);
}

TEST(NcclTestsLog, ReadsTheConventionOf2019) {
  // algbw = busbw = size x 7/8 / time.
  const MeasuredTable t =
      one("# size count type time algbw busbw error time algbw busbw error\n"
          "1073741824 268435456 float 10737.4 87.50 87.50 0e+00 10737.4 87.50 87.50 0e+00\n",
          "all_gather.log");
  EXPECT_EQ(t.operation, CollectiveKind::kAllGather);
  EXPECT_EQ(t.ranks, 8);
  EXPECT_TRUE(has_note(t, "convention of 2019"));
}

TEST(NcclTestsLog, CountsHostsByNameAndProcessesByHostAndPid) {
  std::string text = "# nThread 1 nGpus 8\n# Using devices\n";
  for (int r = 0; r < 8; ++r)
    text += "#  Rank " + std::to_string(r) + " Group 0 Pid 9 on {host" + std::to_string(r / 4) +
            "} device 0 [0000:1b:00.0]\n";
  const MeasuredTable t = one(text + kHeaderE + kRowE);
  EXPECT_EQ(t.hosts, 2);
  EXPECT_EQ(t.gpus_per_process, 4);
  EXPECT_EQ(t.gpu, "");
  EXPECT_FALSE(one(ranks(8, "<REDACTED>") + kHeaderE + kRowE).hosts);
  EXPECT_FALSE(one(ranks(8, "") + kHeaderE + kRowE).hosts);
}

TEST(NcclTestsLog, DropsInPlaceTimesThatAreNoMeasurement) {
  const MeasuredTable t =
      one(kHeaderE + "1048576 32768 float none -1 104.8 10.01 8.76 0 0.21 4993 4369 N/A\n", "alltoall.log");
  EXPECT_FALSE(t.rows.at(0).time_in_place);
  EXPECT_TRUE(has_note(t, "1 row with an in-place time that is no measurement"));
}

TEST(NcclTestsLog, LeavesOutRowsWhoseBandwidthIsNotSizeOverTime) {
  const MeasuredTable t =
      one(kHeaderE + kRowE + "2097152 524288 float sum -1 209.7 80.00 140.0 0 209.7 80.00 140.0 0\n", "l",
          kAllReduce);
  EXPECT_EQ(t.rows.size(), 1U);
  EXPECT_TRUE(has_note(t, "1 row left out: the printed bandwidth is not size / time"));
}

TEST(NcclTestsLog, KeepsTheNoteOfASweepThatEndsEarly) {
  EXPECT_TRUE(
      has_note(one("# Reducing maxBytes to 15000000000 due to memory limitation\n" + kHeaderE + kRowE),
               "the sweep ends early"));
}

TEST(NcclTestsLog, SkipsAnEllipsis) {
  EXPECT_EQ(one(kHeaderE + kRowE + "   ...\n" + kRowE2).rows.size(), 2U);
}

TEST(NcclTestsLog, ReadsTrimmedCopies) {
  const MeasuredTable t = one(
      "size time algbw busbw\n1_048_576 104.8 10.01 17.51\n2,097,152 209.7 10.00 17.50\n", "log", kAllReduce);
  ASSERT_EQ(t.rows.size(), 2U);
  EXPECT_EQ(t.rows[1].size, Bytes(2097152));
  EXPECT_EQ(t.ranks, 8);
  const MeasuredTable markdown =
      one("| Size | algbw | busbw |\n|---|---|---|\n| 32KiB | 1.20GBps | 2.10GBps |\n| 1MB | 10.00GBps | "
          "17.50GBps |\n",
          "log", kAllReduce);
  ASSERT_EQ(markdown.rows.size(), 2U);
  EXPECT_EQ(markdown.rows[1].size, Bytes(1 << 20));
  EXPECT_EQ(markdown.rows[1].time, Time::from_microseconds(104.8576));
  EXPECT_TRUE(has_note(markdown, "derived from algbw"));
}

TEST(NcclTestsLog, ReadsRcclTests) {
  const MeasuredTable t =
      one("rccl-tests: Version develop:abc1234\n#   Rank  0 Pid 5 on h device 0 [0000:1b:00.0]\n"
          "RCCL version : 2.21.5\nHIP version  : 6.3\n" +
          kHeaderE + kRowE + "Errors with asterisks indicate errors that have exceeded\n");
  EXPECT_EQ(t.nccl_version, "2.21.5");
  EXPECT_EQ(t.ranks, 8);  // the list is cut to one line
}

TEST(NcclTestsLog, SkipsOperationsThatAreNotModelled) {
  const Measurement m = read("hypercube_perf -b 8\n" + kHeaderE + kRowE + "# Avg bus bandwidth : 1\n" +
                             "all_reduce_perf\n" + kHeaderE + kRowE);
  ASSERT_EQ(m.tables.size(), 1U);
  EXPECT_TRUE(has_note(m.tables[0], "'hypercube', which is not modelled"));
}

TEST(NcclTestsLog, SaysWhatIsWrong) {
  EXPECT_EQ(error_of([] { (void)read("hello\n"); }),
            "log.txt: expected the output of nccl-tests, got no table of times");
  EXPECT_EQ(error_of([] { (void)read(kHeaderE + "8 2 float sum -1 10.0 0.00 0.00 0 10.0 0.00 0.00 0\n"); }),
            "log.txt:1: the table does not say which operation it measures; name it with --collective, as in "
            "--collective all_gather");
  EXPECT_EQ(
      error_of([] { (void)read("hypercube_perf\n" + kHeaderE + kRowE); }),
      "log.txt: holds no measured row that can be used: the table at log.txt:2 is of 'hypercube', which is "
      "not modelled");
}

TEST(NcclTestsLog, IgnoresLinesOver64KiB) {
  EXPECT_EQ(one(kHeaderE + std::string(70000, 'x') + "\n" + kRowE).rows.size(), 1U);
}

}  // namespace
}  // namespace busbar
