#include "workloads/model_spec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model_helpers.h"
#include "workload_helpers.h"

namespace busbar {
namespace {

using test::flops_of;
using test::kernel_names;
using test::model_of;
using test::small;
using test::work_of;

std::vector<Layer> layers(const TransformerDims& dims) {
  return layers_of(model_of(dims), {.micro = 3, .sequence = 8, .compute = DataType::kBf16}, {});
}

TEST(ModelPresets, EachHasHelpASourceAndLayersThatHoldItsParameters) {
  for (const ModelPreset& preset : model_presets()) {
    EXPECT_FALSE(preset.help.empty());
    EXPECT_FALSE(preset.source.empty());
    std::int64_t sum = 0;
    for (const Layer& layer : layers_of(model_of(preset.dims), {.micro = 1, .sequence = 16}, {}))
      sum += layer.elements() + layer.expert_elements();
    EXPECT_EQ(sum, parameter_count(model_of(preset.dims))) << preset.name;
  }
}

TEST(Transformer, HasEmbeddingBlocksAndHead) {
  const std::vector<Layer> list = layers(small());
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].name, "embedding");
  EXPECT_EQ(list[2].name, "block1");
  EXPECT_EQ(list[3].name, "head");
  EXPECT_TRUE(list[1].is_block && list[2].is_block);
  EXPECT_FALSE(list[0].is_block || list[3].is_block);
  EXPECT_EQ(list[0].elements(), 7 * 12);
  EXPECT_EQ(list[3].elements(), 12 + 12 * 7);
}

TEST(Transformer, CountsGroupedHeadsGatesBiasesAndTying) {
  // q and out 12 x 20, k and v 12 x 10, three matrices 12 x 20, two norms.
  constexpr std::int64_t kBlock = 2 * 240 + 2 * 120 + 3 * 240 + 2 * 12;
  TransformerDims dims = small();
  EXPECT_EQ(layers(dims)[1].elements(), kBlock);
  dims.gated_mlp = false;
  EXPECT_EQ(layers(dims)[1].elements(), kBlock - 240);
  dims.gated_mlp = true;
  dims.biases = true;  // q 20, k 10, v 10, out 12, gate 20, up 20, down 12, norms 2 x 12
  EXPECT_EQ(layers(dims)[1].elements(), kBlock + 104 + 24);
  dims.biases = false;
  dims.tied_embeddings = true;
  EXPECT_EQ(layers(dims)[3].elements(), 12);
}

TEST(Transformer, RunsEachMatmulWithItsShape) {
  // t = 3 x 8 = 24 tokens; Y[t, out] = X[t, in] W[in, out].
  const Layer block = layers(small())[1];
  EXPECT_EQ(kernel_names(block.forward),
            (std::vector<std::string>{"qkv", "attention", "out", "gate", "up", "down", "elementwise"}));
  EXPECT_EQ(work_of(block.forward, "qkv").flops, 2.0 * 24 * 12 * 40);
  EXPECT_EQ(work_of(block.forward, "out").flops, 2.0 * 24 * 20 * 12);
  EXPECT_EQ(work_of(block.forward, "down").matmul->k, 20);
  EXPECT_EQ(work_of(block.forward, "attention").flops, 4.0 * 3 * 8 * 8 * 4 * 5 / 2);
}

TEST(Transformer, BackwardRunsEachMatmulTwice) {
  const Layer block = layers(small())[1];
  const MatmulShape data = *work_of(block.backward, "down.dgrad").matmul;
  const MatmulShape weight = *work_of(block.backward, "down.wgrad").matmul;
  // down maps 20 to 12: dX[24, 20] = dY[24, 12] W^T, dW[20, 12] = X^T[20, 24] dY.
  EXPECT_EQ((std::vector{data.m, data.n, data.k}), (std::vector<std::int64_t>{24, 20, 12}));
  EXPECT_EQ((std::vector{weight.m, weight.n, weight.k}), (std::vector<std::int64_t>{20, 12, 24}));
  const double attention = 4.0 * 3 * 8 * 8 * 4 * 5 / 2;
  EXPECT_EQ(flops_of(block.backward) - 2.5 * attention, 2 * (flops_of(block.forward) - attention));
}

TEST(Transformer, MovesActivationsByTheStatedFormula) {
  // 10 t h + 2 t (q + k) + 3 t f elements of 2 bytes; backward twice.
  const Layer block = layers(small())[1];
  constexpr double kBytes = 2.0 * 24 * (10 * 12 + 2 * (20 + 10) + 3 * 20);
  EXPECT_EQ(work_of(block.forward, "elementwise").bytes, kBytes);
  EXPECT_EQ(work_of(block.backward, "elementwise").bytes, 2 * kBytes);
  EXPECT_EQ(work_of(layers(small())[0].forward, "lookup").bytes, 2.0 * 2 * 24 * 12);
}

TEST(Transformer, KeepsActivationsOfEightBitModelsInSixteen) {
  const std::vector<Layer> list =
      layers_of(model_of(small()), {.micro = 3, .sequence = 8, .compute = DataType::kFp8}, {});
  EXPECT_EQ(work_of(list[1].forward, "qkv").type, DataType::kFp8);
  EXPECT_EQ(work_of(list[1].forward, "attention").type, DataType::kBf16);
  EXPECT_EQ(work_of(list[1].forward, "elementwise").bytes,
            work_of(layers(small())[1].forward, "elementwise").bytes);
}

TEST(ParameterList, IsOneLayerPerParameter) {
  ModelSpec model;
  ParameterSpec norm{.name = "root.norm", .shape = {5}};
  ParameterSpec conv{.name = "conv", .shape = {2, 3, 7}};
  conv.forward.duration = Time::from_microseconds(3);
  model.parameters = {norm, conv};
  const std::vector<Layer> list = layers_of(model, {}, {});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_FALSE(list[0].is_block);
  EXPECT_TRUE(list[1].is_block);
  EXPECT_EQ(list[1].elements(), 42);
  EXPECT_EQ(list[1].forward[0].kernel.work.duration, Time::from_microseconds(3));
  EXPECT_EQ(list[1].backward[0].kernel.work.duration, Time::zero());  // not given: no time, not even a launch
  EXPECT_EQ(parameter_count(model), 47);
}

TEST(ParameterCount, RefusesModelsBeyond63Bits) {
  TransformerDims dims = small();
  dims.hidden = std::int64_t{1} << 40;
  dims.ffn_hidden = std::int64_t{1} << 40;
  EXPECT_NE(test::error_of([&] { static_cast<void>(parameter_count(model_of(dims))); }).find("2^63"),
            std::string::npos);
  EXPECT_NE(test::error_of([&] { static_cast<void>(layers(dims)); }).find("2^63"), std::string::npos);
  dims = small();
  dims.layers = kMaxLayers + 1;
  EXPECT_NE(test::error_of([&] { static_cast<void>(layers(dims)); }).find("at most 100000 layers"),
            std::string::npos);
}

}  // namespace
}  // namespace busbar
