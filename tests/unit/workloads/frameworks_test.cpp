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

TEST(Frameworks, IdealHostLaunchesForNothing) {
  EXPECT_EQ(frameworks().front().name, "ideal-host");
  EXPECT_TRUE(launches_of(expand(workload_of(text_of("ideal-host", 1024)))).empty());
}

TEST(Frameworks, HostIsBusyOncePerBlockPassAndMicrobatch) {
  for (const auto& [recompute, forwards] : {std::pair{"none", 1}, std::pair{"full", 2}}) {
    const StepTrace trace = expand(workload_of(text_of("megatron-deepspeed", 1024, recompute)));
    const std::vector<Op> launches = launches_of(trace);
    EXPECT_EQ(launches.size(), 2U * 6 * 4);
    double us = 0;
    for (const Op& op : launches) us += op.work.duration->microseconds();
    const Framework& f = frameworks().back();
    EXPECT_NEAR(us, 6 * 4 * (f.block_forward_us * forwards + f.block_backward_us), 1e-6);
  }
}

TEST(Frameworks, UnknownOneIsRefusedByName) {
  EXPECT_EQ(test::error_of([] { workload_of(text_of("megatron", 1024)); }),
            "w.json#/framework: expected ideal-host or megatron-deepspeed, got 'megatron'");
}

TEST(Frameworks, LaunchesSurviveATraceFile) {
  const StepTrace trace = expand(workload_of(text_of("megatron-deepspeed", 1024)));
  const StepTrace again = test::trace_of(write_trace(trace));
  EXPECT_EQ(launches_of(again).size(), launches_of(trace).size());
}

}  // namespace
}  // namespace busbar
