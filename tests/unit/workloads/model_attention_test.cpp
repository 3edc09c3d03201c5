// Attention under context parallelism, in windows, and with latent projections.
#include <gtest/gtest.h>

#include <algorithm>

#include "model_helpers.h"

namespace busbar {
namespace {

using test::communication_of;
using test::even;
using test::even_latent;
using test::flops_of;
using test::model_of;
using test::order_of;
using test::work_of;
using Names = std::vector<std::string>;

constexpr LayerBatch kBatch{.micro = 2, .sequence = 32, .compute = DataType::kBf16};

Layer block(const LayerCut& cut, const TransformerDims& dims = even()) {
  return layers_of(model_of(dims), kBatch, cut)[1];
}

TEST(ContextRing, PassesKeysAndValuesBesideTheCore) {
  TransformerDims dims = even();
  dims.kv_heads = 4;
  const Layer layer = block({.tp = 2, .cp = 4}, dims);
  // 2 x 8 local tokens; 2 of 4 key heads of 8, keys and values, 2 bytes.
  const LayerCommunication& ring = communication_of(layer.forward, "context.ring");
  EXPECT_EQ(ring.exchange, LayerExchange::kContextRing);
  EXPECT_EQ(ring.bytes.count(), 16 * 2 * 8 * 2 * 2);
  EXPECT_EQ(ring.needed_by, "out");
  // Backward also their gradients.
  const LayerCommunication& back = communication_of(layer.backward, "context.grad_ring");
  EXPECT_EQ(back.bytes.count(), 2 * ring.bytes.count());
  EXPECT_EQ(back.needed_by, "qkv.dgrad");
  EXPECT_EQ(order_of(layer.forward)[1], "[context.ring 1024]");
  EXPECT_EQ(order_of(layer.forward)[2], "attention");
}

TEST(ContextGather, GathersBeforeAndScattersAfter) {
  const Layer layer = block({.cp = 4, .context = ContextMethod::kAllGather});
  // All 64 tokens, 8 heads of 8, keys and values, 2 bytes.
  EXPECT_EQ(order_of(layer.forward)[1], "[context.gather 16384]");
  const Names backward = order_of(layer.backward);
  EXPECT_EQ(backward[backward.size() - 4], "attention");
  EXPECT_EQ(backward[backward.size() - 3], "[context.grad_scatter 16384]");
}

TEST(Ulysses, SwapsSequenceForHeadsAroundTheCore) {
  const Layer layer = block({.tp = 2, .cp = 4, .context = ContextMethod::kUlysses});
  // 16 local tokens; q, k and v of 4 heads of 8: 16 x 96 x 2; the output 16 x 32 x 2.
  EXPECT_EQ(order_of(layer.forward),
            (Names{"qkv", "[context.qkv 3072]", "attention", "[context.out 1024]", "out",
                   "[attention.reduce 2048]", "gate", "up", "down", "[mlp.reduce 2048]", "elementwise"}));
  const AttentionShape shape = *work_of(layer.forward, "attention").attention;
  EXPECT_EQ(shape.heads, 1);
  EXPECT_EQ(shape.sequence, 32);
  EXPECT_EQ(communication_of(layer.backward, "context.qkv.grad").bytes.count(), 3072);
  EXPECT_EQ(communication_of(layer.backward, "context.out.grad").bytes.count(), 1024);
}

TEST(UnfusedAttention, PassesAllScoresThroughMemory) {
  const LayerCut cut{.tp = 2, .attention = AttentionKernels::kUnfused};
  const Layer layer = block(cut), fused = block({.tp = 2});
  // 2 samples, 4 of 8 heads, 32 x 32 scores. Forward 6 passes of 2 bytes and a mask; backward 9.
  EXPECT_EQ(work_of(layer.forward, "scores").bytes, 2 * 4 * 32 * 32 * 13);
  EXPECT_EQ(work_of(layer.backward, "scores").bytes, 2 * 4 * 32 * 32 * 19);
  EXPECT_FALSE(work_of(layer.forward, "attention").attention->causal);
  EXPECT_EQ(order_of(fused.forward).size() + 1, order_of(layer.forward).size());
  // What is computed again passes through memory again.
  LayerCut again = cut;
  again.recompute = Recompute::kSelective;
  const auto names = order_of(block(again).backward);
  EXPECT_EQ(std::count(names.begin(), names.end(), "scores"), 1);
  EXPECT_EQ(names.size(), order_of(layer.backward).size() + 2);
}

TEST(ContextParallel, SharesTheWorkEvenlyWithEveryMethod) {
  const Layer whole = block({});
  for (const ContextMethod method :
       {ContextMethod::kRing, ContextMethod::kAllGather, ContextMethod::kUlysses}) {
    const Layer share = block({.cp = 4, .context = method});
    EXPECT_EQ(4 * flops_of(share.forward), flops_of(whole.forward));
    EXPECT_EQ(4 * flops_of(share.backward), flops_of(whole.backward));
    EXPECT_EQ(4 * work_of(share.forward, "elementwise").bytes, work_of(whole.forward, "elementwise").bytes);
    EXPECT_EQ(share.elements(), whole.elements());
  }
}

TEST(Window, LimitsTheKeysThatAQuerySees) {
  TransformerDims dims = even();
  dims.window = 8;
  // Pairs of one sequence: s w - w^2 / 2 = 32 x 8 - 32 = 224 for 512; 4 x 2 samples x 64 elements each.
  EXPECT_EQ(work_of(block({}, dims).forward, "attention").flops, 4.0 * 2 * 224 * 64);
  EXPECT_EQ(4 * work_of(block({.cp = 4}, dims).forward, "attention").flops, 4.0 * 2 * 224 * 64);
  dims.window = 32;
  EXPECT_EQ(work_of(block({}, dims).forward, "attention").flops, 4.0 * 2 * 512 * 64);
}

TEST(LatentAttention, ProjectsThroughItsRanks) {
  const Layer layer = block({}, even_latent());
  EXPECT_EQ(order_of(layer.forward),
            (Names{"q_a", "q_b", "kv_a", "kv_b", "attention", "out", "gate", "up", "down", "elementwise"}));
  EXPECT_EQ(work_of(layer.forward, "q_a").flops, 2.0 * 64 * 64 * 24);
  EXPECT_EQ(work_of(layer.forward, "q_b").flops, 2.0 * 64 * 24 * 8 * 16);
  EXPECT_EQ(work_of(layer.forward, "kv_a").flops, 2.0 * 64 * 64 * (16 + 4));
  EXPECT_EQ(work_of(layer.forward, "kv_b").flops, 2.0 * 64 * 16 * 8 * (12 + 8));
  EXPECT_EQ(work_of(layer.forward, "out").flops, 2.0 * 64 * 8 * 8 * 64);
  // Scores of width 16 and values of width 8 over 32^2 / 2 pairs of 2 samples and 8 heads; backward three
  // products of the first width and two of the second.
  EXPECT_EQ(work_of(layer.forward, "attention").flops, 2.0 * 2 * 512 * 8 * (16 + 8));
  EXPECT_EQ(work_of(layer.backward, "attention").flops, 2.0 * 2 * 512 * 8 * (3 * 16 + 2 * 8));
}

TEST(LatentAttention, ExchangesLatentsInTensorParallelRegions) {
  const Layer plain = block({.tp = 4}, even_latent());
  const Layer sharded = block({.tp = 4, .sequence_parallel = true}, even_latent());
  // 64 tokens of 24 and of 16 + 4 elements.
  EXPECT_EQ(communication_of(sharded.forward, "q_latent.gather").bytes.count(), 64 * 24 * 2);
  EXPECT_EQ(communication_of(sharded.forward, "kv_latent.gather").bytes.count(), 64 * 20 * 2);
  EXPECT_EQ(communication_of(plain.backward, "q_latent.grad_reduce").needed_by, "q_a.dgrad");
  EXPECT_EQ(communication_of(plain.backward, "kv_latent.grad_reduce").needed_by, "kv_a.dgrad");
  // The first projections are whole: all tokens on every rank, or its shard of them.
  EXPECT_EQ(work_of(plain.forward, "q_a").matmul->m, 64);
  EXPECT_EQ(work_of(sharded.forward, "q_a").matmul->m, 16);
  EXPECT_EQ(work_of(sharded.forward, "q_b").matmul->n, 8 / 4 * 16);
}

TEST(LatentAttention, MayProjectQueriesAtOnce) {
  TransformerDims dims = even_latent();
  dims.latent->q_lora_rank = 0;
  const Layer layer = block({.tp = 4, .sequence_parallel = true}, dims);
  EXPECT_EQ(order_of(layer.forward)[0], "[attention.gather 8192]");
  EXPECT_EQ(work_of(layer.forward, "q").matmul->n, 8 / 4 * 16);
}

}  // namespace
}  // namespace busbar
