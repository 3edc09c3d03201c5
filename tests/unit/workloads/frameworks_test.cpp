#include "workloads/frameworks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "workload_helpers.h"
#include "workloads/trace_io.h"

namespace busbar {
namespace {

using test::workload_of;

std::string text_of(std::string_view framework, std::int64_t hidden, std::string_view recompute = "none") {
  return fmt::format(
      R"({{"schema": "busbar.workload/1", "framework": "{}", "recompute": "{}", "parallel": {{"dp": 1}},
          "batch": {{"sequence": 512, "micro": 1, "global": 4}},
          "model": {{"layers": 6, "hidden": {}, "ffn_hidden": {}, "heads": 8, "vocab": 1024}}}})",
      framework, recompute, hidden, 4 * hidden);
}

std::vector<Op> launches_of(const StepTrace& trace) {
  std::vector<Op> found;
  std::ranges::copy_if(trace.programs[0].ops, std::back_inserter(found),
                       [](const Op& op) { return op.kind == OpKind::kHost; });
  return found;
}

TEST(Frameworks, PytorchIsTheDefaultAndLaunchesForNothing) {
  EXPECT_EQ(frameworks().front().name, "pytorch");
  const StepTrace trace = expand(workload_of(text_of("pytorch", 1024)));
  EXPECT_TRUE(launches_of(trace).empty());
  EXPECT_FALSE(trace.kernel_share);
}

TEST(Frameworks, DistributedOptimizerIsMegatronCores) {
  const auto share = [](std::string_view sharding, std::string_view more) {
    return expand(workload_of(fmt::format(
                      R"({{"schema": "busbar.workload/1", {} "parallel": {{"dp": 2, "sharding": "{}"}},
                          "batch": {{"sequence": 64, "global": 2}}, "model": {{"preset": "gpt2"}}}})",
                      more, sharding)))
        .kernel_share;
  };
  EXPECT_EQ(share("distributed", ""), framework_called("megatron-core").kernel_share);
  EXPECT_EQ(share("distributed", R"("framework": "pytorch",)"), std::nullopt);
  EXPECT_EQ(share("zero1", ""), std::nullopt);
}

TEST(Frameworks, HostIsBusyOncePerPassOfABlockAndTheHeadAndMicrobatch) {
  for (const auto& [recompute, forwards] : {std::pair{"none", 1}, std::pair{"full", 2}}) {
    const StepTrace trace = expand(workload_of(text_of("megatron-deepspeed", 1024, recompute)));
    const std::vector<Op> launches = launches_of(trace);
    EXPECT_EQ(launches.size(), 2U * (6 + 1) * 4);
    double us = 0;
    for (const Op& op : launches) us += op.work->duration->microseconds();
    const Framework& f = framework_called("megatron-deepspeed");
    const double blocks = 6 * (f.block_forward_us * forwards + f.block_backward_us);
    EXPECT_NEAR(us, 4 * (blocks + f.head_forward_us + f.head_backward_us), 1e-6);
  }
}

double host_us_of_blocks(const StepTrace& trace, Phase phase) {
  double us = 0;
  for (const Op& op : launches_of(trace))
    if (op.phase == phase && op.id.find(".block") != std::string::npos)
      us += op.work->duration->microseconds();
  return us;
}

