// What one rank of a tensor-parallel or context-parallel cut runs and exchanges.
#include <gtest/gtest.h>

#include "model_helpers.h"

namespace busbar {
namespace {

using test::communication_of;
using test::even;
using test::flops_of;
using test::kernel_names;
using test::model_of;
using test::order_of;
using test::sizes_of;
using test::work_of;
using Sizes = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

constexpr LayerBatch kBatch{.micro = 2, .sequence = 32, .compute = DataType::kBf16};
constexpr std::int64_t kTokens = 2 * 32;
constexpr std::int64_t kRow = 64 * 2;             // bytes of hidden elements
constexpr std::int64_t kHidden = kTokens * kRow;  // of all tokens

std::vector<Layer> layers(const LayerCut& cut, const TransformerDims& dims = even()) {
  return layers_of(model_of(dims), kBatch, cut);
}
Layer block(const LayerCut& cut, const TransformerDims& dims = even()) { return layers(cut, dims)[1]; }

constexpr LayerCut kTensor{.tp = 4};
constexpr LayerCut kSequence{.tp = 4, .sequence_parallel = true};

TEST(TensorParallel, ReducesTwiceForwardAndTwiceBackward) {
  const Layer layer = block(kTensor);
  EXPECT_EQ(order_of(layer.forward), (Names{"qkv", "attention", "out", "[attention.reduce 8192]", "gate",
                                            "up", "down", "[mlp.reduce 8192]", "elementwise"}));
  EXPECT_EQ(order_of(layer.backward),
            (Names{"elementwise", "down.dgrad", "down.wgrad", "up.dgrad", "gate.dgrad",
                   "[mlp.grad_reduce 8192]", "up.wgrad", "gate.wgrad", "out.dgrad", "out.wgrad", "attention",
                   "qkv.dgrad", "[attention.grad_reduce 8192]", "qkv.wgrad"}));
  EXPECT_EQ(sizes_of(layer.backward, LayerExchange::kTensorAllReduce), (Sizes{kHidden, kHidden}));
}

TEST(TensorParallel, LetsGradientReductionsRunBesideWeightGradients) {
  const Layer layer = block(kTensor);
  EXPECT_EQ(communication_of(layer.backward, "mlp.grad_reduce").needed_by, "out.dgrad");
  EXPECT_EQ(communication_of(layer.backward, "attention.grad_reduce").needed_by, kLayerEnd);
  EXPECT_EQ(communication_of(layer.forward, "mlp.reduce").needed_by, "");
}

TEST(SequenceParallel, GathersAndScattersAroundEachRegion) {
  const Layer layer = block(kSequence);
  EXPECT_EQ(order_of(layer.forward),
            (Names{"[attention.gather 8192]", "qkv", "attention", "out", "[attention.reduce 8192]",
                   "[mlp.gather 8192]", "gate", "up", "down", "[mlp.reduce 8192]", "elementwise"}));
  EXPECT_EQ(order_of(layer.backward),
            (Names{"elementwise", "[mlp.grad_gather 8192]", "down.dgrad", "down.wgrad", "[mlp.gather 8192]",
                   "up.dgrad", "gate.dgrad", "[mlp.grad_reduce 8192]", "up.wgrad", "gate.wgrad",
                   "[attention.grad_gather 8192]", "out.dgrad", "out.wgrad", "attention",
                   "[attention.gather 8192]", "qkv.dgrad", "[attention.grad_reduce 8192]", "qkv.wgrad"}));
}

TEST(SequenceParallel, GathersFourTimesAndScattersTwiceBackward) {
  const Layer layer = block(kSequence);
  EXPECT_EQ(sizes_of(layer.forward, LayerExchange::kTensorGather), Sizes(2, kHidden));
  EXPECT_EQ(sizes_of(layer.forward, LayerExchange::kTensorScatter), Sizes(2, kHidden));
  EXPECT_EQ(sizes_of(layer.backward, LayerExchange::kTensorGather), Sizes(4, kHidden));
  EXPECT_EQ(sizes_of(layer.backward, LayerExchange::kTensorScatter), Sizes(2, kHidden));
  EXPECT_EQ(communication_of(layer.backward, "mlp.gather").needed_by, "up.wgrad");
  EXPECT_EQ(communication_of(layer.backward, "attention.gather").needed_by, "qkv.wgrad");
}

TEST(SequenceParallel, RunsNormsAndResidualsOnAShardOfTheTokens) {
  // 10 t h outside the regions; 2 t (q + k) and 3 t f inside, on a quarter of the widths.
  constexpr double outside = 10.0 * kHidden, inside = 2.0 * kTokens * (2 * 128 + 3 * 128) / 4;
  EXPECT_EQ(work_of(block(kTensor).forward, "elementwise").bytes, outside + inside);
  EXPECT_EQ(work_of(block(kSequence).forward, "elementwise").bytes, outside / 4 + inside);
}

TEST(TensorParallel, HasVocabularyParallelEnds) {
  const std::vector<Layer> plain = layers(kTensor), sharded = layers(kSequence);
  EXPECT_EQ(order_of(plain[0].forward), (Names{"lookup", "[embedding.reduce 8192]"}));
  EXPECT_EQ(order_of(plain[0].backward), (Names{"lookup"}));
  EXPECT_EQ(order_of(sharded[0].backward), (Names{"[embedding.grad_gather 8192]", "lookup"}));
  EXPECT_EQ(sizes_of(sharded[0].forward, LayerExchange::kTensorScatter), Sizes{kHidden});
  // The loss: three fp32 numbers a token, 64 x 4 bytes each.
  EXPECT_EQ(order_of(sharded[3].forward), (Names{"[head.gather 8192]", "lm_head", "[loss.max 256]",
                                                 "[loss.target 256]", "[loss.sum 256]", "norm_loss"}));
  EXPECT_EQ(communication_of(plain[3].forward, "loss.max").type, DataType::kFp32);
  EXPECT_EQ(order_of(plain[3].backward),
            (Names{"norm_loss", "lm_head.dgrad", "[head.grad_reduce 8192]", "lm_head.wgrad"}));
  EXPECT_EQ(order_of(sharded[3].backward), (Names{"norm_loss", "[head.gather 8192]", "lm_head.dgrad",
                                                  "[head.grad_reduce 8192]", "lm_head.wgrad"}));
}

TEST(TensorParallel, PadsTheVocabulary) {
  TransformerDims dims = even();
  dims.vocab = 1025;
  EXPECT_EQ(padded_vocab(dims, 1), 1025);
  EXPECT_EQ(padded_vocab(dims, 4), 1536);  // 3 x 128 x 4
  EXPECT_EQ(layers(kTensor, dims)[0].tensors[0].elements, 1536 / 4 * 64);
  EXPECT_EQ(work_of(layers(kTensor, dims)[3].forward, "lm_head").matmul->n, 1536 / 4);
  EXPECT_EQ(parameter_count(model_of(dims)), parameter_count(model_of(even())) + 2 * 64);
}

TEST(TensorParallel, SharesTheWorkAndTheMatricesEvenly) {
  const std::vector<Layer> whole = layers({});
  for (const LayerCut& cut :
       {LayerCut{.tp = 2}, LayerCut{.tp = 8}, LayerCut{.tp = 4, .sequence_parallel = true}}) {
    const std::vector<Layer> shares = layers(cut);
    ASSERT_EQ(shares.size(), whole.size());
    const auto tp = static_cast<double>(cut.tp);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(tp * flops_of(shares[i].forward), flops_of(whole[i].forward)) << whole[i].name;
      EXPECT_EQ(tp * flops_of(shares[i].backward), flops_of(whole[i].backward)) << whole[i].name;
      const std::int64_t norms = i == 0 ? 0 : i == 3 ? 64 : 2 * 64;
      EXPECT_EQ(cut.tp * (shares[i].elements() - norms) + norms, whole[i].elements()) << whole[i].name;
    }
  }
}

TEST(TensorParallel, SharesKeyHeadsBetweenRanks) {
  TransformerDims dims = even();
  dims.kv_heads = 2;
  // 8 heads / 4 ranks = 2 query heads of 8, and one of the two key heads, which two ranks both have.
  EXPECT_EQ(work_of(block(kTensor, dims).forward, "qkv").matmul->n, (2 + 2 * 1) * 8);
  EXPECT_EQ(work_of(block(kTensor, dims).forward, "attention").attention->kv_heads, 1);
}

TEST(ParallelBlock, EntersAndLeavesOneRegion) {
  TransformerDims dims = even();
  dims.parallel_block = true;
  dims.gated_mlp = false;
  const Layer layer = block(kSequence, dims);
  EXPECT_EQ(order_of(layer.forward), (Names{"[block.gather 8192]", "qkv", "up", "attention", "out", "down",
                                            "[block.reduce 8192]", "elementwise"}));
  EXPECT_EQ(order_of(layer.backward),
            (Names{"elementwise", "[block.grad_gather 8192]", "down.dgrad", "down.wgrad", "out.dgrad",
                   "out.wgrad", "attention", "[block.gather 8192]", "up.dgrad", "qkv.dgrad",
                   "[block.grad_reduce 8192]", "up.wgrad", "qkv.wgrad"}));
  dims.parallel_norms = true;
  EXPECT_EQ(block({}, dims).elements(), layer.elements() * 4 - 3 * 64 + 64);
}

TEST(Recompute, AddsTheWholeForwardBeforeTheBackward) {
  LayerCut cut = kSequence;
  const Layer kept = block(cut);
  cut.recompute = Recompute::kFull;
  const Layer full = block(cut);
  EXPECT_EQ(order_of(full.forward), order_of(kept.forward));
  Names expected;
  for (const std::string& name : order_of(kept.forward))
    expected.push_back(name.front() == '[' ? "[recompute." + name.substr(1) : "recompute." + name);
  for (const std::string& name : order_of(kept.backward)) expected.push_back(name);
  EXPECT_EQ(order_of(full.backward), expected);
  EXPECT_EQ(flops_of(full.backward), flops_of(kept.forward) + flops_of(kept.backward));
  EXPECT_EQ(order_of(layers(cut)[3].backward), order_of(layers(kSequence)[3].backward));
}

TEST(Recompute, SelectivelyRepeatsTheCoreOfAttention) {
  LayerCut cut{.tp = 4, .cp = 2, .recompute = Recompute::kSelective};
  const Layer layer = block(cut);
  cut.recompute = Recompute::kNone;
  const Layer kept = block(cut);
  EXPECT_EQ(layer.backward.size(), kept.backward.size() + 1);
  EXPECT_EQ(work_of(layer.backward, "recompute.attention").flops, work_of(kept.forward, "attention").flops);
}

TEST(Layers, MarkKernelsThatOnlyMakeWeightGradients) {
  const Layer layer = block({});
  double weights = 0;
  for (const LayerStep& step : layer.backward)
    if (Layer::is_weight_gradient(step.kernel)) weights += step.kernel.work.flops;
  EXPECT_EQ(weights, flops_of(layer.forward) - work_of(layer.forward, "attention").flops);
}

}  // namespace
}  // namespace busbar
