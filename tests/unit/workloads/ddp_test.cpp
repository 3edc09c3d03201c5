#include "workloads/strategies/ddp.h"

#include <gtest/gtest.h>

#include <numeric>

#include "workload_helpers.h"
#include "workloads/memory.h"

namespace busbar {
namespace {

using test::ids_on;
using test::op_called;
using test::replay;
using test::Span;
using test::waits_of;
using test::workload_of;

/// Sizes in elements of fp32, in registration order, each in a layer of its own.
std::vector<GradientTensor> fp32(const std::vector<std::int64_t>& elements) {
  std::vector<GradientTensor> gradients;
  for (const std::int64_t n : elements)
    gradients.push_back({gradients.size(), Bytes(4 * n), DataType::kFp32});
  return gradients;
}

std::vector<std::int64_t> sizes_of(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : buckets) sizes.push_back(bucket.bytes.count());
  return sizes;
}

using Sizes = std::vector<std::int64_t>;

TEST(DdpBuckets, FillInReverseAndCloseAtTheCap) {
  // 4-byte elements, first cap 8 B, then 12 B: {10} closes the first; 2 + 1 reach 12 B exactly; 9; the rest
  // stays open.
  const std::vector<Bucket> buckets = ddp_buckets(fp32({1, 1, 9, 1, 2, 10}), {8_B, 12_B});
  EXPECT_EQ(sizes_of(buckets), (Sizes{40, 12, 36, 8}));
  EXPECT_EQ(buckets[1].gradients, (std::vector<std::size_t>{4, 3}));
  EXPECT_EQ(buckets[1].layer, 3U);
  EXPECT_EQ(buckets[3].layer, 0U);
}

/// ResNet-18, fp32: all before layer4 as one parameter, then layer4 and fc in torchvision's order.
TEST(DdpBuckets, MatchPyTorchOnResNet18) {
  const std::vector<std::int64_t> elements = {2782784,  // conv1 ... layer3
                                              1179648, 512, 512, 2359296, 512, 512,
                                              131072,  512, 512,                     // layer4.0
                                              2359296, 512, 512, 2359296, 512, 512,  // layer4.1
                                              512000,  1000};                        // fc
  ASSERT_EQ(std::accumulate(elements.begin(), elements.end(), std::int64_t{0}), 11689512);
  const std::vector<Bucket> buckets = ddp_buckets(fp32(elements), bucket_caps({}));
  // fc passes 1 MiB; layer4.1, the shortcut and conv2 of layer4.0 pass 25 MiB; the rest.
  const std::int64_t second = 4 * (4 * 512 + 2 * 2359296 + 2 * 512 + 131072 + 2 * 512 + 2359296);
  EXPECT_EQ(sizes_of(buckets), (Sizes{4 * 513000, second, 4 * (11689512 - 513000) - second}));
}

TEST(DdpBuckets, NeverMixTypes) {
  std::vector<GradientTensor> gradients = fp32({1, 1, 1, 1});
  gradients[1].type = gradients[3].type = DataType::kBf16;
  const std::vector<Bucket> buckets = ddp_buckets(gradients, {100_B, 100_B});
  ASSERT_EQ(buckets.size(), 2U);
  for (const Bucket& bucket : buckets)
    for (const std::size_t i : bucket.gradients) EXPECT_EQ(gradients[i].type, bucket.type);
}

TEST(DdpBuckets, ASingleCapHoldsForTheFirstToo) {
  EXPECT_EQ(bucket_caps({}).first, 1_MiB);
  EXPECT_EQ(bucket_caps({}).others, 25_MiB);
  EXPECT_EQ(bucket_caps({.bucket_cap = 40_MiB}).first, 40_MiB);
  EXPECT_EQ(bucket_caps({.bucket_cap = 40_MiB, .first_bucket = 2_MiB}).first, 2_MiB);
  EXPECT_EQ(bucket_caps({.first_bucket = 2_MiB}).others, 25_MiB);
}

constexpr const char* kLlama =
    R"({"schema": "busbar.workload/1", "name": "DDP", "model": {"preset": "llama-2-7b"},
  "batch": {"sequence": 4096, "micro": 1, "global": 16}, "parallel": {"dp": 16}})";

