// How uneven tokens become shares, ranks and exchanged bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/support/seeded.h"
#include "tests/support/traffic.h"
#include "workload_helpers.h"
#include "workloads/expert_load.h"

namespace busbar {
namespace {

using Shares = std::vector<double>;

void expect_near(const Shares& a, const Shares& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12) << i;
}

TEST(ExpertShares, AreEvenUnlessSaidOtherwise) { expect_near(expert_shares(4, {}), Shares(4, 0.25)); }

TEST(ExpertShares, FollowAHistogram) {
  expect_near(expert_shares(3, {.histogram = {1, 2, 5}}), {0.125, 0.25, 0.625});
}

// 1, 1/2, 1/3 and 1/4 add up to 25/12.
TEST(ExpertShares, FollowZipf) {
  expect_near(expert_shares(4, {.zipf = 1}), {12.0 / 25, 6.0 / 25, 4.0 / 25, 3.0 / 25});
}

TEST(ExpertShares, GiveAHotExpertItsMultiple) {
  expect_near(expert_shares(4, {.hot = 2}), {0.5, 0.5 / 3, 0.5 / 3, 0.5 / 3});
  expect_near(expert_shares(1, {.hot = 2}), {1});
}

Workload loaded(const std::string& imbalance, const std::string& more = "") {
  return test::workload_of(
      R"({"schema": "busbar.workload/1", "batch": {"sequence": 64, "global": 4}, "parallel": {"dp": 4, "ep": 4},
          "model": {"layers": 1, "hidden": 32, "ffn_hidden": 64, "heads": 8, "vocab": 512, "experts": 8, "top_k": 2,
                    "expert_ffn_hidden": 16}, "moe": {"imbalance": )" +
      imbalance + more + "}}");
}

TEST(ExpertRankShares, SumNeighbouringExperts) {
  expect_near(expert_rank_shares(loaded(R"({"histogram": [4, 1, 0, 1, 1, 1, 0, 0]})")),
              {5.0 / 8, 1.0 / 8, 2.0 / 8, 0});
  EXPECT_TRUE(expert_rank_shares(loaded(R"({"zipf": 0})")).empty());
}

TEST(ExpertSplits, KeepEveryElementOnceAndTransposeForTheWayBack) {
  constexpr std::uint64_t kSeed = 11;
  Seeded random(kSeed);
  for (int trial = 0; trial < 200; ++trial) {
    Shares shares(random.index(1, 9));
    for (double& share : shares) share = random.whole(0, 5);
    shares.front() += 1;
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    const Bytes bytes(2 * random.integer(0, 1000));
    const SplitMatrix out = expert_splits("o", bytes, DataType::kBf16, shares, false);
    const SplitMatrix back = expert_splits("b", bytes, DataType::kBf16, shares, true);
    for (std::uint32_t s = 0; s < out.members; ++s) {
      Bytes row;
      for (std::uint32_t d = 0; d < out.members; ++d) {
        row += out.at(s, d);
        EXPECT_EQ(out.at(s, d), back.at(d, s));
        EXPECT_EQ(out.at(s, d).count() % 2, 0);
      }
      EXPECT_EQ(row, bytes) << "seed " << kSeed << " trial " << trial;
    }
  }
}

// Rank 0 of 4 holds the hot expert: 2 of 8 + 6/7 of 8 shares.
TEST(UnevenExperts, GiveEachRankItsOwnProgramAndKernels) {
  const StepTrace trace = expand(loaded(R"({"hot_expert": 2})"));
  ASSERT_EQ(trace.programs.size(), 4U);
  const auto flops = [&](std::size_t program) {
    return test::op_called(trace.programs[program], "f.mb0.block0.experts.up").work->flops;
  };
  // Each of two experts a rank has 64 rows when even; whole rows.
  const auto two_of = [](double rows) { return 2.0 * 2 * std::round(rows) * 32 * 16; };
  EXPECT_EQ(flops(0), two_of(64 * (2 + 6.0 / 7) / 2));
  EXPECT_EQ(flops(3), two_of(64 * 6.0 / 7));
  EXPECT_EQ(trace.matrices.size(), 2U);  // there and back
}

TEST(UnevenExperts, ReadBackwardsTheyReturnWhatWasSent) {
  const StepTrace trace = expand(loaded(R"({"zipf": 1.2})"));
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    const auto ops = collectives_of(trace.programs[0], CollectiveKind::kAllToAll, phase);
    ASSERT_EQ(ops.size(), 2U);
    const SplitMatrix& first = trace.matrices[*ops[0]->splits];
    const SplitMatrix& second = trace.matrices[*ops[1]->splits];
    for (std::uint32_t s = 0; s < 4; ++s)
      for (std::uint32_t d = 0; d < 4; ++d) EXPECT_EQ(first.at(s, d), second.at(d, s));
  }
}

// Of 8 experts a token passes top_k; 64 tokens a rank, hidden 32, bf16. Four ranks: two on each of two hosts.
StepTrace limited(const std::string& top_k, const std::string& limit, std::int64_t host_ranks) {
  Workload w = test::workload_of(
      R"({"schema": "busbar.workload/1", "batch": {"sequence": 64, "global": 4}, "parallel": {"dp": 4, "ep": 4},
          "model": {"layers": 1, "hidden": 32, "ffn_hidden": 16, "heads": 2, "vocab": 128, "experts": 8, "top_k": )" +
      top_k + R"(}, "moe": {"node_limit": )" + limit + "}}");
  w.parallel.host_ranks = host_ranks;
  return expand(w);
}

