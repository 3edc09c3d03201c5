// The figures that users check first, each derived here. Times under the ideal profile.
#include <gtest/gtest.h>

#include "tests/support/inline.h"
#include "workloads/memory.h"

namespace busbar {
namespace {

// Seven billion parameters as `count` equal tensors of `elements` (bf16), with a backward of `backward_us`
// each.
std::string equal_parameters(std::int64_t count, std::int64_t elements, const std::string& backward,
                             const std::string& parallel, const std::string& more = "") {
  return fmt::format(R"({{"schema": "busbar.workload/1", "name": "equal parameters",
    "model": {{"parameters": [{{"name": "w", "shape": [{}], "count": {}, "forward": "0 s", "backward": "{}"}}]}},
    "batch": {{"micro": 1, "global": 16}}, "parallel": {}, "optimizer": {{"kind": "none"}}{}}})",
                     elements, count, backward, parallel, more);
}

// Bytes that one rank sends for collectives: busbw factor x size, summed.
double sent_per_rank(const StepTrace& trace) {
  double bytes = 0;
  for (const Op& op : trace.programs.front().ops)
    if (op.kind == OpKind::kCollective)
      bytes += op.bytes.as_double() * busbw_factor(op.collective, trace.ranks);
  return bytes;
}

RunResult lone_all_reduce(int gpus, const std::string& bandwidth, const std::string& bytes) {
  return simulate_ideal(
      star(gpus, bandwidth),
      trace_from(one_program(
          gpus,
          fmt::format(R"({{"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "{}"}})",
                      bytes))));
}

// 2 x 7/8 x 14 GB = 24.5 GB per GPU.
TEST(Figures, AllReduceOfSevenBillionParametersOnEightGpus) {
  const RunResult fast = lone_all_reduce(8, "450 GB/s", "14 GB");
  EXPECT_DOUBLE_EQ(fast.links.front().bytes, 24.5e9);
  EXPECT_NEAR(fast.step_time.seconds(), 24.5e9 / 450e9, 1e-9);  // 54.4 ms
  EXPECT_NEAR(lone_all_reduce(8, "50 GB/s", "14 GB").step_time.seconds(), 0.49, 1e-9);
}

TEST(Figures, AllReduceEqualsReduceScatterAndAllGather) {
  const auto lone = [](const std::string& op) {
    return simulate_ideal(
        star(8, "100 GB/s", "3 us"),
        trace_from(one_program(
            8, fmt::format(R"({{"id": "r", "op": "{}", "stream": "dp", "group": "all", "bytes": "800 MB"}})",
                           op))));
  };
  const RunResult whole = lone("all_reduce");
  const RunResult scatter = lone("reduce_scatter");
  const RunResult gather = lone("all_gather");
  EXPECT_EQ(whole.links.front().bytes, scatter.links.front().bytes + gather.links.front().bytes);
  EXPECT_NEAR(whole.step_time.seconds(), (scatter.step_time + gather.step_time).seconds(), 2e-12);
}

// DDP on 16 GPUs: 2 x 15/16 x 14 GB = 26.25 GB; at 40 GB/s 0.656 s.
TEST(Figures, DdpOfSevenBillionParametersOnSixteenGpusWithoutOverlap) {
  const std::string overlap = R"(, "overlap": {"dp": false})";
  const StepTrace trace =
      workload_from(equal_parameters(28, 250000000, "0 s", R"({"dp": 16, "sharding": "none"})", overlap));
  EXPECT_DOUBLE_EQ(sent_per_rank(trace), 26.25e9);
  EXPECT_NEAR(simulate_ideal(star(16, "40 GB/s"), trace).step_time.seconds(), 26.25 / 40, 1e-6);
}

// FSDP gathers twice and scatters once: 3 x 15/16 x 14 GB = 39.375 GB, 1.5 x DDP's; with fp32 reductions
// (2 + 2) x 15/16 x 14 GB = 52.5 GB.
TEST(Figures, FsdpMovesOneAndAHalfTimesTheBytesOfDdp) {
  const std::string parallel = R"({"dp": 16, "sharding": "fsdp"})";
  EXPECT_DOUBLE_EQ(sent_per_rank(workload_from(equal_parameters(28, 250000000, "0 s", parallel))), 39.375e9);
  EXPECT_DOUBLE_EQ(sent_per_rank(workload_from(equal_parameters(28, 250000000, "0 s", parallel,
                                                                R"(, "precision": {"reduce": "fp32"})"))),
                   52.5e9);
}

