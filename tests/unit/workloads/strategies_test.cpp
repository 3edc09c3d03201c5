// What each strategy sends per rank and step, against its closed form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/traffic.h"
#include "workload_helpers.h"

namespace busbar {
namespace {

using test::error_of;
using test::workload_of;

// Eight parameters of 2^20 elements: 16 MiB of bf16 that 8 ranks share in whole elements.
constexpr double kModel = 8.0 * (1 << 20) * 2;
constexpr std::int64_t kRanks = 8;

StepTrace listed(const std::string& sharding, std::int64_t microbatches = 1, const std::string& more = "") {
  return expand(workload_of(fmt::format(
      R"({{"schema": "busbar.workload/1", "batch": {{"global": {}}},
          "model": {{"parameters": [{{"name": "w", "shape": [1048576], "count": 8}}]}},
          "parallel": {{"dp": {}, "sharding": "{}"{}}}}})",
      microbatches * kRanks, kRanks, sharding, more)));
}

double sent(const std::string& sharding, std::int64_t microbatches = 1, const std::string& more = "") {
  return traffic_of(listed(sharding, microbatches, more)).bytes;
}

constexpr double kOnce = kModel * (kRanks - 1) / kRanks;  // one gather or reduce-scatter of everything

TEST(Traffic, OfReplicasIsOneAllReduceHoweverManyMicrobatches) {
  for (const std::int64_t m : {1, 4}) {
    EXPECT_EQ(sent("none", m), 2 * kOnce);
    EXPECT_EQ(sent("horovod", m), 2 * kOnce);
  }
  // Horovod's 64 MiB hold all 16; DDP's first 1 MiB bucket takes one parameter, the next 25 MiB the others.
  EXPECT_EQ(traffic_of(listed("horovod")).ops, 1U);
  EXPECT_EQ(traffic_of(listed("none")).ops, 2U);
}

TEST(Traffic, OfAShardedOptimizerIsAScatterAndAGather) {
  for (const std::int64_t m : {1, 4}) {
    EXPECT_EQ(sent("zero1", m), 2 * kOnce);
    EXPECT_EQ(sent("distributed", m), 2 * kOnce);
    EXPECT_EQ(sent("zero2", m), static_cast<double>(m + 1) * kOnce);
  }
}

TEST(Traffic, OfShardedParametersIsOneAndAHalfTimesThatOfReplicas) {
  EXPECT_EQ(sent("fsdp"), 1.5 * sent("none"));
  EXPECT_EQ(sent("zero3"), 1.5 * sent("none"));
  EXPECT_EQ(sent("fsdp", 4), 4 * 1.5 * sent("none"));
}

StepTrace kept(std::int64_t microbatches) {
  return expand(workload_of(fmt::format(
      R"({{"schema": "busbar.workload/1", "batch": {{"global": {}}}, "fsdp": {{"reshard_after_forward": false}},
          "model": {{"parameters": [{{"name": "w", "shape": [1048576], "count": 8}}]}},
          "parallel": {{"dp": 8, "sharding": "fsdp"}}}})",
      microbatches * kRanks)));
}

TEST(Traffic, WithoutReshardingIsThatOfReplicas) {
  EXPECT_EQ(traffic_of(kept(1)).bytes, sent("none"));
  EXPECT_EQ(traffic_of(kept(3)).bytes, 3 * sent("none"));
}

// Gathers and scatters inside 4 ranks; what a rank holds then, a quarter, is all-reduced between 2 replicas.
TEST(Traffic, OfHybridShardsStaysInsideThemButForAShardsAllReduce) {
  const StepTrace trace = listed("hsdp", 3, R"(, "shard_size": 4)");
  EXPECT_EQ(traffic_of(trace, "shard").bytes, 3 * 3 * kModel * 3 / 4);
  EXPECT_EQ(traffic_of(trace, "replica").bytes, 2 * (kModel / 4) * 1 / 2);
}

