// Times of every algorithm: plan() against its schedule run message by message, and the textbooks' costs.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sim/collectives/algorithm.h"
#include "sim/replay/chunk_executor.h"
#include "sim/replay/placement.h"
#include "tests/support/algorithm_names.h"
#include "tests/support/errors.h"
#include "tests/support/inline.h"
#include "tests/support/seeded.h"

namespace busbar {

static void PrintTo(const Algorithm& row, std::ostream* out) { *out << test_name(row); }

namespace {

constexpr double kAlpha = 3e-6;  // per hop, over two links
constexpr double kRate = 25e9;

Topology machine(std::uint32_t ranks) { return star(static_cast<int>(ranks), "25 GB/s", "1.5 us"); }

double planned(CollectiveKind kind, const std::string& algorithm, std::uint32_t ranks, Bytes bytes,
               std::uint32_t root = 0) {
  const Sweep s = sweep(machine(ranks), {.operation = kind, .ranks = {}, .sizes = {bytes}, .root = root},
                        ideal_profile(), {.overrides = {.algorithm = algorithm}});
  return s.rows.front().time.seconds();
}

double executed(const Algorithm& row, std::uint32_t ranks, Bytes bytes, std::uint32_t root) {
  const Topology topology = machine(ranks);
  const Profile profile = ideal_profile();
  Placement placement(topology, profile);
  GroupShape shape{.ranks = ranks, .root = root};
  ChunkLane lane{.schedule = row.schedule(shape)};
  lane.chunk_bytes = bytes.as_double() * chunk_share(lane.schedule);
  for (const Send& send : lane.schedule.sends)
    if (!lane.routes.contains({send.from, send.to}))
      lane.routes[{send.from, send.to}] = placement.pair(send.from, send.to);
  return execute_chunks(std::vector{lane}, placement.capacities(), {}).seconds();
}

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& row) { return test_name(row.param); });

// Rounding: a picosecond per event on the longest path.
TEST_P(EveryAlgorithm, PlansWhatItsScheduleTakesMessageByMessage) {
  if (GetParam().uses_switches) GTEST_SKIP() << "switches have no routes on this machine";
  for (std::uint32_t n = 1; n <= 12; ++n) {
    const GroupShape shape{.ranks = n, .root = n / 2};
    if (GetParam().refusal != nullptr && !GetParam().refusal(shape).empty()) continue;
    const Bytes bytes(std::int64_t{n} * n * 1440 * 64);
    if (n == 1) continue;
    EXPECT_NEAR(planned(GetParam().kind, std::string(GetParam().name), n, bytes, shape.root),
                executed(GetParam(), n, bytes, shape.root), 4e-12 * n)
        << n << " ranks";
  }
}

// On the real graph, by both profiles: rings rail by rail and exchanges agree to rounding; chains over
// unequal hops within a chunk (S / n) per hop at the slowest hop's rate.
TEST(DetailChunk, AgreesWithPlansOnRails) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
                                       "fabric": {"family": "rail-optimized"}})");
  const Bytes bytes(std::int64_t{64} << 20);
  for (const Profile& profile : {ideal_profile(), default_profile()})
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
          CollectiveKind::kBroadcast, CollectiveKind::kReduce, CollectiveKind::kAllToAll,
          CollectiveKind::kSendRecv}) {
      const SweepRequest request{.operation = kind, .ranks = {}, .sizes = {bytes}};
      SimOptions options;
      if (kind != CollectiveKind::kAllToAll) options.overrides.algorithm = "ring";
      const double plan = sweep(t, request, profile, options).rows.front().time.seconds();
      options.chunks = true;
      const double chunks = sweep(t, request, profile, options).rows.front().time.seconds();
      const bool chain = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
      const double bound = chain ? 15 * bytes.as_double() / 16 / 300e9 : 1e-10;
      EXPECT_NEAR(plan, chunks, bound) << name_of(kind) << ", " << profile.name;
    }
}

// Chunks of trees and of reductions inside switches have no schedule on the links.
TEST(DetailChunk, RefusesPipelinesByName) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
                                       "fabric": {"family": "rail-optimized"}})");
  for (const char* algorithm : {"tree", "nvls-tree", "collnet-direct", "collnet-chain"}) {
    const std::string error = error_of([&] {
      static_cast<void>(sweep(t,
                              {.operation = CollectiveKind::kAllReduce, .ranks = {}, .sizes = {Bytes(1024)}},
                              ideal_profile(), {.overrides = {.algorithm = algorithm}, .chunks = true}));
    });
    EXPECT_NE(error.find("--detail chunk: " + std::string(algorithm)), std::string::npos) << error;
    EXPECT_NE(error.find("--algorithm ring"), std::string::npos) << error;
  }
}

