#include "workloads/strategies/fsdp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "workload_helpers.h"
#include "workloads/memory.h"
#include "workloads/trace_io.h"

namespace busbar {
namespace {

using test::ids_on;
using test::op_called;
using test::replay;
using test::Span;
using test::waits_of;
using test::workload_of;
using Ids = std::vector<std::string>;

struct Setting {
  std::int64_t blocks = 3, block_elements = 8, root_elements = 4, microbatches = 1, dp = 4;
  std::string fsdp = "{}";
  std::string more = "";
};

/// Blocks p.0, p.1, ... between the root's first and last parameter.
Workload blocks_workload(const Setting& s) {
  const std::string root = R"({{"name": "root.{}", "shape": [{}], "forward": "1 us", "backward": "1 us"}})";
  const std::string first =
      s.root_elements > 0 ? fmt::format(fmt::runtime(root), "first", s.root_elements) + "," : "";
  const std::string last =
      s.root_elements > 0 ? "," + fmt::format(fmt::runtime(root), "last", s.root_elements) : "";
  const std::string block =
      fmt::format(R"({{"name": "p", "shape": [{}], "forward": "1 us", "backward": "2 us", "count": {}}})",
                  s.block_elements, s.blocks);
  return workload_of(fmt::format(
      R"({{"schema": "busbar.workload/1", "batch": {{"global": {}}}, "parallel": {{"dp": {}, "sharding": "fsdp"}},
          "fsdp": {}, {} "model": {{"parameters": [{}{}{}]}}}})",
      s.microbatches * s.dp, s.dp, s.fsdp, s.more, first, block, last));
}

Program blocks_program(const Setting& setting) { return expand(blocks_workload(setting)).programs[0]; }

/// Bytes that one rank sends: (n - 1)/n of the full buffer for all_gather and reduce_scatter.
double bytes_sent(const StepTrace& trace) {
  double sum = 0;
  for (const Op& op : trace.programs[0].ops)
    if (op.kind == OpKind::kCollective) sum += op.bytes.as_double() * (trace.ranks - 1) / trace.ranks;
  return sum;
}

TEST(Fsdp, SendsOnceAndAHalfOfDdpAndTwiceWithAnFp32Reduction) {
  // 7e9 parameters as 28 blocks on 16 ranks: gathered twice and reduced once, 14 GB x 15/16 each; fp32
  // reduces 28 GB.
  Setting setting{.blocks = 28, .block_elements = 250'000'000, .root_elements = 0, .dp = 16};
  EXPECT_EQ(bytes_sent(expand(blocks_workload(setting))), 3 * 14e9 * 15 / 16);
  EXPECT_EQ(3 * 14e9 * 15 / 16, 39.375e9);
  setting.more = R"("precision": {"reduce": "fp32"},)";
  EXPECT_EQ(bytes_sent(expand(blocks_workload(setting))), 52.5e9);
}

TEST(Fsdp, IssuesGathersAndReduceScattersInOrderOnOneStream) {
  EXPECT_EQ(ids_on(blocks_program({}), "dp"),
            (Ids{"f.mb0.root.gather", "f.mb0.p.0.gather", "f.mb0.p.1.gather", "f.mb0.p.2.gather",  //
                 "b.mb0.p.2.gather", "b.mb0.p.1.gather", "b.mb0.p.2.reduce_scatter", "b.mb0.p.0.gather",
                 "b.mb0.p.1.reduce_scatter", "b.mb0.p.0.reduce_scatter", "b.mb0.root.reduce_scatter"}));
}

TEST(Fsdp, ComputesForwardAndBackwardThenTheOptimizer) {
  EXPECT_EQ(ids_on(blocks_program({}), "compute"),
            (Ids{"f.mb0.root.first.kernel", "f.mb0.p.0.kernel", "f.mb0.p.1.kernel", "f.mb0.p.2.kernel",
                 "f.mb0.root.last.kernel", "b.mb0.root.last.kernel", "b.mb0.p.2.kernel", "b.mb0.p.1.kernel",
                 "b.mb0.p.0.kernel", "b.mb0.root.first.kernel", "optimizer"}));
}