TEST(Traffic, OfShardsOfOneRankIsThatOfReplicas) {
  const StepTrace trace = listed("hsdp", 1, R"(, "shard_size": 1)");
  EXPECT_EQ(traffic_of(trace).bytes, sent("none"));
  for (const Op& op : trace.programs[0].ops) EXPECT_NE(op.collective, CollectiveKind::kAllGather);
  EXPECT_EQ(sent("hsdp", 1, R"(, "shard_size": 8)"), sent("fsdp"));
}

// In groups of 4: scatter and gather of everything inside, an all-reduce of a quarter between.
TEST(Traffic, OfAShardedOptimizerInGroupsStaysInsideThemToo) {
  for (const char* sharding : {"zero1", "distributed"}) {
    const StepTrace trace = listed(sharding, 3, R"(, "shard_size": 4)");
    EXPECT_EQ(traffic_of(trace, "shard").bytes, 2 * kModel * 3 / 4) << sharding;
    EXPECT_EQ(traffic_of(trace, "replica").bytes, 2 * (kModel / 4) * 1 / 2) << sharding;
  }
  const StepTrace second = listed("zero2", 3, R"(, "shard_size": 4)");
  EXPECT_EQ(traffic_of(second, "shard").bytes, (3 + 1) * kModel * 3 / 4);
  EXPECT_EQ(traffic_of(second, "replica").bytes, 2 * (kModel / 4) * 1 / 2);
  // AdamW's 12 bytes a parameter over 4 ranks.
  EXPECT_EQ(second.programs[0].memory->optimizer, Bytes((std::int64_t{8} << 20) * 12 / 4));
}

TEST(Traffic, OfAParameterServerIsAReduceAndABroadcast) {
  const StepTrace trace = listed("parameter-server");
  double reduced = 0, pulled = 0;
  for (const Op* op : collectives_of(trace.programs[0], CollectiveKind::kReduce, Phase::kBackward))
    reduced += op->bytes.as_double();
  for (const Op* op : collectives_of(trace.programs[0], CollectiveKind::kBroadcast, Phase::kBackward))
    pulled += op->bytes.as_double();
  EXPECT_EQ(reduced, kModel);
  EXPECT_EQ(pulled, kModel);
}

// ---- Inside layers ----

constexpr std::int64_t kLayers = 4, kTokens = 64, kHidden = 32, kKvHeads = 4, kHeadDim = 4;
constexpr std::int64_t kRow = kHidden * 2;  // bytes of a token

StepTrace blocks(const std::string& parallel, const std::string& more = "", const std::string& model = "",
                 std::int64_t samples = 8) {
  return expand(workload_of(fmt::format(
      R"({{"schema": "busbar.workload/1", "batch": {{"sequence": {}, "global": {}}}, "optimizer": {{"kind": "none"}},
          "model": {{"layers": {}, "hidden": {}, "ffn_hidden": 64, "heads": 8, "kv_heads": {}, "head_dim": {},
                     "vocab": 512{}}}, "parallel": {}{}}})",
      kTokens, samples, kLayers, kHidden, kKvHeads, kHeadDim, model, parallel, more)));
}

/// Of block 1's first microbatch.
std::vector<const Op*> of_block(const StepTrace& trace, CollectiveKind kind, Phase phase,
                                std::string_view slot) {
  std::vector<const Op*> ops;
  const Program& p = trace.programs[0];
  for (const Op* op : collectives_of(p, kind, phase))
    if (op->layer == 2 && op->microbatch == 0 && p.group_slots[op->group_slot] == slot) ops.push_back(op);
  return ops;
}

void expect_each(const std::vector<const Op*>& ops, std::size_t number, std::int64_t bytes) {
  EXPECT_EQ(ops.size(), number);
  for (const Op* op : ops) EXPECT_EQ(op->bytes, Bytes(bytes)) << op->id;
}

constexpr Phase kF = Phase::kForward, kB = Phase::kBackward;
constexpr CollectiveKind kReduce = CollectiveKind::kAllReduce, kGather = CollectiveKind::kAllGather,
                         kScatter = CollectiveKind::kReduceScatter, kAll = CollectiveKind::kAllToAll,
                         kRing = CollectiveKind::kSendRecv;

