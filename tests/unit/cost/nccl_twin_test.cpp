#include "tests/unit/cost/nccl_twin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sim/cost/nccl_table.h"
#include "tests/support/sanitized.h"
#include "tests/support/seeded.h"
#include "tests/unit/cost/nccl_groups.h"

namespace busbar {
namespace {

template <class T, std::size_t N>
T any_of(Seeded& random, const T (&values)[N]) {
  return values[random.index(0, N - 1)];
}

GroupFacts any_group(Seeded& random) {
  const int ccs[] = {60, 70, 80, 86, 90, 100};
  const double nominal[] = {160, 150, 300, 56.25, 450, 900};
  const std::size_t gpu = random.index(0, 5);
  const auto hosts =
      static_cast<std::uint32_t>(random.one_in(2) ? random.integer(1, 2) : random.integer(3, 70));
  const auto local = static_cast<std::uint32_t>(random.one_in(5) ? 1 : random.integer(1, 20));
  GroupFacts f = switched_group(ccs[gpu], nominal[gpu], hosts, local);
  if (random.one_in(4) && hosts > 1 && local > 1) {  // one host is smaller
    f.local_least = static_cast<std::uint32_t>(random.integer(1, local));
    f.ranks -= local - f.local_least;
  }
  if (random.one_in(6)) f.cc_most = 120;
  const PathType intra[] = {PathType::kNvb, PathType::kPix, PathType::kPxb, PathType::kPhb, PathType::kSys};
  if (random.one_in(3)) {
    f.intra_path = any_of(random, intra);
    f.nvswitch = false;
    if (f.intra_path != PathType::kNvb) f.intra = Bandwidth::gigabytes_per_second(15.75 * random.whole(1, 4));
  }
  const PathType inter[] = {PathType::kPix, PathType::kPxb, PathType::kP2c, PathType::kPxn, PathType::kPhb};
  f.inter_path = any_of(random, inter);
  const double nics[] = {1.25, 12.5, 25, 50, 100};
  f = with_nics(f, static_cast<std::uint32_t>(random.integer(1, 32)), any_of(random, nics));
  f.in_network_reduction = random.one_in(2);
  f.cpu = static_cast<CpuVendor>(random.integer(0, 3));
  return f;
}

NcclSettings any_settings(Seeded& random) {
  const NcclVersion versions[] = {{2, 12, 7}, {2, 17, 1}, {2, 18, 1}, {2, 18, 3}, {2, 18, 5}, {2, 19, 3},
                                  {2, 20, 5}, {2, 21, 5}, {2, 22, 3}, {2, 23, 4}, {2, 24, 3}, {2, 26, 2},
                                  {2, 27, 7}, {2, 28, 9}, {2, 29, 2}, {2, 29, 7}, {2, 30, 7}};
  NcclSettings settings;
  settings.version = any_of(random, versions);
  if (random.one_in(2)) settings.collnet = random.one_in(2);
  if (random.one_in(4)) settings.nvls = random.one_in(2);
  if (random.one_in(4)) settings.net_overhead_ns = random.whole(0, 5000);
  if (random.one_in(4)) settings.max_channels = random.integer(1, 64);
  return settings;
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast,
                                     CollectiveKind::kReduce};

// The twin's formulas round in another order: a few units in the last place, far within 1e-9.
constexpr double kRounding = 1e-9;

void expect_same_cells(const NcclTable& table, const twin::Table& expected) {
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a)
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      const std::string name = std::string(name_of(static_cast<NcclAlgorithm>(a))) + " " +
                               std::string(name_of(static_cast<Protocol>(p)));
      const auto found = expected.find(name);
      const twin::Cell cell = found == expected.end() ? twin::Cell{} : found->second;
      EXPECT_NEAR(table.cells[a][p].latency_us, cell.latency, kRounding * cell.latency) << name;
      EXPECT_NEAR(table.cells[a][p].bandwidth_GBps, cell.bandwidth, kRounding * cell.bandwidth) << name;
    }
}

TEST(NcclTwin, AgreesOnEveryCellAndChoiceOfRandomGroups) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 1000U : 20000U); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded random(seed);
    const GroupFacts facts = any_group(random);
    if (facts.ranks < 2) continue;
    const NcclSettings settings = any_settings(random);
    const CollectiveKind kind = any_of(random, kKinds);
    const std::string name(name_of(kind));
    const bool fp8 = random.one_in(5);
    const NcclTable table = nccl_table(kind, fp8 ? DataType::kFp8 : DataType::kFp32, facts, settings);
    const twin::Table expected = twin::table(name, fp8, facts, settings, table.graphs);
    expect_same_cells(table, expected);
    for (int i = 0; i < 8; ++i) {
      const std::int64_t bytes = std::int64_t{1} << random.integer(0, 36);
      const std::int64_t size = bytes + random.integer(0, bytes - 1);
      const NcclChoice choice = nccl_choose(table, Bytes(size), facts, settings);
      double least = std::numeric_limits<double>::infinity(), chosen = least;
      const std::string choice_name =
          std::string(name_of(choice.algorithm)) + " " + std::string(name_of(choice.protocol));
      for (const auto& [cell, prices] : expected) {
        const double time = twin::time(name, cell, prices, size, facts, settings, table.graphs);
        least = std::min(least, time);
        if (cell == choice_name) chosen = time;
      }
      // Exact ties may fall either way in the twin: what counts is that nothing is faster.
      EXPECT_NEAR(choice.estimate_us, chosen, kRounding * chosen) << size;
      EXPECT_LE(chosen, least * (1 + kRounding)) << size << " " << choice_name;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace busbar
