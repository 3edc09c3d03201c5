// Blocks with experts: what a rank dispatches, computes and combines.
#include <gtest/gtest.h>

#include "model_helpers.h"

namespace busbar {
namespace {

using test::communication_of;
using test::even_experts;
using test::flops_of;
using test::model_of;
using test::order_of;
using test::sizes_of;
using test::work_of;
using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

constexpr LayerBatch kBatch{.micro = 2, .sequence = 32, .compute = DataType::kBf16};
constexpr std::int64_t kRow = 64 * 2;       // bytes of hidden elements
constexpr std::int64_t kRows = 2 * 32 * 2;  // tokens x top_k
constexpr double kOneMatrix = 2.0 * kRows * 64 * 32;

Layer block(const LayerCut& cut, const TransformerDims& dims = even_experts()) {
  return layers_of(model_of(dims), kBatch, cut)[1];
}

TEST(Experts, DispatchComputeAndCombineARankThatSendsAsMuchAsItReceives) {
  const Layer layer = block({.ep = 4});
  EXPECT_EQ(order_of(layer.forward),
            (Names{"qkv", "attention", "out", "router", "[dispatch 16384]", "experts.gate", "experts.up",
                   "experts.down", "[combine 16384]", "elementwise"}));
  EXPECT_EQ(order_of(layer.backward),
            (Names{"elementwise", "[combine.grad 16384]", "experts.down.dgrad", "experts.down.wgrad",
                   "experts.up.dgrad", "experts.up.wgrad", "experts.gate.dgrad", "experts.gate.wgrad",
                   "[dispatch.grad 16384]", "router.dgrad", "router.wgrad", "out.dgrad", "out.wgrad",
                   "attention", "qkv.dgrad", "qkv.wgrad"}));
  EXPECT_EQ(sizes_of(layer.forward, LayerExchange::kExpertAllToAll), Sizes(2, kRows * kRow));
}

TEST(Experts, RunTheirMatricesGrouped) {
  // 128 rows through 8 / 4 local experts of 64 x 32: rows and results once, each matrix once.
  const KernelWork up = work_of(block({.ep = 4}).forward, "experts.up");
  EXPECT_EQ(up.flops, kOneMatrix);
  EXPECT_EQ(up.bytes, 2.0 * (kRows * (64 + 32) + 2 * 64 * 32));
  EXPECT_EQ(work_of(block({.ep = 4}).backward, "experts.down.wgrad").flops, kOneMatrix);
  EXPECT_EQ(work_of(block({.ep = 4}).forward, "router").flops, 2.0 * 64 * 64 * 8);
}

TEST(Experts, HoldTheirShareOfTheMatrices) {
  const Layer whole = block({}), share = block({.ep = 4});
  EXPECT_EQ(whole.expert_elements(), 8 * 3 * 64 * 32);
  EXPECT_EQ(share.expert_elements(), whole.expert_elements() / 4);
  EXPECT_EQ(share.elements(), whole.elements());
  EXPECT_EQ(whole.elements(), 4 * 64 * 64 + 64 * 8 + 2 * 64);
  EXPECT_EQ(share.expert_tensors[0].name, "block0.experts.gate");
}

TEST(Experts, DispatchAShardOfTheTokensUnderSequenceParallelism) {
  const Layer layer = block({.tp = 4, .ep = 4, .sequence_parallel = true});
  EXPECT_EQ(communication_of(layer.forward, "dispatch").bytes.count(), kRows / 4 * kRow);
  EXPECT_EQ(work_of(layer.forward, "experts.up").flops, kOneMatrix / 4);
  EXPECT_EQ(work_of(layer.forward, "router").matmul->m, 16);
  EXPECT_TRUE(sizes_of(layer.forward, LayerExchange::kExpertGather).empty());
}

TEST(Experts, DispatchTheSameTokensOnEachTensorRankOtherwise) {
  const Layer layer = block({.tp = 4, .ep = 4});
  EXPECT_EQ(communication_of(layer.forward, "dispatch").bytes.count(), kRows * kRow);
  EXPECT_EQ(work_of(layer.forward, "experts.up").flops, kOneMatrix);
  EXPECT_TRUE(sizes_of(layer.forward, LayerExchange::kExpertAllReduce).empty());
}

TEST(Experts, CutByTensorRanksSumLikeAnMlp) {
  const Layer layer = block({.tp = 4, .ep = 2, .etp = 4});
  EXPECT_EQ(work_of(layer.forward, "experts.up").flops, kOneMatrix / 4);
  EXPECT_EQ(sizes_of(layer.forward, LayerExchange::kExpertAllReduce), Sizes{64 * kRow});
  EXPECT_EQ(sizes_of(layer.backward, LayerExchange::kExpertAllReduce), Sizes{64 * kRow});
  const Names forward = order_of(layer.forward);
  EXPECT_EQ(forward[forward.size() - 2], "[experts.rows.reduce 8192]");
  EXPECT_EQ(layer.expert_elements(), 8 / 2 * 3 * 64 * 32 / 4);
}

TEST(Experts, CutByTensorRanksGatherTheirRowsUnderSequenceParallelism) {
  const Layer layer = block({.tp = 4, .ep = 2, .etp = 2, .sequence_parallel = true});
  // A rank sends 128 / 4 rows; the two ranks of an expert compute on both their rows, half of the width each.
  const Names forward = order_of(layer.forward);
  EXPECT_EQ((Names{forward.begin() + 5, forward.end()}),
            (Names{"router", "[dispatch 4096]", "[experts.rows.gather 8192]", "experts.gate", "experts.up",
                   "experts.down", "[experts.rows.reduce 8192]", "[combine 4096]", "elementwise"}));
  EXPECT_EQ(work_of(layer.forward, "experts.up").flops, kOneMatrix / 4);
  EXPECT_EQ(communication_of(layer.forward, "experts.rows.reduce").exchange, LayerExchange::kExpertScatter);
  EXPECT_EQ(communication_of(layer.backward, "experts.rows.grad_gather").exchange,
            LayerExchange::kExpertGather);
  EXPECT_EQ(communication_of(layer.backward, "experts.rows.grad_reduce").exchange,
            LayerExchange::kExpertScatter);
  EXPECT_EQ(communication_of(layer.forward, "dispatch").needed_by, "");
}

TEST(Experts, PadByTheCapacityFactor) {
  const Layer layer = block({.ep = 4, .capacity_factor = 1.25});
  EXPECT_EQ(communication_of(layer.forward, "dispatch").bytes.count(), 160 * kRow);
  EXPECT_EQ(work_of(layer.forward, "experts.up").flops, 1.25 * kOneMatrix);
}

TEST(SharedExperts, RunWhileRowsAreDispatched) {
  TransformerDims dims = even_experts();
  dims.experts->shared = 2;  // one MLP of 2 x 32
  const Layer layer = block({.tp = 2, .ep = 4}, dims);
  const Names forward = order_of(layer.forward);
  EXPECT_EQ((Names{forward.begin() + 4, forward.begin() + 10}),
            (Names{"router", "[dispatch 16384]", "shared.gate", "shared.up", "shared.down",
                   "[shared.reduce 8192]"}));
  EXPECT_EQ(communication_of(layer.forward, "dispatch").needed_by, "experts.gate");
  EXPECT_EQ(work_of(layer.forward, "shared.up").matmul->n, 64 / 2);
}

TEST(Experts, ReplaceTheMlpOfSomeBlocks) {
  TransformerDims dims = even_experts();
  dims.layers = 5;
  dims.experts->dense_layers = 1;
  dims.experts->every = 2;
  std::string kinds;
  for (const Layer& layer : layers_of(model_of(dims), kBatch, {}))
    if (layer.is_block) kinds += layer.expert_tensors.empty() ? 'd' : 'e';
  EXPECT_EQ(kinds, "deded");
}

TEST(Experts, ShareTheWorkOfTheWholeModelEvenly) {
  // Under sequence parallelism every rank has a quarter of the tokens, and as many rows come as go.
  const Layer whole = block({});
  for (const std::int64_t etp : {1, 2, 4}) {
    const Layer share = block({.tp = 4, .ep = 2, .etp = etp, .sequence_parallel = true});
    EXPECT_EQ(4 * flops_of(share.forward), flops_of(whole.forward)) << etp;
    EXPECT_EQ(4 * flops_of(share.backward), flops_of(whole.backward)) << etp;
  }
}

}  // namespace
}  // namespace busbar