TEST(Frameworks, CollectivesMayCostTheHostForEachMember) {
  // Under tp 2 a block has two all-reduces forward and two backward, of two members each.
  const StepTrace trace = expand(workload_of(
      R"({"schema": "busbar.workload/1", "launch": {"forward": "1 ms", "backward": "2 ms", "member": "10 us"},
          "parallel": {"tp": 2, "dp": 1}, "batch": {"sequence": 64, "global": 3},
          "model": {"layers": 5, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocab": 1024}})"));
  EXPECT_NEAR(host_us_of_blocks(trace, Phase::kForward), 5 * 3 * (1000 + 2 * 2 * 10), 1e-6);
  EXPECT_NEAR(host_us_of_blocks(trace, Phase::kBackward), 5 * 3 * (2000 + 2 * 2 * 10), 1e-6);
}

TEST(Frameworks, NanotronEndsItsStepsWithCollectivesOverAllRanks) {
  const StepTrace trace = expand(workload_of(
      R"({"schema": "busbar.workload/1", "framework": "nanotron", "launch": {"member": "10 us"},
          "parallel": {"dp": 4}, "batch": {"sequence": 64, "global": 4},
          "model": {"layers": 2, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocab": 1024}})"));
  const std::vector<Op> launches = launches_of(trace);
  EXPECT_EQ(launches.back().id, "step.launches");
  EXPECT_EQ(launches.back().work->duration,
            Time::from_microseconds(10) * (4 * framework_called("nanotron").step_collectives));
}

TEST(Frameworks, GradientBucketsWaitForTheirLaunch) {
  const StepTrace trace = expand(workload_of(
      R"({"schema": "busbar.workload/1", "launch": {"member": "10 us"}, "parallel": {"dp": 4},
          "batch": {"sequence": 64, "global": 4},
          "model": {"layers": 2, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocab": 1024}})"));
  std::size_t buckets = 0;
  for (const Op& op : trace.programs[0].ops) {
    if (op.kind != OpKind::kCollective) continue;
    ++buckets;
    const auto launch = std::ranges::find_if(op.after, [&](std::uint32_t i) {
      const Op& before = trace.programs[0].ops[i];
      return before.kind == OpKind::kHost && before.work->duration == Time::from_microseconds(4 * 10);
    });
    EXPECT_NE(launch, op.after.end()) << op.id;
  }
  EXPECT_GT(buckets, 0U);
}

std::size_t recomputed_kernels(const StepTrace& trace, std::string_view block) {
  return static_cast<std::size_t>(std::ranges::count_if(trace.programs[0].ops, [&](const Op& op) {
    return op.id.find(block) != std::string::npos && op.id.find("recompute.") != std::string::npos;
  }));
}

TEST(Frameworks, TorchtitanSelectsEverySecondBlock) {
  const StepTrace trace = expand(workload_of(text_of("torchtitan", 64, "selective")));
  EXPECT_GT(recomputed_kernels(trace, ".block0."), 0U);
  EXPECT_EQ(recomputed_kernels(trace, ".block1."), 0U);
  EXPECT_EQ(recomputed_kernels(trace, ".block2."), recomputed_kernels(trace, ".block0."));
  const StepTrace full = expand(workload_of(text_of("torchtitan", 64, "full")));
  EXPECT_EQ(recomputed_kernels(trace, ".block4."), recomputed_kernels(full, ".block4."));
}

TEST(Frameworks, SharesSurviveATraceFile) {
  const StepTrace trace = expand(workload_of(text_of("llm-foundry", 64)));
  const StepTrace again = test::trace_of(write_trace(trace));
  const Framework& f = framework_called("llm-foundry");
  EXPECT_EQ(again.kernel_share, f.kernel_share);
  EXPECT_EQ(again.kernel_shares.at("ampere"), f.ampere_share);
  EXPECT_EQ(again.attention_share, f.attention_share);
  for (const char* generation : {"hopper", "blackwell"})
    EXPECT_EQ(again.attention_shares.at(generation), f.hopper_attention_share);
  EXPECT_TRUE(expand(workload_of(text_of("megatron-core", 64))).attention_shares.empty());
}

StepTrace pipeline_of(std::string_view framework, std::string_view more) {
  return expand(workload_of(fmt::format(
      R"({{"schema": "busbar.workload/1", "framework": "{}", "parallel": {{"tp": 4, "pp": 2, "dp": 1 {}}},
          "batch": {{"sequence": 64, "micro": 1, "global": 3}},
          "model": {{"layers": 2, "hidden": 128, "ffn_hidden": 512, "heads": 8, "vocab": 1024}}}})",
      framework, more)));
}

std::vector<Op> gathers_of(const StepTrace& trace, std::size_t program) {
  std::vector<Op> found;
  std::ranges::copy_if(trace.programs[program].ops, std::back_inserter(found),
                       [](const Op& op) { return op.id.ends_with(".recv.gather"); });
  return found;
}

Bytes sent_bytes(const StepTrace& trace) {
  const auto& ops = trace.programs[0].ops;
  return std::ranges::find_if(ops, [](const Op& op) { return op.kind == OpKind::kSend; })->transfers[0].bytes;
}

TEST(Frameworks, TensorParallelRanksShareAStagesMessage) {
  // 64 tokens of 128 elements of two bytes: 16 KiB; a quarter by each of four ranks, gathered once for each
  // of three microbatches: activations on the second stage, gradients on the first.
  const Bytes whole(64 * 128 * 2);
  const StepTrace parts = pipeline_of("megatron-lm", "");
  EXPECT_EQ(sent_bytes(parts), Bytes(whole.count() / 4));
  for (const std::size_t program : {0U, 1U}) {
    const std::vector<Op> gathers = gathers_of(parts, program);
    ASSERT_EQ(gathers.size(), 3U);
    for (const Op& op : gathers) {
      EXPECT_EQ(op.collective, CollectiveKind::kAllGather);
      EXPECT_EQ(op.bytes, whole);
    }
  }
  EXPECT_EQ(sent_bytes(pipeline_of("pytorch", "")), whole);
  EXPECT_TRUE(gathers_of(pipeline_of("pytorch", ""), 0).empty());
  // Under sequence parallelism a rank holds its part, and keeps it.
  const StepTrace sharded = pipeline_of("megatron-lm", R"(, "sequence_parallel": true)");
  EXPECT_EQ(sent_bytes(sharded), Bytes(whole.count() / 4));
  EXPECT_TRUE(gathers_of(sharded, 1).empty());
}

