#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "calibrate/import/measured_json.h"
#include "tests/support/job.h"

namespace busbar {
namespace {

class MpiRun : public JobTest {
 protected:
  Outcome measure(int ranks, const std::string& arguments) {
    return shell(mpirun(ranks) + "'%BIN/calibrate-mpi' --run mpi --repetitions 1 --no-isolated " + arguments);
  }
  [[nodiscard]] Measurement measured(const std::string& name) const {
    return read_measured_json(JsonDocument::load(path(name).string()));
  }
};

TEST_F(MpiRun, WritesRowsOfEveryOperationThatAreReadBack) {
  const Outcome o = measure(4, "-o m.json --sizes 4K,64K --algorithm own --groups all,host:2");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Measurement m = measured("m.json");
  std::set<std::pair<CollectiveKind, std::int64_t>> tables;
  for (const MeasuredTable& table : m.tables) {
    tables.insert({table.operation, table.ranks});
    EXPECT_EQ(table.hosts, 1);
    EXPECT_EQ(table.rows.size(), 2U);
    for (const MeasuredRow& row : table.rows) EXPECT_GT(row.time, Time::zero());
  }
  EXPECT_EQ(tables.size(), 2 * (kCollectiveKinds - 1));  // all but barrier, on four ranks and on two
  ASSERT_EQ(m.kernels.size(), 1U);                       // one rank of the one host copied
  EXPECT_FALSE(std::filesystem::exists(path("m.json.journal")));
  EXPECT_NE(o.out.find("36 points measured, 0 from before"), std::string::npos) << o.out;
}

TEST_F(MpiRun, ForcesAlgorithmsUnderTheirNames) {
  // How long they take is not judged on a machine that others share.
  const Outcome o = measure(4,
                            "-o m.json --sizes 4K --algorithm ring,halving-doubling --collective all_reduce "
                            "--groups all --no-kernels");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Measurement m = measured("m.json");
  ASSERT_EQ(m.tables.size(), 1U);
  std::set<std::string> names;
  for (const MeasuredRow& row : m.tables[0].rows) names.insert(row.algorithm.value_or("none"));
  EXPECT_EQ(names, (std::set<std::string>{"halving-doubling", "ring"}));
}

TEST_F(MpiRun, StopsByTheBudgetAndGoesOnWithResume) {
  const std::string what =
      "-o m.json --sizes 1K:64K:4 --algorithm own --collective all_reduce --groups all --no-kernels ";
  Outcome o = measure(2, what + "--budget 1us");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("measure the rest with --resume"), std::string::npos) << o.out;
  ASSERT_TRUE(std::filesystem::exists(path("m.json.journal")));
  o = measure(2, what);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("an earlier run left its measurements here; go on with --resume"), std::string::npos)
      << o.err;
  o = measure(3, what + "--resume");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("its number of ranks is '2', now it is '3'"), std::string::npos) << o.err;
  o = measure(2, what + "--resume");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(measured("m.json").tables[0].rows.size(), 4U);
  EXPECT_FALSE(std::filesystem::exists(path("m.json.journal")));
}

TEST_F(MpiRun, AStoppedRankIsNamedAndWhatWasMeasuredIsKept) {
  // Rank 2 is stopped by its own shell's child once the journal has two lines.
  file("rank.sh",
       "if [ \"$OMPI_COMM_WORLD_RANK\" = 2 ]; then\n"
       "  (until [ \"$(cat m.json.journal 2>/dev/null | wc -l)\" -ge 3 ]; do sleep 0.05; done; kill -STOP "
       "$$) &\n"
       "fi\n"
       "exec \"$@\"\n");
  const Outcome o = shell(mpirun(3) +
                          "sh rank.sh '%BIN/calibrate-mpi' --run mpi -o m.json --sizes 64K,128K,256K,512K "
                          "--groups all --timeout 2s --no-kernels");
  EXPECT_EQ(o.exit_code, 3) << o.out;
  EXPECT_NE(o.err.find("calibrate: rank 2 on "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("does not answer; the others wait in "), std::string::npos) << o.err;
  const std::string journal = read_file(path("m.json.journal"));
  EXPECT_GE(std::count(journal.begin(), journal.end(), '\n'), 3);
}

TEST_F(MpiRun, ErrorsAreSaidOnceWithTheirExitCode) {
  Outcome o = measure(3, "-o m.json --algorithm rnig");
  EXPECT_EQ(o.exit_code, 2);
  const std::string line = "calibrate: --algorithm: expected ";
  const std::size_t at = o.err.find(line);
  ASSERT_NE(at, std::string::npos) << o.err;
  EXPECT_EQ(o.err.find(line, at + 1), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("did you mean 'ring'?"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(path("m.json.journal")));
}

}  // namespace
}  // namespace busbar
