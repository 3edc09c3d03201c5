// What each rank holds: worked by hand.
#include "sim/collectives/schedule.h"

#include <gtest/gtest.h>

#include "sim/collectives/rows.h"

namespace busbar {
namespace {

using Values = std::vector<std::vector<double>>;  // [rank][element]

// Runs a schedule on numbers, one element per chunk: the value of a chunk is what its contributions add up
// to.
Values run_on(const Schedule& s, const Values& inputs) {
  const auto holdings = run_symbolically(s);
  Values out(s.ranks, std::vector<double>(s.chunks, 0));
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t c = 0; c < s.chunks; ++c)
      for (std::uint32_t from = 0; from < holdings[r][c].size(); ++from)
        out[r][c] += holdings[r][c][from] * inputs[from][c];
  return out;
}

TEST(RingAllGather, PutsTheParts12And34TogetherOnBothRanks) {
  // Two ranks of two elements each: chunk c is rank c's part; run once per element of a part.
  const Schedule s = all_gather_ring_schedule({.ranks = 2});
  const Values first = run_on(s, {{1, 0}, {0, 3}});
  const Values second = run_on(s, {{2, 0}, {0, 4}});
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(first[static_cast<std::size_t>(rank)], (std::vector<double>{1, 3}));
    EXPECT_EQ(second[static_cast<std::size_t>(rank)], (std::vector<double>{2, 4}));
  }
}

TEST(RingReduceScatter, AveragesHalvesOfTwoGradients) {
  // [8,0,4,2] and [0,4,8,6]: rank 0 gets the average of the first half [4,2], rank 1 of the second [6,4].
  const Schedule s = reduce_scatter_ring_schedule({.ranks = 2});
  const Values even = run_on(s, {{8, 4}, {0, 8}});
  const Values odd = run_on(s, {{0, 2}, {4, 6}});
  EXPECT_EQ(even[0][0] / 2, 4);
  EXPECT_EQ(odd[0][0] / 2, 2);
  EXPECT_EQ(even[1][1] / 2, 6);
  EXPECT_EQ(odd[1][1] / 2, 4);
}

const Values kFour = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};

TEST(RingAllReduce, SumsFourRanksEverywhere) {
  for (const auto& rank : run_on(all_reduce_ring_schedule({.ranks = 4}), kFour))
    EXPECT_EQ(rank, (std::vector<double>{28, 32, 36, 40}));
}

TEST(RingReduceScatter, LeavesOneSumOnEachOfFourRanks) {
  const Values out = run_on(reduce_scatter_ring_schedule({.ranks = 4}), kFour);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(out[r][r], (std::vector<double>{28, 32, 36, 40})[r]);
}

// FSDP by hand: parameters [10,20,30,40]; gradients averaged and scattered; learning rate 0.1; gathered
// again.
TEST(RingSchedules, TrainOneFsdpStepByHand) {
  const std::vector<double> parameters = {10, 20, 30, 40};
  const Values gradients = run_on(reduce_scatter_ring_schedule({.ranks = 4}), kFour);
  Values shards(4, std::vector<double>(4, 0));
  for (std::size_t r = 0; r < 4; ++r) shards[r][r] = parameters[r] - 0.1 * gradients[r][r] / 4;
  for (const auto& rank : run_on(all_gather_ring_schedule({.ranks = 4}), shards)) {
    EXPECT_DOUBLE_EQ(rank[0], 9.3);   // 10 - 0.1 x 28/4
    EXPECT_DOUBLE_EQ(rank[1], 19.2);  // 20 - 0.1 x 32/4
    EXPECT_DOUBLE_EQ(rank[2], 29.1);
    EXPECT_DOUBLE_EQ(rank[3], 39.0);
  }
}

TEST(RingReduce, SumsFourRanksAtTheRootOnly) {
  const Schedule s = reduce_ring_schedule({.ranks = 4, .root = 0});
  EXPECT_EQ(run_on(s, kFour)[0], (std::vector<double>{28, 32, 36, 40}));
  EXPECT_EQ(contract_breach(s), "");  // what the others hold is undefined
}