TEST(Fsdp, GathersOneBlockAheadInForward) {
  const Program program = blocks_program({});
  EXPECT_EQ(waits_of(program, "f.mb0.root.gather"), Ids{});
  EXPECT_EQ(waits_of(program, "f.mb0.p.0.gather"), Ids{});
  // Block 1 is gathered when block 0's forward starts, block 2 when block 0's has ended.
  EXPECT_EQ(waits_of(program, "f.mb0.p.1.gather"), Ids{"f.mb0.root.first.kernel"});
  EXPECT_EQ(waits_of(program, "f.mb0.p.2.gather"), Ids{"f.mb0.p.0.kernel"});
  EXPECT_EQ(waits_of(program, "f.mb0.root.first.kernel"), Ids{"f.mb0.root.gather"});
  EXPECT_EQ(waits_of(program, "f.mb0.p.2.kernel"), Ids{"f.mb0.p.2.gather"});
}

TEST(Fsdp, GathersOneBlockAheadInBackwardAndReducesAfterEach) {
  const Program program = blocks_program({});
  EXPECT_EQ(waits_of(program, "b.mb0.p.2.gather"), Ids{"f.mb0.root.last.kernel"});
  EXPECT_EQ(waits_of(program, "b.mb0.p.1.gather"), Ids{"b.mb0.root.last.kernel"});
  EXPECT_EQ(waits_of(program, "b.mb0.p.0.gather"), Ids{"b.mb0.p.2.kernel"});
  EXPECT_EQ(waits_of(program, "b.mb0.p.2.kernel"), Ids{"b.mb0.p.2.gather"});
  EXPECT_EQ(waits_of(program, "b.mb0.p.2.reduce_scatter"), Ids{"b.mb0.p.2.kernel"});
  EXPECT_EQ(waits_of(program, "b.mb0.root.reduce_scatter"), Ids{"b.mb0.root.first.kernel"});
  EXPECT_EQ(waits_of(program, "optimizer"), Ids{"b.mb0.root.reduce_scatter"});
  EXPECT_EQ(op_called(program, "b.mb0.p.2.reduce_scatter").reduction, Reduction::kAvg);
}

TEST(Fsdp, WithoutPrefetchEachGatherWaitsForTheBlockBefore) {
  const Program program = blocks_program({.fsdp = R"({"prefetch": 0})"});
  EXPECT_EQ(waits_of(program, "f.mb0.p.1.gather"), Ids{"f.mb0.p.0.kernel"});
  EXPECT_EQ(waits_of(program, "b.mb0.p.2.gather"), Ids{"b.mb0.root.last.kernel"});
  EXPECT_EQ(waits_of(program, "b.mb0.p.1.gather"), Ids{"b.mb0.p.2.kernel"});
}

/// The most blocks that are gathered at one time: each from the start of its gather to the end of its kernel.
std::size_t most_alive(const Program& program, const std::vector<Span>& spans) {
  std::vector<Span> alive;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const std::string& id = program.ops[i].id;
    if (program.ops[i].collective != CollectiveKind::kAllGather || id.find("root") != std::string::npos)
      continue;
    const std::string kernel = id.substr(0, id.rfind('.')) + ".kernel";
    alive.push_back({spans[i].start, spans[test::index_of(program, kernel)].end});
  }
  std::size_t most = 0;
  for (const Span& at : alive)
    most = std::max(
        most, static_cast<std::size_t>(std::count_if(alive.begin(), alive.end(), [&](const Span& other) {
          return other.start <= at.start && at.start < other.end;
        })));
  return most;
}

std::vector<Span> random_replay(const Program& program, std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> length(1, 100);
  return replay(program, [&](const Op&) { return length(random); });
}

TEST(Fsdp, KeepsAtMostTwoBlocksGatheredWhateverTheTimes) {
  constexpr std::uint64_t kSeed = 20240607;
  std::mt19937_64 random(kSeed);
  for (const std::int64_t root : {0, 4}) {
    const Program ahead = blocks_program({.blocks = 6, .root_elements = root, .microbatches = 3});
    const Program lazy =
        blocks_program({.blocks = 6, .root_elements = root, .microbatches = 3, .fsdp = R"({"prefetch": 0})"});
    std::size_t most = 0;
    for (int trial = 0; trial < 500; ++trial) {
      most = std::max(most, most_alive(ahead, random_replay(ahead, random)));
      EXPECT_EQ(most_alive(lazy, random_replay(lazy, random)), 1U) << "seed " << kSeed << " trial " << trial;
    }
    EXPECT_EQ(most, 2U) << "seed " << kSeed;
  }
}

/// The end of a step whose operations all take 1, the optimizer nothing.
std::int64_t unit_step(const Program& program) {
  std::int64_t last = 0;
  for (const Span& span : replay(program, [](const Op& op) { return op.id == "optimizer" ? 0 : 1; }))
    last = std::max(last, span.end);
  return last;
}

