// Every row of the table: its contract, the bytes that it sends, and that it explains itself.
// Times are held against executions of the schedule in tests/model/algorithm_times_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "sim/collectives/algorithm.h"
#include "tests/support/algorithm_names.h"

namespace busbar {
namespace {

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {
 protected:
  // All shapes of up to 17 ranks that the row takes: every root, and every way of equal hosts.
  static std::vector<GroupShape> shapes() {
    std::vector<GroupShape> list;
    for (std::uint32_t n = 1; n <= 17; ++n)
      for (std::uint32_t hosts = 1; hosts <= n; ++hosts) {
        if (n % hosts != 0) continue;
        GroupShape shape{.ranks = n, .root = (3 * n + hosts) % n};
        for (std::uint32_t h = 0; h < hosts; ++h) {
          shape.hosts.emplace_back(n / hosts);
          std::iota(shape.hosts.back().begin(), shape.hosts.back().end(), h * (n / hosts));
        }
        if (GetParam().refusal == nullptr || GetParam().refusal(shape).empty()) list.push_back(shape);
      }
    return list;
  }
};

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& row) { return test_name(row.param); });

TEST_P(EveryAlgorithm, KeepsItsContractOnAllSmallGroups) {
  EXPECT_GE(shapes().size(), 5U);
  for (const GroupShape& shape : shapes()) {
    const Schedule s = GetParam().schedule(shape);
    EXPECT_EQ(s.kind, GetParam().kind);
    EXPECT_EQ(contract_breach(s), "")
        << shape.ranks << " ranks on " << shape.hosts.size() << " hosts, root " << shape.root;
  }
}

// busbw's factor is the share of S that the busiest rank must send (or, at a gather's root, receive), unless
// a switch does part of the work.
TEST_P(EveryAlgorithm, SendsAtLeastTheBytesThatItsOperationNeeds) {
  for (const GroupShape& shape : shapes()) {
    if (shape.ranks < 2 || GetParam().kind == CollectiveKind::kBarrier || GetParam().uses_switches) continue;
    const Schedule s = GetParam().schedule(shape);
    std::vector<double> sent(shape.ranks, 0);
    std::vector<double> received(shape.ranks, 0);
    for (const Send& send : s.sends) {
      sent[send.from] += chunk_share(s);
      received[send.to] += chunk_share(s);
    }
    const double busiest = std::max(*std::max_element(sent.begin(), sent.end()),
                                    *std::max_element(received.begin(), received.end()));
    const double least = busbw_factor(s.kind, shape.ranks);
    EXPECT_GE(busiest, least - 1e-9);
    // Trees, and rings inside and between hosts, move more than the least; the rest exactly that.
    const bool exact =
        GetParam().name != "binomial" && GetParam().name != "hierarchical" && GetParam().name != "tree";
    EXPECT_TRUE(!exact || std::abs(busiest - least) < 1e-9) << shape.ranks;
  }
}

using Loads = std::map<std::array<std::uint32_t, 3>, double>;  // by round, sender and receiver

Loads loads(const Schedule& s) {
  Loads bytes;
  for (const Send& send : s.sends) bytes[{send.round, send.from, send.to}] += chunk_share(s);
  return bytes;
}

Loads loads(const std::vector<Round>& rounds, std::uint32_t ranks) {
  Loads bytes;
  std::uint32_t number = 0;
  for (const Round& round : rounds)
    for (std::uint32_t k = 0; k < round.times; ++k, ++number) {
      for (const RoundTransfer& t : round.transfers) bytes[{number, t.from, t.to}] += round.share * t.weight;
      for (std::uint32_t a = 0; a < ranks && round.all_pairs; ++a)
        for (std::uint32_t b = 0; b < ranks; ++b)
          if (a != b) bytes[{number, a, b}] += round.share;
    }
  return bytes;
}

// Rounds and schedule tell the same story: as many bytes between every pair, switches among them, in every
// round.
TEST_P(EveryAlgorithm, RoutesWhatItsScheduleSends) {
  if (GetParam().rounds == nullptr) return;
  for (const GroupShape& shape : shapes()) {
    if (shape.ranks < 2) continue;
    Loads rest = loads(GetParam().schedule(shape));
    for (const auto& [where, bytes] : loads(GetParam().rounds(shape), shape.ranks)) rest[where] -= bytes;
    for (const auto& [where, bytes] : rest)
      EXPECT_NEAR(bytes, 0, 1e-9) << shape.ranks << ": " << where[1] << " to " << where[2] << " in round "
                                  << where[0];
  }
}

// The flag of rows whose sends need routes to switches.
TEST_P(EveryAlgorithm, SaysWhetherItUsesSwitches) {
  bool uses = false;
  for (const GroupShape& shape : shapes())
    for (const Send& send : GetParam().schedule(shape).sends)
      uses = uses || send.from >= shape.ranks || send.to >= shape.ranks;
  EXPECT_EQ(uses, GetParam().uses_switches);
}

TEST(Algorithms, HaveDistinctNamesPerOperationAndAnExplanation) {
  std::set<std::pair<CollectiveKind, std::string_view>> seen;
  for (const Algorithm& row : algorithms()) {
    EXPECT_TRUE(seen.emplace(row.kind, row.name).second);
    EXPECT_FALSE(row.help.empty());
  }
}

TEST(Algorithms, RefuseShapesThatTheyCannotRun) {
  const GroupShape six{.ranks = 6};
  EXPECT_EQ(find_algorithm(CollectiveKind::kAllReduce, "halving-doubling")->refusal(six),
            "it needs a power of two of ranks");
  const GroupShape uneven{.ranks = 3, .hosts = {{0, 1}, {2}}};
  EXPECT_EQ(find_algorithm(CollectiveKind::kAllReduce, "hierarchical")->refusal(uneven),
            "it needs as many ranks on each host");
  EXPECT_EQ(find_algorithm(CollectiveKind::kAllReduce, "nvls-tree")->refusal(uneven),
            "it needs as many ranks on each host");
  EXPECT_EQ(find_algorithm(CollectiveKind::kAllReduce, "collnet-direct")->refusal(uneven),
            "it needs as many ranks on each host");
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    EXPECT_EQ(find_algorithm(kind, "nvls")->refusal(uneven), "it needs all ranks on one host");
    EXPECT_EQ(find_algorithm(kind, "nvls")->refusal(six), "");
  }
  for (const char* name : {"collnet-direct", "collnet-chain"})
    for (const GroupShape& shape : {six, GroupShape{.ranks = 1, .hosts = {{0}}}})
      EXPECT_EQ(find_algorithm(CollectiveKind::kAllReduce, name)->refusal(shape),
                "it needs ranks on at least two hosts");
  EXPECT_EQ(find_algorithm(CollectiveKind::kAllReduce, "collnet-chain")->refusal(uneven), "");
}

TEST(Algorithms, KeepTheRingAsTheDefault) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter})
    EXPECT_EQ(find_algorithm(kind, "")->name, "ring");
}

}  // namespace
}  // namespace busbar
