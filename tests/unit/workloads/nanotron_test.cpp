// What Nanotron and Megatron-DeepSpeed do with gradients, and when their hosts may run ahead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/traffic.h"
#include "workload_helpers.h"
#include "workloads/frameworks.h"

namespace busbar {
namespace {

using test::workload_of;

// Two blocks of nine tensors (q, k, v, out, gate, up, down, two norms), the embedding, the head and its norm:
// 21, each cut over four ranks.
TEST(Frameworks, NanotronCutsTheTensorsOfZero1OneByOne) {
  const auto step_of = [](std::string_view more) {
    return expand(workload_of(fmt::format(
        R"({{"schema": "busbar.workload/1", "parallel": {{"dp": 4, "sharding": "zero1"}},
            "precision": {{"gradients": "fp32"}}, "batch": {{"sequence": 64, "global": 8}},
            "model": {{"layers": 2, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocab": 1024}}, {}}})",
        more)));
  };
  const std::int64_t parameters = 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64) + 2 * 1024 * 64 + 64;
  const auto expect_tensors = [&](const StepTrace& trace, Time copy) {
    const std::vector<Op>& ops = trace.programs[0].ops;
    std::vector<const Op*> sums, gathers;
    for (const Op& op : ops) {
      if (op.kind != OpKind::kCollective) continue;
      (op.collective == CollectiveKind::kAllReduce ? sums : gathers).push_back(&op);
    }
    ASSERT_EQ(sums.size(), 1U);
    ASSERT_EQ(gathers.size(), 1U);
    EXPECT_EQ(sums[0]->bytes, Bytes(4 * parameters));
    EXPECT_EQ(gathers[0]->collective, CollectiveKind::kAllGather);
    EXPECT_EQ(gathers[0]->bytes, Bytes(2 * parameters));
    const auto called = [&](std::string_view id) {
      return std::ranges::find_if(ops, [&](const Op& op) { return op.id == id; });
    };
    EXPECT_EQ(called("parameters.copies.launch")->work->duration, copy * (21 * 4));
    EXPECT_EQ(called("parameters.copies")->work->bytes, 6 * 2 * static_cast<double>(parameters));
    EXPECT_EQ(&*called("parameters.copies"), &ops.back());
  };
  expect_tensors(step_of(R"("framework": "nanotron")"), Time::from_microseconds(5));
  expect_tensors(step_of(R"("optimizer": {"cut": "tensors"}, "launch": {"copy": "7 us"})"),
                 Time::from_microseconds(7));
  for (const char* buckets :
       {R"("framework": "nanotron", "optimizer": {"cut": "buckets"})", R"("framework": "pytorch")"}) {
    const StepTrace trace = step_of(buckets);
    for (const Op& op : trace.programs[0].ops)
      EXPECT_FALSE(op.kind == OpKind::kCollective && op.collective == CollectiveKind::kAllReduce) << op.id;
  }
}

// Eight parameters of 2^20 elements over 8 ranks. The sums are all-reduced: half as much again as a scatter
// and a gather.
TEST(Traffic, OfAShardedOptimizerTensorByTensorIsAnAllReduceAndAGather) {
  const Traffic traffic = traffic_of(expand(workload_of(
      R"({"schema": "busbar.workload/1", "batch": {"global": 24}, "optimizer": {"cut": "tensors"},
          "model": {"parameters": [{"name": "w", "shape": [1048576], "count": 8}]},
          "parallel": {"dp": 8, "sharding": "zero1"}})")));
  EXPECT_EQ(traffic.bytes, 3 * (8.0 * (1 << 20) * 2) * 7 / 8);
  EXPECT_EQ(traffic.ops, 2U);
}

// bf16 gradients are read, and the kept fp32 ones read and written, once a microbatch; once a step these are
// read for their norm, read and written to be clipped, and written as zeros.
TEST(Frameworks, NanotronAddsEachMicrobatchsGradients) {
  const StepTrace trace = expand(workload_of(
      R"({"schema": "busbar.workload/1", "framework": "nanotron", "parallel": {"dp": 1},
          "precision": {"gradients": "fp32"}, "batch": {"sequence": 64, "global": 3},
          "model": {"layers": 2, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocab": 1024}})"));
  const std::int64_t parameters = 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64) + 2 * 1024 * 64 + 64;
  double added = 0, updated = 0;
  for (const Op& op : trace.programs[0].ops) {
    if (op.id.ends_with(".gradients.wgrad")) added += op.work->bytes;
    if (op.id == "optimizer") updated = op.work->bytes;
  }
  EXPECT_EQ(added, 3 * (2 + 4 + 4) * static_cast<double>(parameters));
  // AdamW: gradient, master copy and two moments read and written, the parameter written.
  EXPECT_EQ(updated, ((4 + 2 * 4 + 2 * 2 * 4 + 2) + (4 + 8 + 4)) * static_cast<double>(parameters));
}

// The first launch of each pass waits for the last kernel of the pass before.
TEST(Frameworks, TimersOfMegatronDeepspeedEndEachPass) {
  const StepTrace trace = expand(workload_of(
      R"({"schema": "busbar.workload/1", "framework": "megatron-deepspeed", "parallel": {"dp": 1},
          "batch": {"sequence": 64, "global": 3},
          "model": {"layers": 2, "hidden": 64, "ffn_hidden": 256, "heads": 8, "vocab": 1024}})"));
  const std::vector<Op>& ops = trace.programs[0].ops;
  const auto pass_of = [&](std::uint32_t i) {
    return ops[i].id.substr(0, ops[i].id.find('.', 2));
  };  // "f.mb0"
  std::string pass;
  std::size_t passes = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind != OpKind::kHost) continue;
    if (pass_of(i) == pass || passes++ == 0) {
      EXPECT_TRUE(ops[i].after.empty()) << ops[i].id;
    } else {
      std::uint32_t last = i;  // kernel of the pass before; the embedding's of this one has no launch
      while (ops[last].kind != OpKind::kCompute || pass_of(last) == pass_of(i)) --last;
      EXPECT_EQ(ops[i].after, std::vector<std::uint32_t>{last}) << ops[i].id;
    }
    pass = pass_of(i);
  }
  EXPECT_EQ(passes, 6U);
}

}  // namespace
}  // namespace busbar