TEST(TensorParallelism, AllReducesTwiceForwardAndTwiceBackward) {
  const StepTrace trace = blocks(R"({"tp": 4, "dp": 1})");
  expect_each(of_block(trace, kReduce, kF, "tp"), 2, kTokens * kRow);
  expect_each(of_block(trace, kReduce, kB, "tp"), 2, kTokens * kRow);
}

// The inputs of both column-parallel products are gathered again for their weight gradients.
TEST(TensorParallelism, GathersAndScattersUnderSequenceParallelism) {
  const StepTrace trace = blocks(R"({"tp": 4, "dp": 1, "sequence_parallel": true})");
  expect_each(of_block(trace, kGather, kF, "tp"), 2, kTokens * kRow);
  expect_each(of_block(trace, kScatter, kF, "tp"), 2, kTokens * kRow);
  expect_each(of_block(trace, kGather, kB, "tp"), 4, kTokens * kRow);
  expect_each(of_block(trace, kScatter, kB, "tp"), 2, kTokens * kRow);
  EXPECT_TRUE(of_block(trace, kReduce, kF, "tp").empty());
}

TEST(Recomputation, RepeatsForwardsExchanges) {
  const std::string full = R"(, "recompute": "full")";
  expect_each(of_block(blocks(R"({"tp": 4, "dp": 1})", full), kReduce, kB, "tp"), 2 + 2, kTokens * kRow);
  const StepTrace sharded = blocks(R"({"tp": 4, "dp": 1, "sequence_parallel": true})", full);
  expect_each(of_block(sharded, kGather, kB, "tp"), 4 + 2, kTokens * kRow);
  expect_each(of_block(sharded, kScatter, kB, "tp"), 2 + 2, kTokens * kRow);
}

constexpr std::int64_t kKeysValues = 2 * kKvHeads * kHeadDim * 2;  // bytes of a token

TEST(ContextParallelism, RingPassesKeysAndValuesAndTheirGradients) {
  const StepTrace trace = blocks(R"({"cp": 4, "dp": 1})");
  expect_each(of_block(trace, kRing, kF, "cp"), 3, kTokens / 4 * kKeysValues);
  expect_each(of_block(trace, kRing, kB, "cp"), 3, 2 * kTokens / 4 * kKeysValues);
}

TEST(ContextParallelism, GathersKeysAndValuesAndScattersTheirGradients) {
  const StepTrace trace = blocks(R"({"cp": 4, "dp": 1})", R"(, "context": {"method": "all_gather"})");
  expect_each(of_block(trace, kGather, kF, "cp"), 1, kTokens * kKeysValues);
  expect_each(of_block(trace, kScatter, kB, "cp"), 1, kTokens * kKeysValues);
}

// Ulysses: queries, keys and values into heads, the outputs back, and the gradients of both.
TEST(ContextParallelism, UlyssesExchangesHeadsForTokens) {
  const StepTrace trace = blocks(R"({"cp": 4, "dp": 1})", R"(, "context": {"method": "ulysses"})");
  for (const Phase phase : {kF, kB}) {
    const auto ops = of_block(trace, kAll, phase, "cp");
    ASSERT_EQ(ops.size(), 2U);
    EXPECT_EQ(ops[0]->bytes + ops[1]->bytes, Bytes(kTokens / 4 * (2 * 8 * kHeadDim * 2 + kKeysValues)));
  }
}

