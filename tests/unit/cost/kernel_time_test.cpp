#include "sim/cost/kernel_time.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/cost/cost_model.h"

namespace busbar {
namespace {

constexpr double kPeak = 989e12;
constexpr KernelChip kH100 = {.flops = kPeak, .memory_Bps = 3.35e12, .sms = 132};
constexpr KernelChip kH100Fp8 = {.flops = 2 * kPeak, .memory_Bps = 3.35e12, .sms = 132};

const KernelModel& h100() { return kernel_model_of("H100-SXM5-80GB"); }

double alone(const KernelDemand& d) { return std::max(d.sm_s, d.memory_s); }

double matmul_s(std::int64_t m, std::int64_t n, std::int64_t k) {
  return alone(matmul_demand({.m = m, .n = n, .k = k}, DataType::kBf16, kH100, h100()));
}

double flops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

double attention_s(const AttentionShape& shape) {
  return alone(attention_demand(shape, DataType::kBf16, kH100, h100()));
}

constexpr AttentionShape kLong = {
    .batch = 4, .sequence = 16384, .heads = 32, .kv_heads = 32, .head_dim = 128, .causal = true};

TEST(KernelTime, AHugeMatmulSustainsItsCeilingUnderThePowerLimit) {
  const TileRates& rates = h100().matmul.rates;
  const double reached = flops(65536, 65536, 65536) / matmul_s(65536, 65536, 65536) / kPeak;
  EXPECT_NEAR(reached, rates.ceiling / (1 + rates.throttle), 0.01);
  EXPECT_NEAR(reached, plain_efficiency(DataType::kBf16, h100()), 0.01);
}

TEST(KernelTime, DoublingKDoublesALargeMatmul) {
  EXPECT_NEAR(matmul_s(16384, 16384, 32768) / matmul_s(16384, 16384, 16384), 2, 0.03);
}

TEST(KernelTime, ATinyMatmulCostsItsFloor) {
  const double floor = 1e-6 * h100().matmul.floor_us;
  EXPECT_GT(matmul_s(64, 64, 64), floor);
  EXPECT_LT(matmul_s(64, 64, 64), 1.5 * floor);
}

// 108 SMs of an A100: 9 x 12 full tiles fill them once; 10 x 12 need most of a second wave, or smaller tiles
// (k is too short to be split).
TEST(KernelTime, MoreTilesThanSmsStartAWave) {
  constexpr KernelChip kA100 = {.flops = 312e12, .memory_Bps = 2.04e12, .sms = 108};
  const auto seconds = [&](std::int64_t rows) {
    return alone(matmul_demand({.m = rows * 256, .n = 12 * 128, .k = 500}, DataType::kBf16, kA100,
                               kernel_model_of("A100-SXM4-80GB")));
  };
  EXPECT_GT(seconds(10) / seconds(9), 1.3);
  EXPECT_LT(seconds(10) / seconds(9), 2.0);
  EXPECT_NEAR(seconds(9) / seconds(8), 1, 0.02);
}

TEST(KernelTime, NeverBelowTheRoofline) {
  for (const std::int64_t m : {64, 257, 4096, 32768})
    for (const std::int64_t n : {128, 1536, 65536})
      for (const std::int64_t k : {128, 4096, 65536}) {
        EXPECT_GT(matmul_s(m, n, k), flops(m, n, k) / kPeak);
        EXPECT_GT(matmul_s(m, n, k),
                  2.0 * static_cast<double>(n) * static_cast<double>(k) / kH100.memory_Bps);
      }
}

TEST(KernelTime, NoShorterForAShapeThatIsLarger) {
  double last_m = 0, last_n = 0, last_k = 0;
  for (std::int64_t size = 64; size <= 16384; size *= 2) {
    EXPECT_GE(matmul_s(size, 4096, 4096), last_m);
    EXPECT_GE(matmul_s(4096, size, 4096), last_n);
    EXPECT_GE(matmul_s(4096, 4096, size), last_k);
    last_m = matmul_s(size, 4096, 4096);
    last_n = matmul_s(4096, size, 4096);
    last_k = matmul_s(4096, 4096, size);
  }
}

TEST(KernelTime, TheSameTilesTakeTheSameTimeWhereComputeBounds) {
  EXPECT_NEAR(matmul_s(4096 - 30, 8192, 8192) / matmul_s(4096, 8192, 8192), 1, 1e-3);
}

TEST(KernelTime, Fp8IsFasterThanBf16OnceItsPassOverTheActivationsIsSmall) {
  const MatmulShape shape{.m = 8192, .n = 16384, .k = 8192};
  const double fp8 = alone(matmul_demand(shape, DataType::kFp8, kH100Fp8, h100()));
  EXPECT_LT(fp8, 0.8 * matmul_s(8192, 16384, 8192));
  EXPECT_GT(fp8, 0.5 * matmul_s(8192, 16384, 8192));
}

// Of two demands the larger is the time; a product that reads its weights once is bound by HBM.
TEST(KernelTime, AFewRowsAreBoundByMemory) {
  const KernelDemand d = matmul_demand({.m = 16, .n = 16384, .k = 16384}, DataType::kBf16, kH100, h100());
  EXPECT_GT(d.memory_s, d.sm_s);
  EXPECT_NEAR(d.memory_s, 2.0 * 16384 * 16384 / (3.35e12 * h100().matmul.memory), 0.1 * d.memory_s);
}

TEST(KernelTime, LongAttentionSustainsItsCeiling) {
  const AttentionModel& a = h100().attention;
  const double work = 4.0 * 4 * 16384 * 16384 * 32 * 128 / 2;
  const double reached = work / attention_s(kLong) / kPeak;
  EXPECT_LT(reached, a.ceiling / (1 + a.throttle));
  EXPECT_GT(reached, 0.9 * a.ceiling / (1 + a.throttle));
}

TEST(KernelTime, AttentionGrowsWithTheSquareOfTheSequence) {
  AttentionShape twice = kLong;
  twice.sequence *= 2;
  EXPECT_NEAR(attention_s(twice) / attention_s(kLong), 4, 0.15);
}

TEST(KernelTime, AttentionKnowsMasksDirectionAndSharedKeys) {
  AttentionShape full = kLong, backward = kLong, shared = kLong;
  full.causal = false;
  backward.backward = true;
  shared.kv_heads = 4;
  EXPECT_NEAR(attention_s(full) / attention_s(kLong), 2, 0.1);
  EXPECT_NEAR(attention_s(backward) / attention_s(kLong), 2.5 / h100().attention.backward, 0.2);
  EXPECT_LT(attention_s(shared), attention_s(kLong));
}

// One sequence and one head: the longest tile is what remains, whatever the SMs.
// Of a causal sequence cut by cp, each rank's queries see half of all keys: an even share of the whole.
TEST(KernelTime, AttentionOfAShareOfTheQueriesSeesAllKeys) {
  AttentionShape share = kLong;
  share.sequence /= 8;
  share.keys = kLong.sequence;
  for (const bool backward : {false, true}) {
    AttentionShape whole = kLong;
    whole.backward = share.backward = backward;
    EXPECT_NEAR(8 * attention_s(share) / attention_s(whole), 1, 0.05);  // eight last tiles
  }
}

// Forward (d + e) / 2 d, backward (3 d + 2 e) / 5 d of the products.
TEST(KernelTime, AttentionKnowsNarrowerValues) {
  AttentionShape wide = kLong, narrow = kLong;
  wide.head_dim = narrow.head_dim = 192;
  narrow.value_dim = 128;
  EXPECT_NEAR(attention_s(narrow) / attention_s(wide), 320.0 / 384, 0.01);
  wide.backward = narrow.backward = true;
  EXPECT_NEAR(attention_s(narrow) / attention_s(wide), 832.0 / 960, 0.01);
}

// Of 131,072 keys a causal query sees 65,536 on average; in a window of 8,192 it sees 7,936, and half a tile.
TEST(KernelTime, AttentionInAWindowSeesItsKeysAlone) {
  AttentionShape all = kLong;
  all.sequence = 131072;
  AttentionShape window = all;
  window.window = 8192;
  EXPECT_NEAR(attention_s(window) / attention_s(all), (7936.0 + 64) / 65536, 0.01);
  window.window = window.sequence;
  EXPECT_EQ(attention_s(window), attention_s(all));
}

TEST(KernelTime, OneHeadLeavesSmsIdle) {
  const AttentionShape one{.batch = 1, .sequence = 4096, .heads = 1, .kv_heads = 1, .head_dim = 128};
  AttentionShape eight = one;
  eight.heads = eight.kv_heads = 8;
  EXPECT_LT(attention_s(eight), 4 * attention_s(one));
}

TEST(KernelModels, EveryGpuHasOneAndUnknownOnesTheH100s) {
  EXPECT_EQ(kernel_model_of("A100-PCIE-40GB").name, "A100");
  EXPECT_EQ(kernel_model_of("GB200-186GB").name, "GB200");
  EXPECT_EQ(kernel_model_of("GB300-288GB").name, "B300");
  EXPECT_EQ(kernel_model_of("MI250X-GCD-64GB").name, "MI250X");
  EXPECT_EQ(kernel_model_of("Frobnicator").name, "H100");
}

GpuSpeed h100_speed() {
  return {.model = "H100-SXM5-80GB",
          .peak = {{DataType::kBf16, FlopRate::teraflops_per_second(989)}},
          .memory_bandwidth = Bandwidth::gigabytes_per_second(3350),
          .sms = 132};
}

TEST(KernelDemand, OfTheIdealProfileIsTheRoofline) {
  const Profile profile = ideal_profile();
  KernelWork work{.matmul = MatmulShape{.m = 300, .n = 300, .k = 300}};
  resolve_shape(work);
  const KernelDemand d =
      kernel_demand(work, h100_speed(), profile, *generation_of(profile, "H100-SXM5-80GB").generation);
  EXPECT_DOUBLE_EQ(d.sm_s, flops(300, 300, 300) / kPeak);
  EXPECT_DOUBLE_EQ(d.memory_s, 3 * 2 * 300.0 * 300 / 3.35e12);
}

TEST(KernelDemand, TakesTheShapeAndTheShareInsideAStep) {
  const Profile profile = default_profile();
  const Generation& g = *generation_of(profile, "H100-SXM5-80GB").generation;
  KernelWork work{.matmul = MatmulShape{.m = 4096, .n = 4096, .k = 4096}};
  resolve_shape(work);
  EXPECT_DOUBLE_EQ(alone(kernel_demand(work, h100_speed(), profile, g)),
                   matmul_s(4096, 4096, 4096) / g.step_share);
}

TEST(KernelDemand, SlowerAttentionLeavesProductsAlone) {
  const Profile profile = default_profile();
  const Generation& g = *generation_of(profile, "H100-SXM5-80GB").generation;
  Generation slow = g;
  slow.attention_share = 0.5;
  KernelWork product{.matmul = MatmulShape{.m = 4096, .n = 4096, .k = 4096}};
  KernelWork attention{.attention = kLong};
  const auto ratio = [&](const KernelWork& work) {
    return alone(kernel_demand(work, h100_speed(), profile, slow)) /
           alone(kernel_demand(work, h100_speed(), profile, g));
  };
  resolve_shape(product);
  resolve_shape(attention);
  EXPECT_DOUBLE_EQ(ratio(product), 1);
  EXPECT_DOUBLE_EQ(ratio(attention), 2);
}

TEST(KernelDemand, OfFlopsAndBytesAloneIsPlain) {
  const Profile profile = default_profile();
  const Generation& g = *generation_of(profile, "H100-SXM5-80GB").generation;
  const KernelDemand d = kernel_demand({.flops = 1e12, .bytes = 1e9}, h100_speed(), profile, g);
  EXPECT_DOUBLE_EQ(d.sm_s, 1e12 / (kPeak * plain_efficiency(DataType::kBf16, h100()) * g.step_share));
  EXPECT_DOUBLE_EQ(d.memory_s, 1e9 / (3.35e12 * g.memory_efficiency * g.step_share));
}

}  // namespace
}  // namespace busbar