// A token goes once to each of D = min(limit, hosts, top_k) hosts, then as top_k rows inside them.
TEST(LimitedExperts, CrossTheNetworkOncePerHost) {
  const std::int64_t token = 64 * 32 * 2;
  for (const std::int64_t top_k : {1, 2, 4, 6})
    for (const std::int64_t limit : {1, 2, 4}) {
      const StepTrace trace = limited(std::to_string(top_k), std::to_string(limit), 2);
      const std::int64_t visited = std::min({limit, std::int64_t{2}, top_k});
      const Program& p = trace.programs[0];
      for (const char* pass : {"f.mb0.block0.dispatch", "f.mb0.block0.combine", "b.mb0.block0.dispatch.grad",
                               "b.mb0.block0.combine.grad"}) {
        const Op& rail = test::op_called(p, std::string(pass) + ".rail");
        const Op& host = test::op_called(p, std::string(pass) + ".host");
        EXPECT_EQ(rail.bytes.count(), token * visited);
        EXPECT_EQ(host.bytes.count(), token * top_k);
        EXPECT_EQ(rail.group_kind, "ep");
      }
    }
}

TEST(LimitedExperts, PassTokensOnAsTheyCome) {
  const StepTrace trace = limited("2", "2", 2);
  const Program& p = trace.programs[0];
  const std::vector<std::string> passes = {"f.mb0.block0.dispatch", "f.mb0.block0.combine",
                                           "b.mb0.block0.combine.grad", "b.mb0.block0.dispatch.grad"};
  for (const char* leg : {"rail", "host"}) {
    std::vector<std::string> ids;
    for (const std::string& pass : passes) ids.push_back(pass + "." + leg);
    EXPECT_EQ(test::ids_on(p, std::string("ep.") + leg), ids);
  }
  for (const std::string& pass : passes)
    EXPECT_EQ(test::waits_of(p, pass + ".rail"), test::waits_of(p, pass + ".host"));
  // The experts wait for both.
  const std::vector<std::string> waits = test::waits_of(p, "f.mb0.block0.experts.gate");
  EXPECT_EQ(std::count(waits.begin(), waits.end(), "f.mb0.block0.dispatch.rail"), 1);
  EXPECT_EQ(std::count(waits.begin(), waits.end(), "f.mb0.block0.dispatch.host"), 1);
  // Ranks 0 and 1 are one host, 0 and 2 one rail.
  std::set<std::pair<std::string, std::vector<std::uint32_t>>> groups;
  for (const Group& group : trace.groups)
    if (group.name.starts_with("ep.")) groups.insert({group.name.substr(0, 7), expand(group.members)});
  EXPECT_EQ(groups, (std::set<std::pair<std::string, std::vector<std::uint32_t>>>{
                        {"ep.host", {0, 1}}, {"ep.host", {2, 3}}, {"ep.rail", {0, 2}}, {"ep.rail", {1, 3}}}));
}

TEST(LimitedExperts, AreAsOthersOnOneHost) {
  const StepTrace trace = limited("2", "2", 4);
  EXPECT_EQ(test::op_called(trace.programs[0], "f.mb0.block0.dispatch").bytes.count(), 64 * 32 * 2 * 2);
  // One rank a host: nothing to pass on.
  const Program one = limited("2", "2", 1).programs[0];
  const std::vector<std::string> alone = test::ids_on(one, "ep.rail");
  EXPECT_TRUE(test::ids_on(one, "ep.host").empty());
  EXPECT_EQ(alone.size(), 4U);
  EXPECT_EQ(alone[0], "f.mb0.block0.dispatch.rail");
}

TEST(LimitedExperts, NeedHostsOfOneSize) {
  const auto refusal = [](std::int64_t host_ranks) {
    return test::error_of([&] { static_cast<void>(limited("2", "2", host_ranks)); });
  };
  EXPECT_NE(refusal(3).find("the group of rank 0 has 3 on one and 1 on another"), std::string::npos);
  EXPECT_NE(test::error_of([] {
              static_cast<void>(expand(loaded(R"({"zipf": 0})", R"(, "node_limit": 2)")));
            }).find("moe.node_limit needs hosts"),
            std::string::npos);
  EXPECT_NE(test::error_of([] {
              static_cast<void>(loaded(R"({"zipf": 1})", R"(, "node_limit": 2)"));
            }).find("evenly loaded experts"),
            std::string::npos);
}

TEST(ReadMoe, RefusesWhatDoesNotFitTheModel) {
  EXPECT_NE(test::error_of([] {
              static_cast<void>(loaded(R"({"histogram": [1, 2]})"));
            }).find("8 weights, one per expert"),
            std::string::npos);
  EXPECT_NE(test::error_of([] {
              static_cast<void>(loaded(R"({"zipf": 1, "hot_expert": 2})"));
            }).find("one of zipf, histogram and hot_expert"),
            std::string::npos);
  EXPECT_NE(test::error_of([] {
              static_cast<void>(loaded(R"({"histogram": [0, 0, 0, 0, 0, 0, 0, 0]})"));
            }).find("a weight above 0"),
            std::string::npos);
  EXPECT_NE(test::error_of([] { static_cast<void>(loaded(R"({"hot_expert": 9})")); }).find("at most 8"),
            std::string::npos);
  EXPECT_NE(
      test::error_of([] {
        static_cast<void>(test::workload_of(
            R"({"schema": "busbar.workload/1", "batch": {"sequence": 64, "global": 4}, "parallel": {"dp": 4},
                      "model": {"preset": "llama-2-7b"}, "moe": {}})"));
      }).find("the model has no experts"),
      std::string::npos);
}

}  // namespace
}  // namespace busbar
