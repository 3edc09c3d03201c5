// One generic check of every row of the table: contract, bytes, and time against executions of its schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/collectives/algorithm.h"
#include "tests/support/seeded.h"

namespace busbar {
namespace {

// A machine of one private link per ring hop, i -> i+1, with its own capacity and latency.
struct PrivateRing {
  std::vector<double> bandwidth;
  std::vector<double> latency;
  GroupRoutes routes;

  PrivateRing(std::vector<double> bw, std::vector<double> alpha)
      : bandwidth(std::move(bw)), latency(std::move(alpha)) {
    const auto n = static_cast<std::uint32_t>(bandwidth.size());
    routes.ranks = n;
    routes.hosts = 1;
    RingChannel ring;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Hop hop{.from = i, .to = (i + 1) % n, .latency = Time::from_seconds(latency[i])};
      ring.order.push_back(i);
      ring.hops.push_back(hop);
      ring.usage.push_back({ResourceId(i), kOneFlow});
      routes.neighbours.push_back({hop, {{ResourceId(i), kOneFlow}}});
    }
    routes.rings.push_back(ring);
  }
};

// latency + the slowest strand (each alone on its links) + tail: what the engine makes of a plan on an idle
// machine.
double planned_seconds(const Algorithm& row, const PrivateRing& ring, Bytes bytes) {
  const Plan plan = row.plan({.kind = row.kind, .bytes = bytes, .routes = &ring.routes});
  double slowest = 0;
  for (const Strand& s : plan.strands) {
    double rate = s.cap.Bps();
    for (const ResourceUse& use : s.usage)
      rate = std::min(rate, ring.bandwidth[use.resource.index()] * static_cast<double>(kOneFlow) /
                                static_cast<double>(s.multiplicity * use.flows));
    slowest = std::max(slowest, s.volume / rate);
  }
  return plan.latency.seconds() + slowest + plan.tail.seconds();
}

// Bytes of one chunk: a chunk is S/n of a collective, the whole message of a send.
double chunk_bytes(const Schedule& s, Bytes bytes) {
  if (s.kind == CollectiveKind::kBarrier) return 0;
  return s.kind == CollectiveKind::kSendRecv ? bytes.as_double() : bytes.as_double() / s.chunks;
}

// In lock step: a round starts when the one before has ended everywhere, and lasts as long as its slowest
// send.
double lock_step_seconds(const Schedule& s, const PrivateRing& ring, Bytes bytes) {
  std::vector<double> rounds(s.rounds, 0);
  for (const Send& send : s.sends)
    rounds[send.round] = std::max(
        rounds[send.round], ring.latency[send.from] + chunk_bytes(s, bytes) / ring.bandwidth[send.from]);
  double total = 0;
  for (const double r : rounds) total += r;
  return total;
}

// As soon as possible: a send starts when what it forwards has arrived and its link is free.
double data_driven_seconds(const Schedule& s, const PrivateRing& ring, Bytes bytes) {
  std::vector<double> arrival(s.sends.size(), 0);
  std::vector<double> link_free(ring.bandwidth.size(), 0);
  double last = 0;
  for (std::size_t i = 0; i < s.sends.size(); ++i) {
    double start = link_free[s.sends[i].from];
    for (const std::uint32_t a : s.sends[i].after) start = std::max(start, arrival[a]);
    link_free[s.sends[i].from] = start + chunk_bytes(s, bytes) / ring.bandwidth[s.sends[i].from];
    arrival[i] = link_free[s.sends[i].from] + ring.latency[s.sends[i].from];
    last = std::max(last, arrival[i]);
  }
  return last;
}

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& row) {
                           return std::string(name_of(row.param.kind)) + "_" + std::string(row.param.name);
                         });

TEST_P(EveryAlgorithm, KeepsItsContractOnAllSmallGroups) {
  for (std::uint32_t n = 1; n <= 17; ++n) {
    const Schedule s = GetParam().schedule(n);
    EXPECT_EQ(s.kind, GetParam().kind);
    EXPECT_EQ(contract_breach(s), "") << n << " ranks";
  }
}

// busbw's factor is defined as the share of S that each rank must send: 2(n-1)/n, (n-1)/n, or 1.
TEST_P(EveryAlgorithm, SendsTheBytesThatItsOperationNeeds) {
  if (GetParam().kind == CollectiveKind::kBarrier) return;  // moves none
  for (std::uint32_t n = 2; n <= 17; ++n) {
    const Schedule s = GetParam().schedule(n);
    const double share = GetParam().kind == CollectiveKind::kSendRecv ? 1.0 : 1.0 / s.chunks;
    for (const std::uint64_t chunks : chunks_sent(s))
      EXPECT_NEAR(static_cast<double>(chunks) * share, busbw_factor(GetParam().kind, n), 1e-12)
          << n << " ranks";
  }
}

