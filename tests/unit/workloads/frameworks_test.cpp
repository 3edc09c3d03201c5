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

TEST(Frameworks, HostIsBusyOncePerBlockPassAndMicrobatch) {
  for (const auto& [recompute, forwards] : {std::pair{"none", 1}, std::pair{"full", 2}}) {
    const StepTrace trace = expand(workload_of(text_of("megatron-deepspeed", 1024, recompute)));
    const std::vector<Op> launches = launches_of(trace);
    EXPECT_EQ(launches.size(), 2U * 6 * 4);
    double us = 0;
    for (const Op& op : launches) us += op.work.duration->microseconds();
    const Framework& f = framework_called("megatron-deepspeed");
    EXPECT_NEAR(us, 6 * 4 * (f.block_forward_us * forwards + f.block_backward_us), 1e-6);
  }
}

TEST(Frameworks, UnknownOneIsRefusedByName) {
  EXPECT_EQ(test::error_of([] { workload_of(text_of("megatron", 1024)); }),
            "w.json#/framework: expected pytorch, megatron-core, megatron-deepspeed or nanotron, got 'megatron'");
}

TEST(Frameworks, LaunchesSurviveATraceFile) {
  const StepTrace trace = expand(workload_of(text_of("megatron-deepspeed", 1024)));
  const StepTrace again = test::trace_of(write_trace(trace));
  EXPECT_EQ(launches_of(again).size(), launches_of(trace).size());
  const StepTrace fast = expand(workload_of(text_of("megatron-core", 1024)));
  EXPECT_EQ(test::trace_of(write_trace(fast)).kernel_share, 0.84);
}

}  // namespace
}  // namespace busbar