double log2_of(double n) { return std::log2(n); }

// Thakur, Rabenseifner & Gropp 2005 and Patarasuk & Yuan 2009, with alpha per message and beta = 1/B.
TEST(TextbookCosts, HoldForAllReduceBroadcastAndAllToAll) {
  for (const double n : {2.0, 4.0, 8.0, 16.0}) {
    const auto ranks = static_cast<std::uint32_t>(n);
    const Bytes bytes(std::int64_t{1} << 24);
    const double s = bytes.as_double() / kRate;
    const auto near = [&](const char* what, double got, double want) {
      EXPECT_NEAR(got, want, 1e-10) << what << ", " << n << " ranks";
    };
    near("ring", planned(CollectiveKind::kAllReduce, "ring", ranks, bytes),
         2 * (n - 1) * kAlpha + 2 * (n - 1) / n * s);
    near("halving-doubling", planned(CollectiveKind::kAllReduce, "halving-doubling", ranks, bytes),
         2 * log2_of(n) * kAlpha + 2 * (n - 1) / n * s);
    near("binomial broadcast", planned(CollectiveKind::kBroadcast, "binomial", ranks, bytes),
         log2_of(n) * (kAlpha + s));
    near("binomial reduce", planned(CollectiveKind::kReduce, "binomial", ranks, bytes),
         log2_of(n) * (kAlpha + s));
    near("pairwise", planned(CollectiveKind::kAllToAll, "pairwise", ranks, bytes),
         (n - 1) * (kAlpha + s / n));
    near("direct", planned(CollectiveKind::kAllToAll, "direct", ranks, bytes), kAlpha + (n - 1) / n * s);
    near("gather", planned(CollectiveKind::kGather, "direct", ranks, bytes), kAlpha + (n - 1) / n * s);
    near("scatter", planned(CollectiveKind::kScatter, "direct", ranks, bytes), kAlpha + (n - 1) / n * s);
    // A chain of n chunks: n-1 hops of latency, 2n-2 chunk times.
    near("chain", planned(CollectiveKind::kBroadcast, "ring", ranks, bytes),
         (n - 1) * kAlpha + (2 * n - 2) / n * s);
  }
}

// Two hosts of four, links of 450 GB/s inside and one NIC of 50 GB/s per GPU, no latency: inside 2 x 3/4 S /
// 450 GB/s, between 2 x 1/2 (S/4) / 50 GB/s.
TEST(TextbookCosts, HoldForTheHierarchicalAllReduce) {
  const Topology t = topology_from(
      R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100", "gpus": 4},
                                       "fabric": {"family": "rail-optimized"}})");
  const Sweep s = sweep(t, {.operation = CollectiveKind::kAllReduce, .ranks = {}, .sizes = {Bytes(1 << 30)}},
                        ideal_profile(), {.overrides = {.algorithm = "hierarchical"}});
  const double bytes = 1 << 30;
  EXPECT_NEAR(s.rows.front().time.seconds(), 1.5 * bytes / 450e9 + bytes / 4 / 50e9, 1e-9);
}

// One NIC per GPU: a GPU's traffic to the other hosts bounds it, so busbw is B N/(N-1) (n-1)/n.
TEST(AllToAll, IsBoundByTheNicsBetweenHosts) {
  for (const double hosts : {2.0, 4.0, 8.0}) {
    const Topology t = topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "dgx-h100"}},
                                                     "fabric": {{"family": "rail-optimized"}}}})",
        hosts));
    const Sweep s = sweep(
        t, {.operation = CollectiveKind::kAllToAll, .ranks = {}, .sizes = {Bytes(std::int64_t{1} << 32)}},
        ideal_profile(), {});
    const double n = 8 * hosts;
    EXPECT_NEAR(s.rows.front().busbw_Bps / (50e9 * hosts / (hosts - 1) * (n - 1) / n), 1, 1e-9) << hosts;
  }
}

}  // namespace
}  // namespace busbar
