#include "sim/base/kernel_shape.h"

#include <gtest/gtest.h>

namespace busbar {
namespace {

// Dimensions are small powers of two and their multiples, so that every expected value is an exact double.
constexpr AttentionShape kAttention = {
    .batch = 2, .sequence = 8, .heads = 4, .kv_heads = 2, .head_dim = 16, .causal = false, .backward = false};

KernelWork resolved(KernelWork work) {
  resolve_shape(work);
  return work;
}

TEST(ResolveShape, CountsEachProductOfAMatmulTwice) {
  const KernelWork work = resolved({.type = DataType::kBf16, .matmul = MatmulShape{.m = 2, .n = 3, .k = 5}});
  EXPECT_EQ(work.flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(work.bytes, 2 * (2 * 5 + 5 * 3 + 2 * 3));  // A, B and C at two bytes
}

TEST(ResolveShape, ScalesTrafficWithTheType) {
  for (const DataType type : {DataType::kFp8, DataType::kBf16, DataType::kFp32, DataType::kInt64}) {
    const KernelWork work = resolved({.type = type, .matmul = MatmulShape{.m = 1, .n = 1, .k = 1}});
    EXPECT_EQ(work.bytes, 3.0 * static_cast<double>(size_of(type))) << name_of(type);
  }
}

TEST(ResolveShape, DoesNotOverflowOnHugeMatmuls) {
  constexpr std::int64_t kSide = std::int64_t{1} << 40;
  const KernelWork work = resolved({.matmul = MatmulShape{.m = kSide, .n = kSide, .k = kSide}});
  EXPECT_EQ(work.flops, 0x1p121);
}

TEST(ResolveShape, AttentionIsTwoMatmulsPerHead) {
  const KernelWork work = resolved({.attention = kAttention});
  const double one_matmul = 2.0 * 8 * 8 * 16;  // s x s x head_dim
  EXPECT_EQ(work.flops, 2 * one_matmul * 2 * 4);
  // q and o have 4 heads, k and v have 2; each is b s head_dim elements of 2 bytes.
  EXPECT_EQ(work.bytes, 2.0 * 2 * 8 * 16 * (4 + 4 + 2 + 2));
}

TEST(ResolveShape, CausalAttentionHalvesFlopsOnly) {
  AttentionShape causal = kAttention;
  causal.causal = true;
  const KernelWork full = resolved({.attention = kAttention});
  const KernelWork half = resolved({.attention = causal});
  EXPECT_EQ(half.flops, full.flops / 2);
  EXPECT_EQ(half.bytes, full.bytes);
}

TEST(ResolveShape, AttentionBackwardIsFiveMatmulsForTwo) {
  AttentionShape backward = kAttention;
  backward.backward = true;
  const KernelWork forward = resolved({.attention = kAttention});
  const KernelWork work = resolved({.attention = backward});
  EXPECT_EQ(work.flops, 2.5 * forward.flops);
  const double one_more_read_of_o = 2.0 * 2 * 8 * 16 * 4;
  EXPECT_EQ(work.bytes, 2 * forward.bytes + one_more_read_of_o);
}

TEST(ResolveShape, AttentionOfAShareOfTheQueriesSeesAllKeys) {
  AttentionShape share = kAttention;  // 8 queries of 32 tokens
  share.keys = 32;
  const KernelWork work = resolved({.attention = share});
  EXPECT_EQ(work.flops, 2 * (2.0 * 8 * 32 * 16) * 2 * 4);
  EXPECT_EQ(work.bytes, 2.0 * 2 * 16 * (8 * (4 + 4) + 32 * (2 + 2)));
  share.causal = true;
  EXPECT_EQ(resolved({.attention = share}).flops, work.flops / 2);
}

TEST(ResolveShape, AttentionInAWindowLeavesOutPairs) {
  AttentionShape window = kAttention;
  window.causal = true;
  const double all = resolved({.attention = window}).flops;
  window.window = 2;  // 8 x 2 - 2^2 / 2 = 14 of 32 pairs
  EXPECT_EQ(resolved({.attention = window}).flops, all * 14 / 32);
  window.window = 8;
  EXPECT_EQ(resolved({.attention = window}).flops, all);
}

TEST(ResolveShape, AttentionMayHaveNarrowerValues) {
  AttentionShape narrow = kAttention;
  narrow.value_dim = 4;
  const double pairs = 2.0 * 8 * 8 * 4;  // batch, queries, keys, heads
  EXPECT_EQ(resolved({.attention = narrow}).flops, 2 * pairs * (16 + 4));
  EXPECT_EQ(resolved({.attention = narrow}).bytes, 2.0 * 2 * 8 * (4 * (16 + 4) + 2 * (16 + 4)));
  narrow.backward = true;  // scores, dq, dk of 16; dp, dv of 4
  EXPECT_EQ(resolved({.attention = narrow}).flops, 2 * pairs * (3 * 16 + 2 * 4));
}

TEST(ResolveShape, LeavesGivenFiguresAloneWithoutAShape) {
  const KernelWork work = resolved({.flops = 12, .bytes = 34});
  EXPECT_EQ(work.flops, 12);
  EXPECT_EQ(work.bytes, 34);
}

}  // namespace
}  // namespace busbar
