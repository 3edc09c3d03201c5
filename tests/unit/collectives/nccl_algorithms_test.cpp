// NCCL's algorithms beyond the ring, on every way of hosts: contract, bytes per rank, rounds by closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <string>

#include "sim/collectives/algorithm.h"

namespace busbar {
namespace {

constexpr std::uint32_t kMostHosts = 4;

// Ranks dealt to hosts of the given sizes in order.
GroupShape shape_of(const std::vector<std::uint32_t>& sizes) {
  GroupShape shape;
  for (const std::uint32_t size : sizes) {
    auto& host = shape.hosts.emplace_back(size);
    std::iota(host.begin(), host.end(), shape.ranks);
    shape.ranks += size;
  }
  return shape;
}

// Every way to put n ranks on up to `most` hosts, the order of the hosts counted.
void append_splits(std::uint32_t n, std::uint32_t most, std::vector<std::uint32_t> sizes,
                   std::vector<GroupShape>& shapes) {
  if (n == 0) shapes.push_back(shape_of(sizes));
  if (n == 0 || most == 0) return;
  for (std::uint32_t size = 1; size <= n; ++size) {
    sizes.push_back(size);
    append_splits(n - size, most - 1, sizes, shapes);
    sizes.pop_back();
  }
}

// All splits of up to 16 ranks; 64 ranks on 1 to 64 hosts; and hosts whose ranks are not neighbours.
std::vector<GroupShape> shapes_for(const Algorithm& row) {
  std::vector<GroupShape> shapes;
  for (std::uint32_t n = 1; n <= 16; ++n) append_splits(n, kMostHosts, {}, shapes);
  for (std::uint32_t hosts = 1; hosts <= 64; hosts *= 2)
    shapes.push_back(shape_of(std::vector<std::uint32_t>(hosts, 64 / hosts)));
  for (std::uint32_t n = 1; n <= 16; ++n) shapes.push_back(shape_of(std::vector<std::uint32_t>(n, 1)));
  shapes.push_back({.ranks = 6, .hosts = {{4, 1}, {0, 5}, {3, 2}}});
  shapes.push_back({.ranks = 5});
  shapes.push_back({.ranks = 3, .hosts = {{2, 0, 1}}});
  std::erase_if(
      shapes, [&](const GroupShape& shape) { return row.refusal != nullptr && !row.refusal(shape).empty(); });
  return shapes;
}

std::uint32_t most_on_a_host(const GroupShape& shape) {
  if (shape.hosts.empty()) return shape.ranks;
  std::size_t most = 0;
  for (const auto& host : shape.hosts) most = std::max(most, host.size());
  return static_cast<std::uint32_t>(most);
}

std::uint32_t log2_up(std::uint32_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }

const Algorithm& row_of(CollectiveKind kind, const char* name) { return *find_algorithm(kind, name); }

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;
constexpr CollectiveKind kAllGather = CollectiveKind::kAllGather;
constexpr CollectiveKind kReduceScatter = CollectiveKind::kReduceScatter;

// Shares of S that leave or reach a participant.
std::vector<double> shares(const Schedule& s, std::uint32_t Send::*end) {
  std::vector<double> of(s.ranks + s.switches, 0);
  for (const Send& send : s.sends) of[send.*end] += chunk_share(s);
  return of;
}

struct NcclRow {
  CollectiveKind kind;
  const char* name;
};

class NcclAlgorithms : public testing::TestWithParam<NcclRow> {};

INSTANTIATE_TEST_SUITE_P(Rows, NcclAlgorithms,
                         testing::Values(NcclRow{kAllReduce, "tree"}, NcclRow{kAllReduce, "nvls"},
                                         NcclRow{kAllReduce, "nvls-tree"},
                                         NcclRow{kAllReduce, "collnet-direct"},
                                         NcclRow{kAllReduce, "collnet-chain"}, NcclRow{kAllGather, "nvls"},
                                         NcclRow{kAllGather, "pat"}, NcclRow{kReduceScatter, "nvls"},
                                         NcclRow{kReduceScatter, "pat"},
                                         NcclRow{kAllGather, "collnet-direct"},
                                         NcclRow{kReduceScatter, "collnet-direct"}),
                         [](const auto& row) {
                           std::string name = std::string(name_of(row.param.kind)) + "_" + row.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(NcclAlgorithms, KeepTheirContractOnEverySplitOverHosts) {
  const Algorithm& row = row_of(GetParam().kind, GetParam().name);
  const auto shapes = shapes_for(row);
  EXPECT_GE(shapes.size(), 16U);
  for (const GroupShape& shape : shapes) {
    const Schedule s = row.schedule(shape);
    ASSERT_EQ(contract_breach(s), "") << shape.ranks << " ranks on " << shape.hosts.size() << " hosts";
    EXPECT_EQ(s.rounds, row.rounds(shape).size());
  }
}

bool equal_hosts(const GroupShape& shape) {
  return std::ranges::all_of(shape.hosts,
                             [&](const auto& host) { return host.size() == shape.hosts.front().size(); });
}

// Equal hosts have a chain of L - 1 below the deepest host of either tree: ceil(log2 N) + L - 1.
TEST(TreeAllReduce, TakesTwiceTheDepthOfItsTrees) {
  for (const GroupShape& shape : shapes_for(row_of(kAllReduce, "tree"))) {
    const std::uint32_t rounds = row_of(kAllReduce, "tree").schedule(shape).rounds;
    const std::uint32_t most = 2 * (log2_up(host_count(shape)) + most_on_a_host(shape) - 1);
    EXPECT_LE(rounds, most);
    EXPECT_TRUE(rounds == most || !equal_hosts(shape)) << rounds << " rounds instead of " << most;
  }
}

// Hosts of 1, 3 and 1: the first tree is 0-2-1, so that the chain of host 1 ends 4 deep; the second is 1-0-2
// with the chain at its root, 2 deep. Twice the deeper one.
TEST(TreeAllReduce, TakesTheDeeperOfItsTreesOnUnequalHosts) {
  EXPECT_EQ(row_of(kAllReduce, "tree").schedule(shape_of({1, 3, 1})).rounds, 8U);
}

// Shares of S that leave each host by a given end (of `from`: out; of `to`: in) towards anything that is
// neither of it nor its own switch.
std::vector<double> between_hosts(const Schedule& s, const GroupShape& shape, std::uint32_t Send::*end) {
  std::vector<std::uint32_t> host_of(s.ranks + s.switches, host_count(shape));
  for (std::uint32_t h = 0; h < shape.hosts.size(); ++h) {
    for (const std::uint32_t r : shape.hosts[h]) host_of[r] = h;
    if (host_switch(shape, h) < host_of.size()) host_of[host_switch(shape, h)] = h;
  }
  std::vector<double> of(host_count(shape) + 1, 0);
  for (const Send& send : s.sends)
    if (host_of[send.from] != host_of[send.to]) of[host_of[send.*end]] += chunk_share(s);
  of.pop_back();  // the network itself
  return of;
}

// Two trees of N - 1 edges carry S/2 up and down: 2 (N - 1) S in all, at most 2 S out of a host, S for N = 2.
void expect_double_tree_traffic(const Algorithm& row, std::uint32_t hosts, std::uint32_t per_host) {
  const GroupShape shape = shape_of(std::vector<std::uint32_t>(hosts, per_host));
  const Schedule s = row.schedule(shape);
  const std::vector<double> out = between_hosts(s, shape, &Send::from);
  EXPECT_EQ(out, between_hosts(s, shape, &Send::to));
  EXPECT_NEAR(std::accumulate(out.begin(), out.end(), 0.0), 2.0 * (hosts - 1), 1e-9);
  for (const double share : out) EXPECT_LE(share, 2 + 1e-9) << hosts << " hosts";
  if (hosts == 2) {
    EXPECT_NEAR(out[0], 1, 1e-9);
    EXPECT_NEAR(out[1], 1, 1e-9);
  }
}

TEST(TreeAllReduce, SendsAtMostTwiceSOutOfAHostAndOnlySBetweenTwo) {
  for (std::uint32_t hosts = 2; hosts <= 33; ++hosts)
    expect_double_tree_traffic(row_of(kAllReduce, "tree"), hosts, 3);
}

// In a chain: S up and S down again, but the last rank sends S only and the first has S down the chain.
TEST(TreeAllReduce, SendsSUpAndDownEveryChain) {
  EXPECT_EQ(shares(row_of(kAllReduce, "tree").schedule(shape_of({4})), &Send::from),
            (std::vector<double>{1, 2, 2, 1}));
}

TEST(TreeAllReduce, GivesNoRankMoreThanThreeChildren) {
  for (std::uint32_t hosts = 1; hosts <= 33; ++hosts) {
    std::map<std::array<std::uint32_t, 2>, std::uint32_t> received;  // sums by rank and tree
    const Schedule s = row_of(kAllReduce, "tree").schedule(shape_of(std::vector<std::uint32_t>(hosts, 2)));
    for (const Send& send : s.sends) received[{send.to, send.chunk}] += send.reduce ? 1 : 0;
    for (const auto& [where, children] : received) EXPECT_LE(children, 3U);
  }
}

void expect_shares(const Schedule& s, double out, double in) {
  const std::vector<double> sent = shares(s, &Send::from);
  const std::vector<double> received = shares(s, &Send::to);
  for (std::uint32_t r = 0; r < s.ranks; ++r) {
    EXPECT_NEAR(sent[r], out, 1e-9) << r << " of " << s.ranks;
    EXPECT_NEAR(received[r], in, 1e-9) << r << " of " << s.ranks;
  }
}

TEST(Nvls, MovesSAndAnNthOutOfAndIntoEveryRankOfAnAllReduce) {
  for (std::uint32_t n = 2; n <= 72; n += n < 16 ? 1 : 8) {
    const Schedule s = row_of(kAllReduce, "nvls").schedule({.ranks = n});
    expect_shares(s, 1 + 1.0 / n, 1 + 1.0 / n);
    EXPECT_EQ(s.rounds, 4U);
  }
}

TEST(Nvls, MovesAnNthOutInAnAllGatherAndAnNthInInAReduceScatter) {
  for (std::uint32_t n = 2; n <= 16; ++n) {
    const Schedule gather = row_of(kAllGather, "nvls").schedule({.ranks = n});
    const Schedule scatter = row_of(kReduceScatter, "nvls").schedule({.ranks = n});
    expect_shares(gather, 1.0 / n, (n - 1.0) / n);
    expect_shares(scatter, 1, 1.0 / n);
    EXPECT_EQ(gather.rounds, 2U);
    EXPECT_EQ(scatter.rounds, 2U);
  }
}

TEST(NvlsTree, SendsAtMostTwiceSOutOfAHostAndOnlySBetweenTwo) {
  for (std::uint32_t hosts = 2; hosts <= 17; ++hosts)
    expect_double_tree_traffic(row_of(kAllReduce, "nvls-tree"), hosts, 4);
}

TEST(NvlsTree, IsNvlsInsideAHost) {
  for (std::uint32_t n = 2; n <= 16; ++n)
    expect_shares(row_of(kAllReduce, "nvls-tree").schedule({.ranks = n}), 1 + 1.0 / n, 1 + 1.0 / n);
}

TEST(NvlsTree, TakesFourRoundsInsideAndTwiceLog2OfTheHostsBetween) {
  for (const GroupShape& shape : shapes_for(row_of(kAllReduce, "nvls-tree")))
    EXPECT_EQ(row_of(kAllReduce, "nvls-tree").schedule(shape).rounds,
              (most_on_a_host(shape) > 1 ? 4 : 0) + 2 * log2_up(host_count(shape)));
}

TEST(CollnetDirect, MovesTwiceSLessAnLthOutOfEveryRankAndSOutOfEveryHost) {
  for (const GroupShape& shape : shapes_for(row_of(kAllReduce, "collnet-direct"))) {
    const Schedule s = row_of(kAllReduce, "collnet-direct").schedule(shape);
    const double l = most_on_a_host(shape);
    expect_shares(s, 2 - 1 / l, 2 - 1 / l);
    EXPECT_EQ(s.rounds, l > 1 ? 4U : 2U);
    for (const double out : between_hosts(s, shape, &Send::from)) EXPECT_NEAR(out, 1, 1e-9);
    for (const double in : between_hosts(s, shape, &Send::to)) EXPECT_NEAR(in, 1, 1e-9);
  }
}

// Into the network S/n of a rank in an all-gather, S/L out of it; the other way round in a reduce-scatter.
TEST(CollnetDirect, MovesSOneWayAndSLessWhatTheNetworkSavesTheOther) {
  for (const GroupShape& shape : shapes_for(row_of(kAllGather, "collnet-direct"))) {
    const double n = shape.ranks;
    const double l = most_on_a_host(shape);
    const Schedule gather = row_of(kAllGather, "collnet-direct").schedule(shape);
    const Schedule scatter = row_of(kReduceScatter, "collnet-direct").schedule(shape);
    expect_shares(gather, 1 / n + (l - 1) / l, 1);
    expect_shares(scatter, 1, 1 / n + (l - 1) / l);
    EXPECT_EQ(gather.rounds, l > 1 ? 3U : 2U);
    EXPECT_EQ(scatter.rounds, gather.rounds);
    for (const double in : between_hosts(gather, shape, &Send::to)) EXPECT_NEAR(in, 1, 1e-9);
    for (const double out : between_hosts(scatter, shape, &Send::from)) EXPECT_NEAR(out, 1, 1e-9);
  }
}

TEST(CollnetChain, MovesSOutOfEveryHostInTwiceTheLongestChain) {
  for (const GroupShape& shape : shapes_for(row_of(kAllReduce, "collnet-chain"))) {
    const Schedule s = row_of(kAllReduce, "collnet-chain").schedule(shape);
    EXPECT_EQ(s.rounds, 2 * most_on_a_host(shape));
    EXPECT_EQ(between_hosts(s, shape, &Send::from), std::vector<double>(shape.hosts.size(), 1));
    EXPECT_EQ(between_hosts(s, shape, &Send::to), std::vector<double>(shape.hosts.size(), 1));
  }
}

TEST(Pat, TakesLog2RoundsOfOneMessageEachForAnyNumberOfRanks) {
  for (const CollectiveKind kind : {kAllGather, kReduceScatter})
    for (std::uint32_t n = 1; n <= 70; ++n) {
      const Schedule s = row_of(kind, "pat").schedule({.ranks = n});
      EXPECT_EQ(contract_breach(s), "");
      expect_shares(s, (n - 1.0) / n, (n - 1.0) / n);
      EXPECT_EQ(s.rounds, log2_up(n));
      for (const Round& round : row_of(kind, "pat").rounds({.ranks = n}))
        EXPECT_EQ(round.transfers.size(), n);
    }
}

// Five ranks: parts go 4 on, then 2, then 1; of rank r's tree r, r+4; then r+2; then r+1 and r+3.
TEST(Pat, SendsAsManyPartsAsWorkedByHand) {
  const auto rounds = row_of(kAllGather, "pat").rounds({.ranks = 5});
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_EQ(rounds[0].transfers[1].to, 0U);
  EXPECT_EQ(rounds[1].transfers[1].to, 3U);
  EXPECT_EQ(rounds[2].transfers[1].to, 2U);
  EXPECT_DOUBLE_EQ(rounds[0].share, 1 / 5.0);
  EXPECT_DOUBLE_EQ(rounds[1].share, 1 / 5.0);
  EXPECT_DOUBLE_EQ(rounds[2].share, 2 / 5.0);
}

// Three ranks and a switch (number 3): rank 1 is the head of chunk 1.
TEST(Nvls, NamesTheSwitchAfterTheRanks) {
  const auto rounds = row_of(kAllReduce, "nvls").rounds({.ranks = 3});
  ASSERT_EQ(rounds.size(), 4U);
  EXPECT_EQ(rounds[0].transfers[1].from, 1U);
  EXPECT_EQ(rounds[0].transfers[1].to, 3U);
  EXPECT_DOUBLE_EQ(rounds[0].share, 1);
  EXPECT_EQ(rounds[1].transfers[1].from, 3U);
  EXPECT_EQ(rounds[1].transfers[1].to, 1U);
  EXPECT_DOUBLE_EQ(rounds[1].share, 1 / 3.0);
}

// Two hosts of two: switches 4 and 5 of the hosts, 6 of the network.
TEST(CollnetChain, NamesTheNetworksSwitchAfterTheHosts) {
  const auto rounds = row_of(kAllReduce, "collnet-chain").rounds(shape_of({2, 2}));
  ASSERT_EQ(rounds.size(), 4U);
  EXPECT_EQ(rounds[1].transfers[0].from, 0U);
  EXPECT_EQ(rounds[1].transfers[0].to, 6U);
  EXPECT_EQ(rounds[2].transfers[1].from, 6U);
  EXPECT_EQ(rounds[2].transfers[1].to, 2U);
}

}  // namespace
}  // namespace busbar
