// Held against published measurements on one NVSwitch host. The tables lie beside the repository
// (../shared/data); without them the test skips.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "tests/support/inline.h"

namespace busbar {
namespace {

const std::string kTables = std::string(BUSBAR_SOURCE_DIR) + "/../shared/data/nccl-tables/";

struct Case {
  std::string table, host;
  // Median error over a table's rows from 1 KiB on: what was reached, rounded up to whole percents.
  double worst_ring, worst_exchange;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.host; }

// Columns: op, dtype, n_gpus, size_bytes, time_us. Source: NVIDIA aiconfigurator (Apache-2.0).
using Rows = std::map<std::pair<std::string, int>, std::vector<std::pair<std::int64_t, double>>>;

Rows read_table(const std::string& path) {
  Rows rows;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::string op, type, gpus, size, time;
    std::getline(cells, op, ',');
    std::getline(cells, type, ',');
    std::getline(cells, gpus, ',');
    std::getline(cells, size, ',');
    std::getline(cells, time, ',');
    if (type == "half" && std::stoll(size) >= 1024)
      rows[{op, std::stoi(gpus)}].emplace_back(std::stoll(size), std::stod(time));
  }
  return rows;
}

double median_error(const Topology& topology, CollectiveKind kind, int gpus,
                    const std::vector<std::pair<std::int64_t, double>>& rows) {
  std::vector<Bytes> sizes;
  for (const auto& [size, time] : rows) sizes.emplace_back(size);
  std::vector<std::uint32_t> ranks(static_cast<std::size_t>(gpus));
  std::iota(ranks.begin(), ranks.end(), 0U);
  const Sweep s =
      sweep(topology, {.operation = kind, .ranks = ranks, .sizes = sizes, .type = DataType::kFp16},
            default_profile(), {});
  std::vector<double> errors;
  for (std::size_t i = 0; i < rows.size(); ++i)
    errors.push_back(std::abs(s.rows[i].time.microseconds() / rows[i].second - 1));
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2),
                   errors.end());
  return errors[errors.size() / 2];
}

class MeasuredCollectives : public testing::TestWithParam<Case> {};

TEST_P(MeasuredCollectives, ArePredictedWithinWhatWasReached) {
  const std::string path = kTables + GetParam().table;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no measured tables beside the repository";
  const Topology topology = topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "one", "hosts": {{"count": 1, "type": "{}"}}, "fabric": {{"family": "none"}}}})",
      GetParam().host));
  for (const auto& [key, rows] : read_table(path)) {
    const auto kind = parse_collective(key.first);
    if (!kind || (*kind != CollectiveKind::kAllReduce && *kind != CollectiveKind::kAllGather &&
                  *kind != CollectiveKind::kReduceScatter && *kind != CollectiveKind::kAllToAll))
      continue;
    const double error = median_error(topology, *kind, key.second, rows);
    std::printf("  %s, %s on %d GPUs: median error %.1f %%\n", GetParam().host.c_str(), key.first.c_str(),
                key.second, 100 * error);
    EXPECT_LE(error, *kind == CollectiveKind::kAllToAll ? GetParam().worst_exchange : GetParam().worst_ring)
        << key.first << " on " << key.second << " GPUs";
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, MeasuredCollectives,
                         testing::Values(Case{"h100-sxm-nccl_2.27.3.csv", "dgx-h100", 0.09, 0.17},
                                         Case{"a100-sxm-nccl_2.27.3.csv", "dgx-a100", 0.15, 0.11}),
                         [](const auto& c) { return c.param.host == "dgx-h100" ? "H100" : "A100"; });

}  // namespace
}  // namespace busbar
