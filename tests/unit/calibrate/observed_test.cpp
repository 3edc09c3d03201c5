// What measured tables are predicted with: each table by itself, however many there are of it.
#include "calibrate/observed.h"

#include <gtest/gtest.h>

#include "calibrate/import/nccl_debug_log.h"
#include "calibrate/import/nccl_env.h"
#include "tests/support/errors.h"
#include "tests/unit/calibrate/synthetic.h"

namespace busbar {
namespace {

std::vector<double> predicted_by(Observed& observed) {
  std::vector<double> times(observed.rows().size());
  observed.predict(times);
  return times;
}

// Tables that share a collective share its prediction; alone each has the same.
TEST(Observed, PredictsTablesAsIfEachWereAlone) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables = usual_tables();
  tables.push_back(tables[0]);
  tables.push_back(tables[0]);
  tables.back().isolated = true;
  tables.push_back(tables[0]);
  tables.back().gpus_per_process = 8;
  tables.push_back(tables[1]);
  tables.back().nccl_version = "2.17.1";
  for (MeasuredRow& row : tables[4].rows) row.protocol = "LL";
  const Profile profile = default_profile();
  Observed together(topology, tables, profile);
  const std::vector<double> times = predicted_by(together);
  std::size_t at = 0;
  for (const MeasuredTable& table : tables) {
    const std::vector<MeasuredTable> one{table};
    Observed alone(topology, one, profile);
    for (const double time : predicted_by(alone)) EXPECT_EQ(times[at++], time) << table.nccl_version;
  }
  EXPECT_EQ(at, times.size());
}

TEST(Observed, PredictsTheSameOnAnyNumberOfThreads) {
  const Topology topology = one_dgx();
  const std::vector<MeasuredTable> tables = usual_tables();
  Profile profile = default_profile();
  Observed one(topology, tables, profile), three(topology, tables, profile, {.threads = 3});
  EXPECT_EQ(predicted_by(one), predicted_by(three));
  *parameters(profile).front().value *= 1.5;
  EXPECT_EQ(predicted_by(one), predicted_by(three));
}

// NCCL_ALGO leaves rings alone: then what is predicted is what forcing rings gives.
TEST(Observed, ChoosesAsNcclWasSetUp) {
  const Topology topology = one_dgx();
  const std::vector<MeasuredTable> free{empty_table(CollectiveKind::kAllReduce, 8, 1024, 1 << 28)};
  std::vector<MeasuredTable> rings = free;
  for (MeasuredRow& row : rings[0].rows) row.algorithm = "ring";
  const Profile profile = default_profile();
  Observed set_up(topology, free, profile, {.nccl = read_nccl_env("NCCL_ALGO=RING\n", "env").settings});
  Observed forced(topology, rings, profile), chosen(topology, free, profile);
  EXPECT_EQ(predicted_by(set_up), predicted_by(forced));
  EXPECT_NE(predicted_by(set_up), predicted_by(chosen));
}

// A table as NCCL_DEBUG=INFO prints it, in which nothing but ring / LL can run: then that is what is fitted
// to.
TEST(Observed, ChoosesByTheTableOfADebugLog) {
  const auto line = [](const std::string& text) { return "h:7:8 [0] NCCL INFO " + text + "\n"; };
  const std::string log =
      line("  Algorithm   |                 Tree             |                 Ring             |") +
      line("  Protocol    |       LL |    LL128 |   Simple |       LL |    LL128 |   Simple |") +
      line(" Max NThreads |      512 |      640 |      512 |      512 |      640 |      512 |") +
      line("    AllReduce | 0.0/ 0.0 | 0.0/ 0.0 | 0.0/ 0.0 | 14.0/ 4.5 | 0.0/ 0.0 | 0.0/ 0.0 |");
  const Topology topology = one_dgx();
  const std::vector<MeasuredTable> free{empty_table(CollectiveKind::kAllReduce, 8, 1024, 1 << 24)};
  std::vector<MeasuredTable> forced = free;
  for (MeasuredRow& row : forced[0].rows) {
    row.algorithm = "ring";
    row.protocol = "LL";
  }
  const Profile profile = default_profile();
  NcclSettings logged;
  logged.log = read_nccl_debug_log(log, "d.log").log;
  Observed by_log(topology, free, profile, {.nccl = logged});
  Observed by_force(topology, forced, profile), chosen(topology, free, profile);
  EXPECT_EQ(predicted_by(by_log), predicted_by(by_force));
  EXPECT_NE(predicted_by(by_log), predicted_by(chosen));
}

// Between hosts NVLS trees came with 2.18.
TEST(Observed, TakesATablesOwnReleaseUnlessOneIsGiven) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "two hosts",
    "hosts": {"count": 2, "type": "dgx-h100"}, "fabric": {"family": "rail-optimized"}})");
  std::vector<MeasuredTable> tables{empty_table(CollectiveKind::kAllReduce, 16, 1024, 1 << 28)};
  tables[0].nccl_version = "2.17.1";
  std::vector<MeasuredTable> silent = tables;
  silent[0].nccl_version = "";
  const Profile profile = default_profile();
  const NcclSettings newer{.version = {2, 29, 2}};
  Observed own(topology, tables, profile, {.nccl = newer});
  Observed given(topology, tables, profile, {.nccl = newer, .version_given = true});
  Observed none(topology, silent, profile, {.nccl = newer});
  Observed bare(topology, tables, profile);
  EXPECT_EQ(predicted_by(own), predicted_by(bare));
  EXPECT_EQ(predicted_by(given), predicted_by(none));
  EXPECT_NE(predicted_by(own), predicted_by(given));
}

TEST(Observed, NamesTheRowThatNcclWouldNotRun) {
  const Topology topology = one_dgx();
  std::vector<MeasuredTable> tables{empty_table(CollectiveKind::kAllReduce, 8, 1024, 4096)};
  tables[0].source = "log.txt:12";
  tables[0].rows[1].algorithm = "NVLS";
  tables[0].rows[1].protocol = "LL";
  const Profile profile = default_profile();
  EXPECT_EQ(error_of([&] { Observed(topology, tables, profile); }),
            "log.txt:12, row of 2048 B: NCCL does not run all_reduce as nvls / LL on this group of 8 ranks; "
            "the row's algorithm or protocol is not one that NCCL has for it");
}

}  // namespace
}  // namespace busbar