TEST(Fsdp, PrefetchHidesGathersUnderKernels) {
  // With G, F, B, R for gather, forward, backward, reduce-scatter; r for the root; starts at:
  //   stream dp       Gr 0, G0 1, G1 2, G2 3, G2 6, G1 7, R2 8, G0 9 (behind R2), R1 10, R0 11, Rr 12: ends
  //   at 13 stream compute  Fr 1, F0 2, F1 3, F2 4, Fr 5, Br 6, B2 7, B1 8, B0 10, Br 11
  EXPECT_EQ(unit_step(blocks_program({})), 13);
  // Without: Gr Fr G0 F0 G1 F1 G2 F2 Fr Br G2 B2 R2 G1 B1 R1 G0 B0 in turn, then R0 with Br, and Rr.
  EXPECT_EQ(unit_step(blocks_program({.fsdp = R"({"prefetch": 0})"})), 18 + 2);
}

TEST(Fsdp, WithoutReshardingGathersOnce) {
  const StepTrace trace = expand(blocks_workload({.fsdp = R"({"reshard_after_forward": false})"}));
  EXPECT_EQ(ids_on(trace.programs[0], "dp"),
            (Ids{"f.mb0.root.gather", "f.mb0.p.0.gather", "f.mb0.p.1.gather", "f.mb0.p.2.gather",
                 "b.mb0.p.2.reduce_scatter", "b.mb0.p.1.reduce_scatter", "b.mb0.p.0.reduce_scatter",
                 "b.mb0.root.reduce_scatter"}));
  ASSERT_EQ(trace.warnings.size(), 1U);
  EXPECT_NE(trace.warnings[0].text.find("all blocks stay gathered"), std::string::npos);
}

TEST(Fsdp, WrappingOnlyTheRootGathersEverythingOnce) {
  const StepTrace trace = expand(blocks_workload({.fsdp = R"({"wrap": "root"})"}));
  const Program& program = trace.programs[0];
  EXPECT_EQ(ids_on(program, "dp"), (Ids{"f.mb0.root.gather", "b.mb0.root.reduce_scatter"}));
  EXPECT_EQ(op_called(program, "f.mb0.root.gather").bytes, Bytes(2 * (3 * 8 + 2 * 4)));
  EXPECT_EQ(waits_of(program, "b.mb0.root.reduce_scatter"), Ids{"b.mb0.root.first.kernel"});
  ASSERT_EQ(trace.warnings.size(), 1U);
  EXPECT_NE(trace.warnings[0].text.find("wrapping only the root keeps all parameters gathered"),
            std::string::npos);
}

TEST(Fsdp, EveryMicrobatchGathersAndReduces) {
  const Program program = blocks_program({.microbatches = 3});
  EXPECT_EQ(ids_on(program, "dp").size(), 3U * 11);
  EXPECT_EQ(ids_on(program, "dp")[11], "f.mb1.root.gather");
  EXPECT_EQ(ids_on(program, "compute").size(), 3U * 10 + 1);
}

TEST(Fsdp, OneRankDoesNotCommunicate) {
  const StepTrace trace = expand(blocks_workload({.dp = 1}));
  EXPECT_TRUE(trace.groups.empty());
  EXPECT_TRUE(ids_on(trace.programs[0], "dp").empty());
  EXPECT_EQ(trace.programs[0].memory->buffers, 0_B);
}

TEST(Fsdp, WithoutOverlapCommunicationAndComputationTakeTurns) {
  constexpr std::uint64_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  const Program program = blocks_program({.microbatches = 2, .more = R"("overlap": {"dp": false},)"});
  const std::vector<Span> spans = random_replay(program, random);
  std::int64_t sum = 0, last = 0;
  for (const Span& span : spans) {
    sum += span.end - span.start;
    last = std::max(last, span.end);
  }
  EXPECT_EQ(sum, last) << "seed " << kSeed;
}

TEST(Fsdp, PadsUnitsToEqualShards) {
  // 10 and 2 x 3 parameters over 4 ranks: 12 and 8 elements; bf16 gathered, fp32 reduced.
  const Setting setting{
      .block_elements = 10, .root_elements = 3, .more = R"("precision": {"reduce": "fp32"},)"};
  const Program program = blocks_program(setting);
  EXPECT_EQ(op_called(program, "f.mb0.p.0.gather").bytes, Bytes(12 * 2));
  EXPECT_EQ(op_called(program, "b.mb0.p.0.reduce_scatter").bytes, Bytes(12 * 4));
  EXPECT_EQ(op_called(program, "f.mb0.root.gather").bytes, Bytes(8 * 2));
  // The optimizer updates 3 elements of each block and 2 of the root, 28 B each.
  EXPECT_EQ(op_called(program, "optimizer").work->bytes, 28.0 * (3 * 3 + 2));
}