TEST(ContextParallelism, AttentionRunsBesideTheRingAndAfterTheOthers) {
  const auto waits = [](const char* method) {
    const StepTrace trace =
        blocks(R"({"cp": 4, "dp": 1})", fmt::format(R"(, "context": {{"method": "{}"}})", method));
    return test::waits_of(trace.programs[0], "f.mb0.block1.attention");
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(waits("ring"), Ids{});
  EXPECT_EQ(waits("all_gather"), Ids{"f.mb0.block1.context.gather"});
  EXPECT_EQ(waits("ulysses"), Ids{"f.mb0.block1.context.qkv"});
}

constexpr const char* kExperts = R"(, "experts": 8, "top_k": 2, "expert_ffn_hidden": 16)";

TEST(ExpertParallelism, DispatchesAndCombinesForwardAndBackward) {
  const StepTrace trace = blocks(R"({"ep": 4, "dp": 4})", "", kExperts);
  expect_each(of_block(trace, kAll, kF, "ep"), 2, kTokens * 2 * kRow);
  expect_each(of_block(trace, kAll, kB, "ep"), 2, kTokens * 2 * kRow);
}

// Experts that 4 of 8 ranks hold once each: their gradients are summed over pairs, the others' over all 8.
TEST(ExpertParallelism, SumsExpertsGradientsOverThoseWhoHoldThem) {
  const StepTrace trace = blocks(R"({"ep": 4, "dp": 8})", "", kExperts);
  const double experts = 8.0 / 4 * kLayers * 3 * kHidden * 16 * 2;
  EXPECT_EQ(traffic_of(trace, "edp").bytes, 2 * experts * 1 / 2);
}

TEST(ExpertParallelism, SendsThirtyThreeMegabytesAtFourThousandTokensTimesFourThousandHidden) {
  const StepTrace trace = expand(workload_of(
      R"({"schema": "busbar.workload/1", "batch": {"sequence": 4096, "global": 8}, "parallel": {"dp": 8, "ep": 8},
          "model": {"layers": 1, "hidden": 4096, "ffn_hidden": 128, "heads": 32, "vocab": 128, "experts": 8, "top_k": 1,
                    "expert_ffn_hidden": 128}})"));
  EXPECT_EQ(collectives_of(trace.programs[0], kAll, kF).front()->bytes, Bytes(33'554'432));
}

// ---- Between stages ----

struct Messages {
  std::size_t sent = 0, received = 0;
  Bytes bytes;
};

Messages messages_of(const Program& program) {
  Messages m;
  for (const Op& op : program.ops)
    for (const Transfer& t : op.transfers) {
      ++(t.is_send ? m.sent : m.received);
      m.bytes = t.bytes;
    }
  return m;
}

TEST(PipelineMessages, AreOneEachWayPerMicrobatchAndEdge) {
  const StepTrace trace = blocks(R"({"pp": 4, "dp": 1})");
  ASSERT_EQ(trace.programs.size(), 4U);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    const Messages m = messages_of(trace.programs[stage]);
    const std::size_t edges = stage == 0 || stage == 3 ? 1 : 2;
    EXPECT_EQ(m.sent, 8 * edges);
    EXPECT_EQ(m.received, 8 * edges);
    EXPECT_EQ(m.bytes, Bytes(kTokens * kRow));
  }
}

TEST(PipelineMessages, AreCutByContextAndSequenceParallelism) {
  EXPECT_EQ(messages_of(blocks(R"({"pp": 2, "tp": 2, "dp": 1})").programs[0]).bytes, Bytes(kTokens * kRow));
  const StepTrace cut = blocks(R"({"pp": 2, "tp": 2, "cp": 2, "dp": 1, "sequence_parallel": true})");
  EXPECT_EQ(messages_of(cut.programs[0]).bytes, Bytes(kTokens * kRow / 4));
}

// Two chunks per stage on two stages: chunks 0 1 0 1, three edges, each crossed once a microbatch and way.
TEST(PipelineMessages, CrossEveryEdgeBetweenChunks) {
  const StepTrace trace = blocks(R"({"pp": 2, "dp": 1, "virtual_stages": 2})");
  EXPECT_EQ(messages_of(trace.programs[0]).sent, 8U * (2 + 1));
  EXPECT_EQ(messages_of(trace.programs[1]).sent, 8U * (1 + 2));
}

// ---- Layouts that frameworks reject ----

struct BadLayout {
  const char* parallel;
  const char* message;
  const char* model = "";
  std::int64_t samples = 8;
};