TEST(Ddp, BucketsHoldAllGradientsOfLlama) {
  const StepTrace trace = expand(workload_of(kLlama));
  std::int64_t sum = 0;
  for (const Op& op : trace.programs[0].ops)
    if (op.kind == OpKind::kCollective) sum += op.bytes.count();
  EXPECT_EQ(sum, 2 * 6'738'415'616);
}

TEST(Ddp, TheLastBucketOfLlamaIsItsEmbedding) {
  const Program program = expand(workload_of(kLlama)).programs[0];
  const std::string last = ids_on(program, "dp").back();
  EXPECT_EQ(op_called(program, last).bytes, Bytes(2 * 32000 * 4096));
  EXPECT_EQ(waits_of(program, last), (std::vector<std::string>{"b.mb0.embedding.lookup"}));
}

TEST(Ddp, StatesTokensAndModelFlops) {
  const StepTrace trace = expand(workload_of(kLlama));
  const double tokens = 16.0 * 4096;
  EXPECT_EQ(trace.tokens, tokens);
  // 6 x matmul parameters x tokens (all but the embedding and 65 norms), and 3 x 4 b s^2 h L / 2 for
  // attention.
  const double matmul = 6'738'415'616.0 - 32000.0 * 4096 - 65.0 * 4096;
  const double attention = 3 * 4 * 16.0 * 4096 * 4096 * 4096 * 32 / 2;
  EXPECT_DOUBLE_EQ(trace.model_flops, 6 * matmul * tokens + attention);
}

TEST(Ddp, KeepsAReplicaAndABucketCopyOfTheGradients) {
  const MemoryUse memory = *expand(workload_of(kLlama)).programs[0].memory;
  constexpr std::int64_t kParameters = 6'738'415'616;
  EXPECT_EQ(memory.parameters + memory.gradients + memory.optimizer, Bytes(16 * kParameters));
  EXPECT_EQ(memory.buffers, Bytes(2 * kParameters));
  // Per token: 32 layers of 8 h + 3 ffn elements in bf16, and 32,000 logits of 2 + 4 + 2 bytes.
  EXPECT_EQ(memory.activations, Bytes(std::int64_t{4096} * (32 * 2 * (8 * 4096 + 3 * 11008) + 32000 * 8)));
}

/// Three layers of 4 bytes in bf16, one bucket each.
std::string three_layers(const std::string& extra) {
  return R"({"schema": "busbar.workload/1", "model": {"parameters": [
      {"name": "p", "shape": [2], "forward": "1 us", "backward": "2 us", "count": 3}]},
    "ddp": {"bucket_cap": "4 B"}, )" +
         extra + "}";
}

using Ids = std::vector<std::string>;

