#include "calibrate/import/tuner_csv.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/errors.h"

namespace busbar {
namespace {

std::vector<TunerRule> read(const std::string& text, TunerCalls calls = {}) {
  return read_tuner_csv(text, "t.csv", calls);
}

TEST(TunerCsv, ReadsRulesInOrder) {
  const auto rules = read(
      "# collective,min,max,algorithm,protocol,channels,nodes,ranks\n\n"
      "allreduce,0,65536,tree,ll,2,1,8\n"
      " reducescatter , 65537 , -1 , nvls_tree , simple , -1 , -1 , -1 \n"
      "broadcast,-1,4294967296,collnet_direct,ll128,32,2,16\n");
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(rules[0].least, Bytes(0));
  EXPECT_EQ(rules[0].most, Bytes(65536));
  EXPECT_EQ(rules[0].algorithm, NcclAlgorithm::kTree);
  EXPECT_EQ(rules[0].protocol, Protocol::kLl);
  EXPECT_EQ(rules[0].channels, 2);
  EXPECT_EQ(rules[0].hosts, 1U);
  EXPECT_EQ(rules[0].ranks, 8U);
  EXPECT_EQ(rules[1].kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(rules[1].most, Bytes(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(rules[1].algorithm, NcclAlgorithm::kNvlsTree);
  EXPECT_EQ(rules[1].protocol, Protocol::kSimple);
  EXPECT_FALSE(rules[1].channels || rules[1].hosts || rules[1].ranks);
  EXPECT_EQ(rules[2].least, Bytes(0));
  EXPECT_EQ(rules[2].algorithm, NcclAlgorithm::kCollNetDirect);
  EXPECT_EQ(rules[2].protocol, Protocol::kLl128);
}

TEST(TunerCsv, KnowsEveryNameOfThePlugin) {
  EXPECT_EQ(read("allgather,0,1,ring,ll,-1,-1,-1\nreduce,0,1,collnet_chain,ll,-1,-1,-1\n"
                 "allgather,0,1,nvls,simple,-1,-1,-1\nallgather,0,1,pat,simple,-1,-1,-1\n")
                .size(),
            4U);
}

TEST(TunerCsv, TakesOnlyRulesForTheCallsAtHand) {
  const std::string text =
      "allreduce,0,1,ring,ll,1,-1,-1,-1,-1\nallreduce,0,1,ring,ll,2,-1,-1,1\n"
      "allreduce,0,1,ring,ll,3,-1,-1,4\nallreduce,0,1,ring,ll,4,-1,-1,-1,0\nallreduce,0,1,ring,ll,5,-1,-1,-1,"
      "1\n";
  const auto channels = [&](TunerCalls calls) {
    std::vector<std::int64_t> found;
    for (const TunerRule& rule : read(text, calls)) found.push_back(rule.channels.value_or(0));
    return found;
  };
  EXPECT_EQ(channels({}), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(channels({.grouped = 4}), (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(channels({.registered_buffers = true}), (std::vector<std::int64_t>{1, 2, 5}));
}

TEST(TunerCsv, SaysWhatIsWrong) {
  const auto error = [](const std::string& line) { return error_of([&] { (void)read("\n" + line); }); };
  EXPECT_EQ(error("allredce,0,1,ring,ll,1,1,1"),
            "t.csv:2: expected a collective: allreduce, allgather, reducescatter, broadcast or reduce, got "
            "'allredce'; did you mean 'allreduce'?");
  EXPECT_EQ(
      error("allreduce,0,1,rong,ll,1,1,1"),
      "t.csv:2: expected an algorithm: tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree or pat, "
      "got 'rong'; did you mean 'ring'?");
  EXPECT_EQ(error("allreduce,0,1,ring,sample,1,1,1"),
            "t.csv:2: expected a protocol: ll, ll128 or simple, got 'sample'; did you mean 'simple'?");
  EXPECT_EQ(
      error("allreduce,0,1,ring,ll,1,1"),
      "t.csv:2: expected 8 to 10 fields (collective, least bytes, most bytes, algorithm, protocol, channels, "
      "hosts, ranks[, numPipeOps[, regBuff]]), got 7");
  EXPECT_EQ(error("allreduce,x,1,ring,ll,1,1,1"),
            "t.csv:2: expected the least bytes: -1 or a whole number of at least 0, got 'x'");
  EXPECT_EQ(error("allreduce,0,1.5,ring,ll,1,1,1"),
            "t.csv:2: expected the most bytes: -1 or a whole number of at least 0, got '1.5'");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,0,1,1"),
            "t.csv:2: expected channels: -1 or a whole number of at least 1, got '0'");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,1,0,1"),
            "t.csv:2: expected hosts: -1 or a whole number of at least 1, got '0'");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,1,1,-2"),
            "t.csv:2: expected ranks: -1 or a whole number of at least 1, got '-2'");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,1,1,1,x"),
            "t.csv:2: expected numPipeOps: -1 or a whole number of at least 0, got 'x'");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,1,1,1,1,2"),
            "t.csv:2: expected regBuff: -1 or a whole number of at least 0, got '2'");
  EXPECT_EQ(error("allreduce,9,1,ring,ll,1,1,1"), "t.csv:2: expected the least bytes first, got 9, 1");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,1,1,1" + std::string(256, ' ')),
            "t.csv:2: expected at most 255 characters, which is what the plugin reads, got 283");
}

}  // namespace
}  // namespace busbar