// 534 tensors of 25 MiB (14 GB), backward 1.5 s in all: 2.809 ms each, while a bucket takes 1.875 x 26.2144
// MB / 40 GB/s = 1.2288 ms. Each bucket is hidden but the last, which starts when backward ends.
TEST(Figures, OverlappedDdpExposesAboutOneBucket) {
  const std::string each = "2808.988764 us";  // 1.5 s / 534
  const StepTrace trace =
      workload_from(equal_parameters(534, 13107200, each, R"({"dp": 16, "sharding": "none"})"));
  const RunResult r = simulate_ideal(star(16, "40 GB/s"), trace);
  EXPECT_NEAR(r.split.exposed.seconds(), 1.2288e-3, 1e-6);
  EXPECT_NEAR(r.split.compute.seconds(), 1.5, 1e-6);
  EXPECT_NEAR(r.step_time.seconds(), 1.5012288, 2e-6);
  const StepTrace late = workload_from(equal_parameters(
      534, 13107200, each, R"({"dp": 16, "sharding": "none"})", R"(, "overlap": {"dp": false})"));
  EXPECT_NEAR(simulate_ideal(star(16, "40 GB/s"), late).split.exposed.seconds(), 534 * 1.2288e-3,
              1e-6);  // 0.656 s
}

// llama-2-7b: the embedding's gradient (32000 x 4096 in bf16, 262 MB) is the last to be ready, and its bucket
// is exposed: 1.875 x 262.144 MB / 40 GB/s = 12.288 ms.
TEST(Figures, DdpOfLlamaExposesAtLeastItsEmbedding) {
  const StepTrace trace =
      workload_from(R"({"schema": "busbar.workload/1", "name": "llama", "model": {"preset": "llama-2-7b"},
    "batch": {"sequence": 4096, "micro": 1, "global": 16}, "parallel": {"dp": 16, "sharding": "none"}})");
  const Op* last = nullptr;
  for (const Op& op : trace.programs.front().ops)
    if (op.kind == OpKind::kCollective) last = &op;
  ASSERT_NE(last, nullptr);
  EXPECT_GE(last->bytes, Bytes(262144000));
  const Topology t = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "hosts": {"count": 2, "type": "dgx-h100", "nic": "40 Gb/s"}, "fabric": {"family": "rail-optimized"}})");
  const RunResult r = simulate_ideal(t, trace);  // 8 NICs of 5 GB/s: busbw 40 GB/s
  EXPECT_GE(r.split.exposed.seconds(), 12.288e-3);
  EXPECT_EQ(unaccounted(r.split), Time::zero());
}

// Mixed-precision Adam: 2 + 2 + 12 bytes per parameter. ZeRO-1 shards the 12, ZeRO-2 the gradients too,
// ZeRO-3 all.
TEST(Figures, MemoryOfSevenBillionParametersOnSixtyFourGpus) {
  const auto gigabytes = [](Sharding sharding) {
    return model_states(7000000000, 64, sharding, {}, {}).total().as_double() / 1e9;
  };
  EXPECT_DOUBLE_EQ(gigabytes(Sharding::kNone), 112);
  EXPECT_NEAR(gigabytes(Sharding::kZero1), 4 * 7 + 12 * 7.0 / 64, 1e-6);  // 29.3
  EXPECT_NEAR(gigabytes(Sharding::kZero2), 2 * 7 + 14 * 7.0 / 64, 1e-6);  // 15.5
  EXPECT_NEAR(gigabytes(Sharding::kZero3), 16 * 7.0 / 64, 1e-6);          // 1.75
}

// DDP on 16 hosts of one GPU against one GPU: what does not communicate costs nothing more.
TEST(Figures, OneRankNeverCommunicates) {
  const StepTrace trace =
      workload_from(R"({"schema": "busbar.workload/1", "name": "one", "model": {"preset": "llama-2-7b"},
    "batch": {"sequence": 4096, "micro": 1, "global": 2}, "parallel": {"dp": 1, "sharding": "fsdp"}})");
  EXPECT_EQ(sent_per_rank(trace), 0);
}

// The same step with communication taken out is a lower bound, and compute plus all communication an upper
// bound.
TEST(Figures, OverlapLiesBetweenItsBounds) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
                                       "fabric": {"family": "rail-optimized"}})");
  for (const std::string sharding : {"none", "fsdp"}) {
    const StepTrace trace = workload_from(
        fmt::format(R"({{"schema": "busbar.workload/1", "name": "llama", "model": {{"preset": "llama-2-7b"}},
      "batch": {{"sequence": 4096, "micro": 1, "global": 16}}, "parallel": {{"dp": 16, "sharding": "{}"}}}})",
                    sharding));
    const RunResult r = simulate_ideal(t, trace);
    Time communication;
    for (const CollectiveRecord& c : r.collectives) communication += c.time * c.count;
    EXPECT_GE(r.step_time, r.split.compute);
    EXPECT_LE(r.step_time, r.split.compute + communication);
    EXPECT_EQ(unaccounted(r.split), Time::zero());
  }
}

}  // namespace
}  // namespace busbar
