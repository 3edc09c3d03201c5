#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "calibrate/import/measured_json.h"
#include "tests/support/job.h"

namespace busbar {
namespace {

using NcclRun = JobTest;

// Where there is no GPU the program says so, by each way of joining processes; that much is tested anywhere.
bool no_gpu(const Outcome& o) {
  return o.exit_code == 3 && o.err.find("calibrate: CUDA: sees no GPU on ") != std::string::npos;
}

TEST_F(NcclRun, OneProcessMeasuresWhatItsGpusCanDo) {
  const Outcome o = shell(
      "timeout 300 '%BIN/calibrate-nccl' --run nccl -o m.json --sizes 1M,16M --groups all --budget 60s");
  if (no_gpu(o)) GTEST_SKIP() << o.err;
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Measurement m = read_measured_json(JsonDocument::load(path("m.json").string()));
  EXPECT_FALSE(m.tables.empty());
  std::size_t copies = 0, products = 0;
  for (const MeasuredKernel& k : m.kernels) {
    if (k.kind == MeasuredKernelKind::kCopy) ++copies;
    if (k.kind != MeasuredKernelKind::kMatmul) continue;
    ++products;
    // Faster than any GPU of these years would mean that nothing ran: 5 PFLOP/s in bf16.
    const double flops = 2.0 * static_cast<double>(k.shape[0]) * static_cast<double>(k.shape[1]) *
                         static_cast<double>(k.shape[2]);
    EXPECT_LT(flops / k.time.seconds(), 5e15);
  }
  EXPECT_GE(copies, 3U);
  EXPECT_GE(products, 10U);
}

TEST_F(NcclRun, CudaGraphsMeasureTheSameOperations) {
  const Outcome o = shell(
      "timeout 300 '%BIN/calibrate-nccl' --run nccl --cuda-graph -o m.json --sizes 1M --collective "
      "all_reduce --groups all "
      "--no-kernels");
  if (no_gpu(o)) GTEST_SKIP() << o.err;
  ASSERT_EQ(o.exit_code, 0) << o.err;
}

TEST_F(NcclRun, ProcessesMeetInAFolder) {
  const Outcome o = shell(
      "mkdir meet; for p in 0 1; do SLURM_PROCID=$p SLURM_NTASKS=2 timeout 120 '%BIN/calibrate-nccl' --run "
      "nccl -o m.json "
      "--rendezvous meet --token word-of-run --sizes 1M --collective all_reduce --timeout 20s & last=$!; "
      "done; wait $last");
  EXPECT_TRUE(o.exit_code == 0 || no_gpu(o) || o.err.find("--gpus-per-process: ") != std::string::npos)
      << o.err;
}

TEST_F(NcclRun, AMeetingNeedsAToken) {
  const Outcome o = shell("'%BIN/calibrate-nccl' --run nccl -o m.json --rendezvous meet --token short");
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("--token: expected a word of at least 8 letters with --rendezvous"), std::string::npos)
      << o.err;
}

}  // namespace
}  // namespace busbar