TEST(Ddp, EachBucketWaitsForTheBackwardThatCompletesIt) {
  const StepTrace trace =
      expand(workload_of(three_layers(R"("batch": {"global": 4}, "parallel": {"dp": 4})")));
  const Program& program = trace.programs[0];
  EXPECT_EQ(ids_on(program, "compute"),
            (Ids{"f.mb0.p.0.kernel", "f.mb0.p.1.kernel", "f.mb0.p.2.kernel", "b.mb0.p.2.kernel",
                 "b.mb0.p.1.kernel", "b.mb0.p.0.kernel", "optimizer"}));
  EXPECT_EQ(ids_on(program, "dp"), (Ids{"bucket0", "bucket1", "bucket2"}));
  EXPECT_EQ(waits_of(program, "bucket0"), Ids{"b.mb0.p.2.kernel"});
  EXPECT_EQ(waits_of(program, "bucket2"), Ids{"b.mb0.p.0.kernel"});
  EXPECT_EQ(waits_of(program, "optimizer"), Ids{"bucket2"});
  EXPECT_EQ(op_called(program, "bucket1").reduction, Reduction::kAvg);
  EXPECT_EQ(expand(trace.groups.at(0).members), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Ddp, AccumulatesWithoutCommunication) {
  const Program program =
      expand(workload_of(three_layers(R"("batch": {"global": 12}, "parallel": {"dp": 4})"))).programs[0];
  EXPECT_EQ(ids_on(program, "compute").size(), 3U * 6 + 1);
  EXPECT_EQ(ids_on(program, "dp"), (Ids{"bucket0", "bucket1", "bucket2"}));
  EXPECT_EQ(waits_of(program, "bucket0"), Ids{"b.mb2.p.2.kernel"});
}

TEST(Ddp, WithoutOverlapEveryBucketWaitsForTheEndOfBackward) {
  const Program program =
      expand(workload_of(
                 three_layers(R"("batch": {"global": 4}, "parallel": {"dp": 4}, "overlap": {"dp": false})")))
          .programs[0];
  for (const char* id : {"bucket0", "bucket1", "bucket2"})
    EXPECT_EQ(waits_of(program, id), Ids{"b.mb0.p.0.kernel"});
}

TEST(Ddp, OneRankDoesNotCommunicate) {
  const StepTrace trace =
      expand(workload_of(three_layers(R"("batch": {"global": 1}, "parallel": {"dp": 1})")));
  EXPECT_TRUE(trace.groups.empty());
  EXPECT_TRUE(ids_on(trace.programs[0], "dp").empty());
  EXPECT_EQ(trace.programs[0].memory->buffers, 0_B);
}

TEST(Ddp, SendsAParametersGradientInItsOwnType) {
  const Program program =
      expand(workload_of(R"({"schema": "busbar.workload/1", "batch": {"global": 2}, "parallel": {"dp": 2},
        "precision": {"reduce": "fp32"}, "model": {"parameters": [
          {"name": "a", "shape": [5], "type": "bf16"}, {"name": "b", "shape": [5]}]}})"))
          .programs[0];
  ASSERT_EQ(ids_on(program, "dp").size(), 2U);
  const std::size_t own = test::index_of(program, "bucket1");  // filled in reverse: b, then a
  EXPECT_EQ(program.ops[own].type, DataType::kBf16);
  EXPECT_EQ(program.ops[own].bytes, 10_B);
  EXPECT_EQ(op_called(program, "bucket0").type, DataType::kFp32);
  EXPECT_EQ(op_called(program, "bucket0").bytes, 20_B);
}

TEST(Ddp, TheOptimizerMovesTwentyEightBytesPerParameter) {
  // AdamW, bf16 with fp32 state: gradient 2, master 8, moments 16, parameter 2. SGD: 2 + 2 + 2.
  const auto optimizer_bytes = [](const char* kind) {
    const std::string extra = R"("batch": {"global": 4}, "parallel": {"dp": 4}, "optimizer": {"kind": ")";
    return op_called(expand(workload_of(three_layers(extra + kind + "\"}"))).programs[0], "optimizer")
        .work->bytes;
  };
  EXPECT_EQ(optimizer_bytes("adamw"), 28.0 * 6);
  EXPECT_EQ(optimizer_bytes("sgd"), 6.0 * 6);
}

/// 14 GB of gradients as 534 parameters of 25 MiB, a backward of 1.5 s, 16 ranks at a busbw of 40 GB/s.
struct Exposure {
  double exposed_s = 0, bytes_sent = 0;
};

Exposure exposure(const std::string& overlap) {
  const Program program =
      expand(workload_of(R"({"schema": "busbar.workload/1", "batch": {"global": 16}, "parallel": {"dp": 16},
        "optimizer": {"kind": "none"}, "overlap": {"dp": )" +
                         overlap + R"(}, "model": {"parameters": [
          {"name": "p", "shape": [13107200], "backward": "2808988764 ps", "count": 534}]}})"))
          .programs[0];
  double sent = 0;
  const std::vector<Span> spans = replay(program, [&](const Op& op) {
    if (op.kind == OpKind::kCompute) return op.work->duration->ps();
    const double bytes = op.bytes.as_double() * 2 * 15 / 16;
    sent += bytes;
    return static_cast<std::int64_t>(bytes / 40e9 * 1e12);
  });
  const std::size_t last_backward = test::index_of(program, "b.mb0.p.0.kernel");
  const std::size_t last_bucket = test::index_of(program, ids_on(program, "dp").back());
  return {static_cast<double>(spans[last_bucket].end - spans[last_backward].end) * 1e-12, sent};
}

TEST(Ddp, ExposesOneBucketOfEqualOnesUnderALongBackward) {
  // 26,214,400 B x 2 x 15/16 / 40 GB/s = 1.2288 ms, less than the 2.8 ms of one layer's backward.
  EXPECT_NEAR(exposure("true").exposed_s, 1.2288e-3, 1e-12);
}

TEST(Ddp, ExposesEverythingWithoutOverlap) {
  const Exposure all = exposure("false");
  const double gradients = 534.0 * 26214400;
  EXPECT_DOUBLE_EQ(all.bytes_sent, gradients * 2 * 15 / 16);
  EXPECT_NEAR(all.exposed_s, gradients * 2 * 15 / 16 / 40e9, 534e-12);  // a picosecond of rounding per bucket
  EXPECT_NEAR(all.exposed_s, 0.656, 0.001);
}

}  // namespace
}  // namespace busbar