TEST_P(EveryAlgorithm, PlansWhatItsScheduleTakesInLockStepOnUniformRings) {
  for (std::uint32_t n = 2; n <= 17; ++n) {
    const PrivateRing ring(std::vector<double>(n, 25e9), std::vector<double>(n, 3e-6));
    const Bytes bytes(std::int64_t{n} << 20);
    const double want = lock_step_seconds(GetParam().schedule(n), ring, bytes);
    EXPECT_NEAR(planned_seconds(GetParam(), ring, bytes), want, 1e-12 * n)
        << n << " ranks";  // a picosecond per hop
  }
}

TEST_P(EveryAlgorithm, PlansTheSlowestLinkInLockStepWithoutLatency) {
  Seeded random(51);
  for (std::uint32_t n = 2; n <= 12; ++n) {
    std::vector<double> bandwidth;
    for (std::uint32_t i = 0; i < n; ++i) bandwidth.push_back(1e9 * random.whole(1, 50));
    const PrivateRing ring(bandwidth, std::vector<double>(n, 0));
    const Bytes bytes(std::int64_t{n} << 20);
    EXPECT_NEAR(planned_seconds(GetParam(), ring, bytes),
                lock_step_seconds(GetParam().schedule(n), ring, bytes), 1e-11)
        << "seed 51, " << n << " ranks";
  }
}

// With unequal latencies nobody waits for a round: the time is that of the chunk on the worst path.
TEST_P(EveryAlgorithm, PlansTheWorstPathWhenLatenciesDiffer) {
  Seeded random(52);
  for (std::uint32_t n = 2; n <= 12; ++n) {
    std::vector<double> latency;
    for (std::uint32_t i = 0; i < n; ++i) latency.push_back(1e-6 * random.whole(1, 20));
    const PrivateRing ring(std::vector<double>(n, 25e9), latency);
    const Bytes bytes(std::int64_t{n} << 20);
    EXPECT_NEAR(planned_seconds(GetParam(), ring, bytes),
                data_driven_seconds(GetParam().schedule(n), ring, bytes), 1e-11)
        << "seed 52, " << n << " ranks";
  }
}

TEST_P(EveryAlgorithm, CostsNothingForOneRank) {
  const PrivateRing ring({25e9}, {3e-6});
  EXPECT_EQ(planned_seconds(GetParam(), ring, Bytes(1 << 20)), 0);
}

TEST(Algorithms, HaveDistinctNamesPerOperationAndAnExplanation) {
  std::set<std::pair<CollectiveKind, std::string_view>> seen;
  for (const Algorithm& row : algorithms()) {
    EXPECT_TRUE(seen.emplace(row.kind, row.name).second);
    EXPECT_FALSE(row.help.empty());
  }
}

// 1 GiB on 8 GPUs at 400 GB/s: 2 x 7/8 x 1073741824 / 400e9 = 4.69762 ms. (4.375 ms would take a GiB for a
// GB.)
TEST(RingAllReduce, TakesFourPointSevenMillisecondsForAGibibyteOnEightGpus) {
  const PrivateRing ring(std::vector<double>(8, 400e9), std::vector<double>(8, 0));
  const Algorithm* row = find_algorithm(CollectiveKind::kAllReduce, "ring");
  ASSERT_NE(row, nullptr);
  EXPECT_NEAR(planned_seconds(*row, ring, 1_GiB), 4.69762048e-3, 1e-12);
}

TEST(RingAllReduce, EqualsReduceScatterAndThenAllGather) {
  for (std::uint32_t n = 2; n <= 16; ++n) {
    const PrivateRing ring(std::vector<double>(n, 100e9), std::vector<double>(n, 2e-6));
    const Bytes bytes(std::int64_t{n} << 22);
    const double both =
        planned_seconds(*find_algorithm(CollectiveKind::kReduceScatter, "ring"), ring, bytes) +
        planned_seconds(*find_algorithm(CollectiveKind::kAllGather, "ring"), ring, bytes);
    EXPECT_NEAR(planned_seconds(*find_algorithm(CollectiveKind::kAllReduce, "ring"), ring, bytes), both,
                3e-12);
  }
}

}  // namespace
}  // namespace busbar
