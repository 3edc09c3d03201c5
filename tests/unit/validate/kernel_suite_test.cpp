#include "validate/kernel_suite.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace busbar {
namespace {

TEST(KernelTable, KnowsItsGpuAndKindByName) {
  const KernelTable m = read_kernels("dtype,m,n,k,time_us\nfp8,16,32,64,7.5\n", "k/h100-sxm-matmul.csv");
  EXPECT_EQ(m.gpu, "H100-SXM5-80GB");
  EXPECT_EQ(m.kind, "matmul");
  EXPECT_EQ(m.rows.front().shape, (std::vector<std::int64_t>{16, 32, 64}));
  EXPECT_DOUBLE_EQ(m.rows.front().measured_s, 7.5e-6);
  const KernelTable a =
      read_kernels("dtype,batch,sequence,heads,kv_heads,head_dim,time_us\nbfloat16,1,512,4,2,128,24\n",
                   "k/gb200-attention-forward-causal.csv");
  EXPECT_EQ(a.kind, "attention");
  EXPECT_EQ(a.rows.front().shape.size(), 5U);
  EXPECT_EQ(
      error_of([] { (void)read_kernels("x\n1\n", "k/h100-sxm-softmax.csv"); }),
      "k/h100-sxm-softmax.csv: expected a name of a GPU and \"matmul\" or \"attention-forward-causal\", "
      "such as a100-sxm-matmul.csv, got 'h100-sxm-softmax'");
}

TEST(KernelTable, SaysWhatIsOutsideTheModel) {
  EXPECT_EQ(kernel_outside({.type = "bfloat16", .shape = {17, 16, 16}}), "");
  EXPECT_NE(kernel_outside({.type = "fp8", .shape = {17, 16, 16}}), "");
  EXPECT_NE(kernel_outside({.type = "fp8_block", .shape = {16, 16, 16}}), "");
}

// 2 x 4096^3 FLOPs at 989 TFLOP/s take 139 us; 2 x 8 x 4096^2 x 32 x 128 take 1,112 us.
TEST(KernelTable, IsNotBelievedBelowTheTimeOfThePeak) {
  KernelTable t{
      .gpu = "H100-SXM5-80GB", .kind = "matmul", .rows = {{"bfloat16", {4096, 4096, 4096}, 140e-6}}};
  EXPECT_FALSE(beats_its_gpu(t));
  t.rows[0].measured_s = 138e-6;
  EXPECT_TRUE(beats_its_gpu(t));
  t.rows = {{"bfloat16", {8, 4096, 32, 8, 128}, 1113e-6}};
  EXPECT_FALSE(beats_its_gpu(t));
  t.rows[0].measured_s = 1110e-6;
  EXPECT_TRUE(beats_its_gpu(t));
}

}  // namespace
}  // namespace busbar