TEST(Layouts, ThatDoNotDivideNameTheRuleAndTheNearestValues) {
  const BadLayout cases[] = {
      {R"({"tp": 3, "dp": 1})", "heads = 8 must be a multiple of tp = 3; the nearest tp are 2 or 4"},
      {R"({"ep": 3, "dp": 3})", "experts = 8 must be a multiple of ep = 3; the nearest ep are 2 or 4",
       kExperts, 9},
      {R"({"ep": 2, "dp": 2})", "ep = 2 needs a model with experts"},
      {R"({"ep": 4, "dp": 2})", "ep x etp = 4 x 1 does not divide tp x cp x dp = 2; the nearest is 2",
       kExperts},
      {R"({"pp": 5, "dp": 1})", "at most as many chunks (pp x virtual_stages) as the 4 blocks"},
      {R"({"pp": 2, "virtual_stages": 3, "dp": 1})", "as the 4 blocks, got 6"},
      {R"({"dp": 3})",
       "a global batch of 8 is not a multiple of micro x dp = 1 x 3; the nearest are 6 and 9"},
      {R"({"dp": 8, "sharding": "hsdp", "shard_size": 3})",
       "shard_size = 3 does not divide dp x cp = 8; the nearest are 2 and 4"},
      {R"({"dp": 8, "sharding": "hsdp"})", "hsdp needs \"shard_size\""},
      {R"({"pp": 3, "virtual_stages": 1, "schedule": "interleaved", "dp": 1})",
       "interleaved needs a multiple of pp = 3 microbatches; there are 8; the nearest are 6 and 9"},
      {R"({"pp": 2, "virtual_stages": 2, "schedule": "1f1b", "dp": 1})", "\"schedule\": \"interleaved\""},
      {R"({"cp": 3, "dp": 1})", "the sequence of 64 tokens must be a multiple of 2 x cp"},
      {R"({"pp": 2, "dp": 2, "sharding": "fsdp", "schedule": "zb-h1"})",
       "zb-h1 keeps weight gradients apart"},
  };
  for (const BadLayout& bad : cases) {
    const std::string line =
        error_of([&] { static_cast<void>(blocks(bad.parallel, "", bad.model, bad.samples)); });
    EXPECT_NE(line.find(bad.message), std::string::npos) << bad.parallel << "\n" << line;
  }
}

TEST(Layouts, OfListsOfStagesMustAddUp) {
  const auto line = [](const char* stages) {
    return error_of([&] {
      static_cast<void>(
          blocks(R"({"pp": 2, "dp": 1})", fmt::format(R"(, "stages": {{"layers": {}}})", stages)));
    });
  };
  EXPECT_NE(line("[1, 2]").find("2 numbers of blocks that add up to 4"), std::string::npos);
  EXPECT_NE(line("[4]").find("2 numbers of blocks that add up to 4"), std::string::npos);
  EXPECT_EQ(blocks(R"({"pp": 2, "dp": 1})", R"(, "stages": {"layers": [1, 3]})").programs.size(), 2U);
}

/// Names of the kernels' layers in a program, without repeats.
std::vector<std::string> layers_in(const Program& program) {
  std::vector<std::string> names;
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::kCompute || op.phase != kF || op.microbatch > 0) continue;
    const std::string name = op.id.substr(6, op.id.find('.', 6) - 6);  // f.mb0.block0.qkv
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

// The ends may hold the embedding or the head alone; a stage between them needs a block.
TEST(Layouts, PutTheHeadOnTheLastStageEvenWithoutBlocks) {
  const auto staged = [](const char* stages, int pp) {
    return blocks(fmt::format(R"({{"pp": {}, "dp": 1}})", pp),
                  fmt::format(R"(, "stages": {{"layers": {}}})", stages));
  };
  const StepTrace trace = staged("[0, 4, 0]", 3);
  using Names = std::vector<std::string>;
  EXPECT_EQ(layers_in(trace.programs[0]), Names{"embedding"});
  EXPECT_EQ(layers_in(trace.programs[1]), (Names{"block0", "block1", "block2", "block3"}));
  EXPECT_EQ(layers_in(trace.programs[2]), Names{"head"});
  const std::string line = error_of([&] { static_cast<void>(staged("[2, 0, 2]", 3)); });
  EXPECT_NE(line.find("chunk 1 of 3 would have no layer"), std::string::npos) << line;
}

}  // namespace
}  // namespace busbar
