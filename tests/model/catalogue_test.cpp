// Every file that ships runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/inline.h"

namespace busbar {
namespace {

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(BUSBAR_SOURCE_DIR) + "/" + folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  return files;
}

TEST(Catalogue, EveryTopologyRunsACollective) {
  const auto files = files_of("topologies/catalogue");
  EXPECT_GE(files.size(), 5U);
  for (const std::string& file : files) {
    const Topology t = read_topology(JsonDocument::load(file), 1);
    const Sweep s =
        sweep(t, {.operation = CollectiveKind::kAllReduce, .sizes = {1_MiB, 1_GiB}}, default_profile(), {});
    EXPECT_EQ(s.rows.size(), 2U) << file;
    EXPECT_GT(s.rows[1].busbw_Bps, 100e9) << file;
    EXPECT_FALSE(t.source().empty()) << file;
  }
}

TEST(Catalogue, EveryWorkloadRunsOnTwoHosts) {
  const Topology t = read_topology(
      JsonDocument::load(std::string(BUSBAR_SOURCE_DIR) + "/topologies/catalogue/dgx2x8.json"), 1);
  const auto files = files_of("workloads/catalogue");
  EXPECT_GE(files.size(), 2U);
  for (const std::string& file : files) {
    const RunResult r = simulate(t, expand(read_workload(JsonDocument::load(file))), default_profile(), {});
    EXPECT_GT(r.step_time, Time::zero()) << file;
    EXPECT_EQ(unaccounted(r.split), Time::zero()) << file;
    EXPECT_FALSE(r.assumptions.empty()) << file;
  }
}

}  // namespace
}  // namespace busbar
