#include "sim/base/collective_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/base/group_routes.h"

namespace busbar {
namespace {

using enum CollectiveKind;

TEST(CollectiveKind, EveryNameParsesBackToItself) {
  EXPECT_EQ(collective_names().size(), 10U);
  for (std::size_t i = 0; i < collective_names().size(); ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    EXPECT_EQ(name_of(kind), collective_names()[i]);
    EXPECT_EQ(parse_collective(name_of(kind)), kind);
  }
}

TEST(CollectiveKind, HasTheNamesOfTheContract) {
  EXPECT_EQ(name_of(kAllReduce), "all_reduce");
  EXPECT_EQ(name_of(kAllGather), "all_gather");
  EXPECT_EQ(name_of(kReduceScatter), "reduce_scatter");
  EXPECT_EQ(name_of(kBroadcast), "broadcast");
  EXPECT_EQ(name_of(kReduce), "reduce");
  EXPECT_EQ(name_of(kGather), "gather");
  EXPECT_EQ(name_of(kScatter), "scatter");
  EXPECT_EQ(name_of(kAllToAll), "all_to_all");
  EXPECT_EQ(name_of(kSendRecv), "send_recv");
  EXPECT_EQ(name_of(kBarrier), "barrier");
}

TEST(CollectiveKind, AcceptsTheSpellingsOfNcclTests) {
  const std::vector<std::pair<std::string_view, CollectiveKind>> spellings = {
      {"AllReduce", kAllReduce},         {"all_reduce_perf", kAllReduce},   {"alltoall", kAllToAll},
      {"AlltoAll", kAllToAll},           {"alltoall_perf", kAllToAll},      {"sendrecv", kSendRecv},
      {"SendRecv", kSendRecv},           {"sendrecv_perf", kSendRecv},      {"allgather", kAllGather},
      {"reducescatter", kReduceScatter}, {"ReduceScatter", kReduceScatter}, {"Broadcast", kBroadcast},
      {"reduce_perf", kReduce},          {"gather_perf", kGather},          {"scatter_perf", kScatter}};
  for (const auto& [text, kind] : spellings) EXPECT_EQ(parse_collective(text), kind) << text;
}

TEST(CollectiveKind, RefusesOtherNames) {
  for (const std::string_view text : {"", "perf", "_", "all", "allreduce2", "hypercube"})
    EXPECT_EQ(parse_collective(text), std::nullopt) << text;
}

TEST(DataType, EveryNameParsesBackToItself) {
  for (std::size_t i = 0; i < data_type_names().size(); ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(parse_data_type(name_of(type)), type);
  }
  EXPECT_EQ(parse_data_type("BF16"), std::nullopt);
}

TEST(DataType, HasTheSizeThatItsNameSays) {
  const std::vector<std::pair<std::string_view, std::int64_t>> sizes = {
      {"fp32", 4}, {"tf32", 4}, {"bf16", 2},  {"fp16", 2},
      {"fp8", 1},  {"int8", 1}, {"int32", 4}, {"int64", 8}};
  ASSERT_EQ(sizes.size(), data_type_names().size());
  for (const auto& [name, size] : sizes) EXPECT_EQ(size_of(*parse_data_type(name)), size) << name;
}

TEST(Reduction, EveryNameParsesBackToItself) {
  ASSERT_EQ(reduction_names().size(), 5U);
  for (const std::string_view name : {"sum", "avg", "min", "max", "prod"}) {
    ASSERT_TRUE(parse_reduction(name)) << name;
    EXPECT_EQ(name_of(*parse_reduction(name)), name);
  }
  EXPECT_EQ(parse_reduction("Sum"), std::nullopt);
}

TEST(BusbwFactor, IsThatOfNcclTests) {
  // n = 4: 2 (n-1) / n = 6/4, (n-1) / n = 3/4; both are doubles.
  EXPECT_EQ(busbw_factor(kAllReduce, 4), 1.5);
  for (const CollectiveKind kind : {kAllGather, kReduceScatter, kAllToAll, kGather, kScatter})
    EXPECT_EQ(busbw_factor(kind, 4), 0.75) << name_of(kind);
  for (const CollectiveKind kind : {kBroadcast, kReduce, kSendRecv, kBarrier})
    EXPECT_EQ(busbw_factor(kind, 4), 1) << name_of(kind);
}

TEST(BusbwFactor, IsZeroForOneRankWhereNothingTravels) {
  for (const CollectiveKind kind : {kAllReduce, kAllGather, kReduceScatter, kAllToAll, kGather, kScatter})
    EXPECT_EQ(busbw_factor(kind, 1), 0) << name_of(kind);
  for (const CollectiveKind kind : {kBroadcast, kReduce, kSendRecv, kBarrier})
    EXPECT_EQ(busbw_factor(kind, 1), 1) << name_of(kind);
}

TEST(CollectiveKind, SortsIntoItsClasses) {
  std::string divided, reducing, rooted;
  for (std::size_t i = 0; i < collective_names().size(); ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    const std::string name = std::string(name_of(kind)) + " ";
    if (divides_by_ranks(kind)) divided += name;
    if (is_reducing(kind)) reducing += name;
    if (is_rooted(kind)) rooted += name;
  }
  EXPECT_EQ(divided, "all_gather reduce_scatter gather scatter all_to_all ");
  EXPECT_EQ(reducing, "all_reduce reduce_scatter reduce ");
  EXPECT_EQ(rooted, "broadcast reduce gather scatter ");
}

TEST(LinkType, HasTheNamesOfTheContractAndKnowsTheNetworks) {
  const std::vector<std::pair<std::string_view, bool>> types = {
      {"nvlink", false}, {"xgmi", false},     {"c2c", false}, {"pcie", false}, {"upi", false},
      {"rdma", true},    {"slingshot", true}, {"tcp", true},  {"efa", true}};
  ASSERT_EQ(types.size(), kLinkTypes);
  for (std::size_t i = 0; i < kLinkTypes; ++i) {
    EXPECT_EQ(name_of(static_cast<LinkType>(i)), types[i].first);
    EXPECT_EQ(is_network(static_cast<LinkType>(i)), types[i].second) << types[i].first;
  }
}

}  // namespace
}  // namespace busbar