TEST(Frameworks, KernelsWaitForTheGatheredMessage) {
  const StepTrace trace = pipeline_of("megatron-lm", "");
  const std::vector<Op>& ops = trace.programs[1].ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].id.ends_with(".recv.gather")) continue;
    const bool awaited = std::ranges::any_of(ops, [&](const Op& op) {
      return op.kind == OpKind::kCompute && std::ranges::find(op.after, i) != op.after.end();
    });
    EXPECT_TRUE(awaited) << ops[i].id;
  }
}

// Each of the second stage's three forwards begins with the launches of its first block.
TEST(Frameworks, HostReadsWhatAPartitionedMessageSaysBeforeItLaunches) {
  const auto waiting = [](std::string_view framework) {
    const StepTrace trace = pipeline_of(std::string(framework), "");
    const std::vector<Op>& ops = trace.programs[1].ops;
    return std::ranges::count_if(ops, [&](const Op& op) {
      return op.kind == OpKind::kHost && std::ranges::any_of(op.after, [&](std::uint32_t before) {
               return ops[before].kind == OpKind::kRecv;
             });
    });
  };
  EXPECT_EQ(waiting("megatron-deepspeed"), 3);
  EXPECT_EQ(waiting("megatron-lm"), 0);  // its launches cost nothing
}

TEST(Frameworks, MegatronsMessagesAndGradientsTakeTurnsWithKernelsUnlessToldOtherwise) {
  const auto overlap = [](std::string_view framework, std::string_view more) {
    const Workload w = workload_of(fmt::format(
        R"({{"schema": "busbar.workload/1", "framework": "{}", {} "parallel": {{"dp": 2}},
            "batch": {{"sequence": 64, "global": 2}}, "model": {{"preset": "gpt2"}}}})",
        framework, more));
    return std::pair(w.overlap.dp, w.overlap.pp);
  };
  for (const char* name : {"megatron-lm", "megatron-deepspeed"})
    EXPECT_EQ(overlap(name, ""), std::pair(false, false)) << name;
  EXPECT_EQ(overlap("megatron-lm", R"("overlap": {"dp": true, "pp": true},)"), std::pair(true, true));
  EXPECT_EQ(overlap("megatron-core", ""), std::pair(true, true));
}

double score_bytes(std::string_view framework) {
  double bytes = 0;
  const StepTrace trace = expand(workload_of(fmt::format(
      R"({{"schema": "busbar.workload/1", "framework": "{}", "attention": "unfused", "parallel": {{"dp": 1}},
          "batch": {{"sequence": 64, "global": 1}}, "model": {{"preset": "gpt2"}}}})",
      framework)));
  for (const Op& op : trace.programs[0].ops)
    if (op.id.ends_with(".scores")) bytes += op.work->bytes;
  return bytes;
}

TEST(Frameworks, SeparateMaskAndSoftmaxReadTheScoresMoreOften) {
  const double ratio = score_bytes("aleph-alpha-scaling-torch") / score_bytes("pytorch");
  EXPECT_NEAR(ratio, framework_called("aleph-alpha-scaling-torch").score_traffic, 1e-3);
  EXPECT_GT(ratio, 1);
}

TEST(Frameworks, UnknownOneIsRefusedByName) {
  EXPECT_EQ(test::error_of([] { workload_of(text_of("caffe", 1024)); }),
            "w.json#/framework: expected pytorch, megatron-core, megatron-deepspeed, megatron-lm, nanotron, "
            "torchtitan, torchtitan-eager, llm-foundry, maxtext, aleph-alpha-scaling, "
            "aleph-alpha-scaling-rms, aleph-alpha-scaling-flash1 or aleph-alpha-scaling-torch, got "
            "'caffe'");
}

TEST(Frameworks, LaunchesSurviveATraceFile) {
  const StepTrace trace = expand(workload_of(text_of("megatron-deepspeed", 1024)));
  const StepTrace again = test::trace_of(write_trace(trace));
  EXPECT_EQ(launches_of(again).size(), launches_of(trace).size());
  const StepTrace fast = expand(workload_of(text_of("megatron-core", 1024)));
  EXPECT_EQ(test::trace_of(write_trace(fast)).kernel_share, framework_called("megatron-core").kernel_share);
}

}  // namespace
}  // namespace busbar
