// Reads real files, where the folder of outside data lies beside the checkout.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "calibrate/import/nccl_debug_log.h"
#include "calibrate/import/read_measured.h"
#include "sim/base/json_reader.h"
#include "tests/support/errors.h"

namespace busbar {
namespace {

namespace fs = std::filesystem;

fs::path data() { return std::string(BUSBAR_SOURCE_DIR) + "/../shared/data"; }

std::vector<fs::path> files(const std::string& folder, const std::string& extension = "") {
  std::vector<fs::path> found;
  if (!fs::is_directory(data() / folder)) return found;
  for (const auto& entry : fs::directory_iterator(data() / folder))
    if (extension.empty() || entry.path().extension() == extension) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

void check_rows(const Measurement& measurement, const fs::path& path) {
  ASSERT_FALSE(measurement.tables.empty()) << path;
  for (const MeasuredTable& table : measurement.tables) {
    EXPECT_FALSE(table.rows.empty()) << path;
    for (const MeasuredRow& row : table.rows) {
      EXPECT_GT(row.size.count(), 0) << path;
      EXPECT_GT(row.time, Time::zero()) << path;
      EXPECT_EQ(row.operation, table.operation) << path;
    }
  }
}

TEST(SharedData, PublishedTablesHaveTheOperationAndTheRanksOfTheIndex) {
  const fs::path index = data() / "collectives" / "index.json";
  if (!fs::exists(index)) GTEST_SKIP() << "no shared data";
  const JsonDocument document = JsonDocument::load(index.string());
  for (const JsonValue& entry : document.root().items()) {
    const fs::path path = data() / "collectives" / entry.at("file").string();
    const std::int64_t ranks = entry.at("nranks").integer(1, 1 << 20);
    const Measurement m = read_measured(path.string(), {.ranks = ranks});
    check_rows(m, path);
    for (const MeasuredTable& table : m.tables) {
      EXPECT_EQ(table.operation, parse_collective(entry.at("op").string())) << path;
      EXPECT_EQ(table.ranks, ranks) << path << (table.notes.empty() ? "" : table.notes[0]);
    }
  }
}

TEST(SharedData, FiguresAloneNeverTellAWrongNumberOfRanks) {
  const fs::path index = data() / "collectives" / "index.json";
  if (!fs::exists(index)) GTEST_SKIP() << "no shared data";
  std::size_t told = 0;
  const JsonDocument document = JsonDocument::load(index.string());
  for (const JsonValue& entry : document.root().items()) {
    const fs::path path = data() / "collectives" / entry.at("file").string();
    const Measurement m = read_measured(path.string());
    for (const MeasuredTable& table : m.tables) {
      told += table.ranks > 0 ? 1 : 0;
      EXPECT_TRUE(table.ranks == 0 || table.ranks == entry.at("nranks").integer(1, 1 << 20))
          << path << ": " << table.ranks;
    }
  }
  EXPECT_GT(told, 100U);
}

TEST(SharedData, TablesOfSeveralOperationsAreRead) {
  const auto paths = files("nccl-tables", ".csv");
  if (paths.empty()) GTEST_SKIP() << "no shared data";
  for (const fs::path& path : paths) {
    const Measurement m = read_measured(path.string());
    check_rows(m, path);
    for (const MeasuredTable& table : m.tables) EXPECT_GE(table.ranks, 2) << path;
  }
}

TEST(SharedData, LogsWithATableAreMeasurements) {
  if (files("artefacts/nccl-debug-info").empty()) GTEST_SKIP() << "no shared data";
  struct Known {
    std::string file;
    CollectiveKind operation;
    std::int64_t ranks, hosts;
    std::string version;
  };
  const Known known[] = {
      {"allreduce-2x4-h100-ib.log", CollectiveKind::kAllReduce, 8, 2, "2.22.3"},
      {"a100-roce-4gpu-sendrecv.log", CollectiveKind::kSendRecv, 8, 2, "2.26.2"},
      {"p3dn-efa-2x8.txt", CollectiveKind::kAllReduce, 16, 2, "2.4.6"},
  };
  for (const Known& k : known) {
    const fs::path path = data() / "artefacts/nccl-debug-info" / k.file;
    const Measurement m = read_measured(path.string());
    check_rows(m, path);
    const MeasuredTable& table = m.tables.front();
    EXPECT_EQ(table.operation, k.operation) << path;
    EXPECT_EQ(table.ranks, k.ranks) << path;
    EXPECT_EQ(table.hosts, k.hosts) << path;
    EXPECT_EQ(table.nccl_version, k.version) << path;
  }
}

TEST(SharedData, EveryDebugLogIsReadOrRefusedWithAReason) {
  const auto paths = files("artefacts/nccl-debug-info");
  if (paths.empty()) GTEST_SKIP() << "no shared data";
  for (const fs::path& path : paths) {
    const std::string error = error_of([&] { (void)load_nccl_debug_log(path.string()); });
    EXPECT_TRUE(error == "no error" || error.find("NCCL_DEBUG_SUBSYS") != std::string::npos) << error;
    const std::string measured = error_of([&] { (void)read_measured(path.string()); });
    EXPECT_TRUE(measured == "no error" ||
                measured.find("expected measured collectives") != std::string::npos ||
                measured.find("--collective") != std::string::npos)
        << measured;
  }
}

}  // namespace
}  // namespace busbar