FsdpUnits equal_blocks(std::size_t blocks, std::int64_t elements) {
  FsdpUnit unit;
  unit.gathered = unit.reduced = Bytes(2 * elements);
  return {.root = {}, .blocks = std::vector<FsdpUnit>(blocks, unit), .experts = {}};
}

TEST(FsdpBuffers, HoldTwoBlocksOrAll) {
  // 5e9 parameters in 24 blocks: 0.4167 GB of bf16 weights each, 10 GB together.
  const FsdpUnits units = equal_blocks(24, 5'000'000'000 / 24);
  EXPECT_NEAR(units.blocks[0].gathered.as_double(), 0.4167e9, 0.0001e9);
  EXPECT_EQ(fsdp_buffers(units, {}).gathered_blocks, Bytes(2 * units.blocks[0].gathered.count()));
  EXPECT_EQ(fsdp_buffers(units, {.prefetch = 0}).gathered_blocks, units.blocks[0].gathered);
  EXPECT_NEAR(fsdp_buffers(units, {.reshard_after_forward = false}).gathered_blocks.as_double(), 10e9, 100);
  EXPECT_EQ(fsdp_buffers(units, {}).gradients, Bytes(2 * units.blocks[0].reduced.count()));
}

TEST(FsdpBuffers, CountTheLargestNeighbours) {
  FsdpUnits units = equal_blocks(4, 0);
  for (const auto& [block, bytes] : {std::pair{0U, 9}, {1U, 1}, {2U, 6}, {3U, 5}})
    units.blocks[block].gathered = Bytes(bytes);
  units.root.gathered = 100_B;
  units.root.reduced = 50_B;
  EXPECT_EQ(fsdp_buffers(units, {}).gathered_blocks, 11_B);
  EXPECT_EQ(fsdp_buffers(units, {}).gathered_root, 100_B);
  EXPECT_EQ(fsdp_buffers(units, {}).gradients, 50_B);
}

TEST(Fsdp, MemoryIsAShardAndTheBuffers) {
  // 32 elements over 4 ranks: 16/4 B each; gathered root 16 B and two blocks 32 B, their gradients in bf16
  // the same.
  const MemoryUse memory = *blocks_program({}).memory;
  EXPECT_EQ(memory.parameters + memory.gradients + memory.optimizer, Bytes(32 * 16 / 4));
  EXPECT_EQ(memory.buffers, Bytes(2 * (16 + 32)));
}

TEST(Fsdp, LlamaHasAUnitPerBlockAndARootWithTheRest) {
  const Workload workload = workload_of(R"({"schema": "busbar.workload/1", "model": {"preset": "llama-2-7b"},
        "batch": {"sequence": 4096, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"}})");
  const FsdpUnits units =
      fsdp_units(layers_of(workload.model, {1, 4096, DataType::kBf16}, {}), workload, {16, 16});
  EXPECT_EQ(units.blocks.size(), 32U);
  EXPECT_EQ(units.blocks[31].name, "block31");
  EXPECT_EQ(units.blocks[0].gathered, Bytes(2 * (4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096)));
  EXPECT_EQ(units.root.gathered, Bytes(2 * (2 * 32000 * 4096 + 4096)));
  const Program program = expand(workload).programs[0];
  EXPECT_EQ(waits_of(program, "f.mb0.block0.qkv"), Ids{"f.mb0.block0.gather"});
  EXPECT_EQ(waits_of(program, "f.mb0.block2.gather"), Ids{"f.mb0.block0.elementwise"});
  EXPECT_EQ(waits_of(program, "b.mb0.block3.reduce_scatter"), Ids{"b.mb0.block3.qkv.wgrad"});
}

TEST(Fsdp, RefusesAUnitOfTwoTypes) {
  const std::string line = test::error_of([] {
    static_cast<void>(expand(workload_of(R"({"schema": "busbar.workload/1", "batch": {"global": 2},
      "parallel": {"dp": 2, "sharding": "fsdp"}, "model": {"parameters": [
        {"name": "root.a", "shape": [5], "type": "fp32"}, {"name": "root.b", "shape": [5]}]}})")));
  });
  EXPECT_NE(line.find("FSDP gathers 'root.b' together with parameters of another type"), std::string::npos)
      << line;
}

}  // namespace
}  // namespace busbar
