// Every row of the table: its contract, the bytes that it sends, and that it explains itself.
// Times are held against executions of the schedule in tests/model/algorithm_times_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
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

// busbw's factor is the share of S that the busiest rank must send (or, at a gather's root, receive).
TEST_P(EveryAlgorithm, SendsAtLeastTheBytesThatItsOperationNeeds) {
  for (const GroupShape& shape : shapes()) {
    if (shape.ranks < 2 || GetParam().kind == CollectiveKind::kBarrier) continue;
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
    const bool exact = GetParam().name != "binomial" && GetParam().name != "hierarchical";
    EXPECT_TRUE(!exact || std::abs(busiest - least) < 1e-9) << shape.ranks;
  }
}

// Rounds and schedule tell the same story: as many bytes between every pair.
TEST_P(EveryAlgorithm, RoutesWhatItsScheduleSends) {
  if (GetParam().rounds == nullptr) return;
  for (const GroupShape& shape : shapes()) {
    if (shape.ranks < 2) continue;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes;
    const Schedule s = GetParam().schedule(shape);
    for (const Send& send : s.sends) bytes[{send.from, send.to}] += chunk_share(s);
    for (const Round& round : GetParam().rounds(shape)) {
      for (const RoundTransfer& t : round.transfers)
        bytes[{t.from, t.to}] -= round.share * t.weight * round.times;
      for (std::uint32_t a = 0; a < shape.ranks && round.all_pairs; ++a)
        for (std::uint32_t b = 0; b < shape.ranks; ++b)
          if (a != b) bytes[{a, b}] -= round.share * round.times;
    }
    for (const auto& [pair, rest] : bytes)
      EXPECT_NEAR(rest, 0, 1e-9) << shape.ranks << ": " << pair.first << " to " << pair.second;
  }
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
}

}  // namespace
}  // namespace busbar
