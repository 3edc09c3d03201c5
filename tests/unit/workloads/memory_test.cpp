#include "workloads/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "workload_helpers.h"

namespace busbar {
namespace {

/// Mixed-precision Adam: 2 + 2 bytes of parameter and gradient, 4 + 4 + 4 of master copy and moments.
MemoryUse states(Sharding sharding, std::int64_t parameters = 7'000'000'000, std::int64_t ranks = 64) {
  return model_states(parameters, ranks, sharding, {}, {});
}

TEST(ModelStates, MatchTheFiguresOfZero) {
  // In bytes per parameter: 16; 4 + 12/64; 2 + 14/64; 16/64.
  EXPECT_EQ(states(Sharding::kNone).total(), 112_GB);
  EXPECT_EQ(states(Sharding::kZero1).total(), Bytes(29'312'500'000));
  EXPECT_EQ(states(Sharding::kZero2).total(), Bytes(15'531'250'000));
  EXPECT_EQ(states(Sharding::kZero3).total(), Bytes(1'750'000'000));
  EXPECT_EQ(states(Sharding::kFsdp).total(), Bytes(1'750'000'000));
}

TEST(ModelStates, DivideIntoParts) {
  const MemoryUse use = states(Sharding::kZero2);
  EXPECT_EQ(use.parameters, 14_GB);
  EXPECT_EQ(use.gradients, Bytes(14'000'000'000 / 64));
  EXPECT_EQ(use.optimizer, Bytes(84'000'000'000 / 64));
  EXPECT_EQ(use.buffers, 0_B);
}

TEST(ModelStates, RoundSharesUp) {
  // 3 parameters of 2 bytes over 4 ranks: 1.5 bytes each.
  EXPECT_EQ(states(Sharding::kFsdp, 3, 4).parameters, 2_B);
}

TEST(ModelStates, NeedNoMasterCopyInFp32AndNoStateForSgd) {
  const PrecisionSpec fp32{.parameters = DataType::kFp32, .gradients = DataType::kFp32};
  EXPECT_EQ(model_states(10, 1, Sharding::kNone, fp32, {}).total(), Bytes(10 * (4 + 4 + 8)));
  EXPECT_EQ(model_states(10, 1, Sharding::kNone, {}, {.kind = "sgd"}).total(), Bytes(10 * (2 + 2)));
  EXPECT_EQ(model_states(10, 1, Sharding::kNone, {}, {.state = DataType::kBf16}).optimizer,
            Bytes(10 * (4 + 2 + 2)));
}

TEST(ModelStates, RefuseSizesBeyond63Bits) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(test::error_of([] { static_cast<void>(states(Sharding::kNone, kMax)); }).find("2^63"),
            std::string::npos);
  // Each part fits, their sum of 16 bytes per parameter does not.
  EXPECT_NE(test::error_of([] { static_cast<void>(states(Sharding::kNone, kMax / 13)); }).find("2^63"),
            std::string::npos);
}

Workload small_gpt() {
  Workload workload;
  workload.model.transformer = TransformerDims{.layers = 3,
                                               .hidden = 8,
                                               .ffn_hidden = 32,
                                               .heads = 2,
                                               .kv_heads = 2,
                                               .head_dim = 4,
                                               .gated_mlp = false};
  workload.batch = {.sequence = 11, .micro = 7, .global = 7};
  return workload;
}

// GPT: heads x head_dim = h, an ungated MLP of 4 h. Per token and layer 4 h + 2 h + 2 h + 8 h = 16 elements,
// 32 s b h bytes: Korthikanti's 34 without the masks of two dropouts (one byte each).
TEST(ActivationBytes, AreThirtyTwoPerTokenLayerAndHiddenUnitOfAGpt) {
  Workload workload = small_gpt();
  EXPECT_EQ(block_activation_bytes(workload, 0), Bytes(32 * 11 * 7 * 8));
  workload.precision.compute = DataType::kFp32;
  EXPECT_EQ(block_activation_bytes(workload, 0), Bytes(64 * 11 * 7 * 8));
  workload.precision.compute = DataType::kFp8;  // activations stay in 16 bits
  EXPECT_EQ(block_activation_bytes(workload, 0), Bytes(32 * 11 * 7 * 8));
}

// Korthikanti's 5 a s^2 b bytes: softmax's output, the dropped scores, a byte of mask; none where the core
// runs again.
TEST(ActivationBytes, HoldTheScoresOfUnfusedAttention) {
  Workload workload = small_gpt();
  const std::int64_t fused = block_activation_bytes(workload, 0).count();
  workload.attention = AttentionKernels::kUnfused;
  EXPECT_EQ(block_activation_bytes(workload, 0).count() - fused, 5 * 2 * 11 * 11 * 7);
  workload.recompute = Recompute::kSelective;
  EXPECT_EQ(block_activation_bytes(workload, 0).count(), fused);
}

// Grouped queries keep fewer keys and values, a gated MLP three inner tensors, the head its logits: 2 + 4 + 2
// bytes each.
TEST(ActivationBytes, FollowTheModelsOwnDimensions) {
  Workload workload;
  workload.model.transformer = TransformerDims{.layers = 1,
                                               .hidden = 8,
                                               .ffn_hidden = 20,
                                               .heads = 4,
                                               .kv_heads = 1,
                                               .head_dim = 2,
                                               .vocab = 100,
                                               .gated_mlp = true};
  workload.batch = {.sequence = 10, .micro = 1, .global = 1};
  // norms 2 h and projections' inputs 2 h; q and the attention's output 8 each; k and v 2 each; 3 x 20.
  EXPECT_EQ(block_activation_bytes(workload, 0), Bytes(10 * 2 * (4 * 8 + 2 * 8 + 2 * 2 + 3 * 20)));
  EXPECT_EQ(logit_bytes(workload), Bytes(10 * 8 * 100));
}

TEST(ActivationBytes, AreUnknownForAListOfParameters) {
  EXPECT_EQ(block_activation_bytes(Workload{}, 0), 0_B);
  EXPECT_EQ(logit_bytes(Workload{}), 0_B);
}

TEST(StageMemory, HoldsWhatNanotronHolds) {
  // One rank of two, ZeRO-1, one microbatch of t = 7 x 11 tokens in bf16: an ungated block keeps 32 t h
  // bytes, its head 12 bytes a logit.
  Workload workload = small_gpt();
  workload.model.transformer->vocab = 16;
  workload.batch.global = 14;
  workload.framework = &framework_called("nanotron");
  workload.precision.gradients = DataType::kFp32;
  workload.parallel.dp = 2;
  workload.parallel.sharding = Sharding::kZero1;
  const std::vector<Layer> layers = layers_of(
      workload.model, {workload.batch.micro, workload.batch.sequence, DataType::kBf16}, cut_of(workload));
  const MemoryUse use = stage_memory(layers, workload, 0);
  const std::int64_t parameters = use.parameters.count() / 2;
  EXPECT_EQ(use.gradients, Bytes(4 * parameters));
  EXPECT_EQ(use.optimizer, Bytes(12 * parameters / 2));
  const std::int64_t blocks = 3 * block_activation_bytes(workload, 0).count();
  EXPECT_EQ(use.activations, Bytes(blocks + logit_bytes(workload).count()));
  EXPECT_EQ(logit_bytes(workload),
            Bytes(workload.batch.micro * workload.batch.sequence * workload.model.transformer->vocab * 12));
  // The allocator keeps 0.3 of the blocks' more; the flat copy of the gradients, 4 + 4 / (2 x 2) bytes a
  // parameter, costs 0.6 of the smaller of the two and what it exceeds the other by.
  const double allocator = 0.3 * static_cast<double>(blocks);
  const double held = static_cast<double>(use.activations.count()) + std::round(allocator);
  const double copy = 5.0 * static_cast<double>(parameters);
  const double expected = std::round(allocator) + 0.6 * std::min(copy, held) + std::max(copy - held, 0.0);
  EXPECT_NEAR(static_cast<double>(use.buffers.count()), expected, 2);
  workload.parallel.sharding = Sharding::kNone;
  EXPECT_NEAR(static_cast<double>(stage_memory(layers, workload, 0).buffers.count()), allocator, 1);
}

TEST(BlockActivations, KeepTheInputAloneOfBlocksThatSelectiveRecomputationTakesWhole) {
  Workload workload = small_gpt();
  workload.recompute = Recompute::kSelective;
  workload.framework = &framework_called("torchtitan");
  const Bytes input(workload.batch.micro * workload.batch.sequence * 8 * 2);
  EXPECT_EQ(block_activation_bytes(workload, 0), input);
  EXPECT_EQ(block_activation_bytes(workload, 1).count(), 16 * input.count());
  EXPECT_EQ(block_activation_bytes(workload, 2), input);
}

TEST(StageMemory, CountsATiedTableOnBothStagesThatNeedIt) {
  // 16 x 8 elements of 2 + 2 + 12 bytes.
  Workload workload = small_gpt();
  workload.model.transformer->vocab = 16;
  const auto states = [&](bool tied, bool with_embedding) {
    workload.model.transformer->tied_embeddings = tied;
    std::vector<Layer> layers = layers_of(
        workload.model, {workload.batch.micro, workload.batch.sequence, DataType::kBf16}, cut_of(workload));
    if (!with_embedding) layers.erase(layers.begin());
    const MemoryUse use = stage_memory(layers, workload, 0);
    return (use.parameters + use.gradients + use.optimizer).count();
  };
  EXPECT_EQ(states(true, false), states(false, false));
  EXPECT_EQ(states(false, true) - states(true, true), 16 * 8 * 16);
}

}  // namespace
}  // namespace busbar