// Rank s holds [4s+1 .. 4s+4], its block for rank d being 4s+1+d: rank 2 ends with [3,7,11,15].
TEST(AllToAll, TransposesTheBlocks) {
  for (const Schedule& s :
       {all_to_all_direct_schedule({.ranks = 4}), all_to_all_pairwise_schedule({.ranks = 4})}) {
    Values inputs(4, std::vector<double>(16, 0));
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t d = 0; d < 4; ++d) inputs[r][4 * r + d] = kFour[r][d];
    const Values out = run_on(s, inputs);
    std::vector<double> of_rank_2;
    for (std::size_t r = 0; r < 4; ++r) of_rank_2.push_back(out[2][4 * r + 2]);
    EXPECT_EQ(of_rank_2, (std::vector<double>{3, 7, 11, 15}));
    for (const Send& send : s.sends) EXPECT_NE(send.from, send.to);  // a block for oneself touches no link
  }
}

TEST(ContractBreach, FindsAMissingSend) {
  Schedule s = all_gather_ring_schedule({.ranks = 4});
  s.sends.pop_back();
  EXPECT_NE(contract_breach(s), "");
}

TEST(ContractBreach, FindsAContributionCountedTwice) {
  Schedule s = all_reduce_ring_schedule({.ranks = 4});
  s.sends[13].reduce = true;  // a copy of the finished sum added instead
  EXPECT_NE(contract_breach(s), "");
}

TEST(ContractBreach, FindsADependencyOnWhatNeitherRankKnows) {
  Schedule s = all_gather_ring_schedule({.ranks = 4});
  s.sends[5].after = {0};  // rank 1's second send waits for what rank 0 sent it: right
  EXPECT_EQ(contract_breach(s), "");
  s.sends[5].after = {3};  // rank 3 to rank 0
  EXPECT_NE(contract_breach(s), "");
}

// Two ranks add up in a switch (number 2), which gives both the sum.
Schedule through_a_switch() {
  return {.kind = CollectiveKind::kAllReduce,
          .ranks = 2,
          .chunks = 1,
          .rounds = 2,
          .sends = {{.from = 0, .to = 2, .reduce = true},
                    {.from = 1, .to = 2, .reduce = true},
                    {.from = 2, .to = 0, .round = 1, .after = {0, 1}},
                    {.from = 2, .to = 1, .round = 1, .after = {0, 1}}},
          .switches = 1};
}

TEST(Switches, StartWithNothingAndReduceTheFirstThatComesAsACopy) {
  const Schedule s = through_a_switch();
  EXPECT_EQ(contract_breach(s), "");
  ASSERT_EQ(run_symbolically(s).size(), 3U);
  EXPECT_EQ(run_symbolically(s)[2][0], (Contributions{1, 1}));
  for (const auto& rank : run_on(s, {{3}, {4}})) EXPECT_EQ(rank, (std::vector<double>{7}));
}

TEST(Switches, AreNotCountedAmongTheSenders) {
  EXPECT_EQ(chunks_sent(through_a_switch()), (std::vector<std::uint64_t>{1, 1}));
}

TEST(Switches, OweNothingAtTheEnd) {
  Schedule s = through_a_switch();
  s.switches = 2;  // the second takes no part
  EXPECT_EQ(contract_breach(s), "");
}

TEST(ContractBreach, FindsASendOfNothing) {
  Schedule s = through_a_switch();
  s.sends[2].round = s.sends[3].round = 0;
  s.sends[2].after = s.sends[3].after = {};
  EXPECT_EQ(contract_breach(s), "send 2 is of chunk 0, of which 2 holds nothing");
}

TEST(ContractBreach, FindsAParticipantBeyondTheSwitches) {
  Schedule s = through_a_switch();
  s.switches = 0;
  EXPECT_EQ(contract_breach(s), "send 0 is out of range");
}

TEST(NvlsAllReduce, SumsFourRanksEverywhere) {
  for (const auto& rank : run_on(all_reduce_nvls_schedule({.ranks = 4}), kFour))
    EXPECT_EQ(rank, (std::vector<double>{28, 32, 36, 40}));
}

}  // namespace
}  // namespace busbar
