#include "sim/replay/step_figures.h"

#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

/// Blocks of equal time on pp stages, forward 2 ms a stage and backward twice that; messages are empty.
StepTrace piped(std::int64_t stages, std::int64_t microbatches, const std::string& schedule) {
  return workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "pipeline", "batch": {{"global": {}}}, "optimizer": {{"kind": "none"}},
          "model": {{"parameters": [{{"name": "b", "shape": [8], "count": {}, "forward": "2 ms", "backward": "4 ms"}}]}},
          "parallel": {{"pp": {}, "dp": 1, "schedule": "{}"}}}})",
      microbatches, stages, stages, schedule));
}

// 1F1B with m microbatches on p equal stages idles for p - 1 of them: of the step, and of m.
TEST(BubbleFigures, FollowBothDefinitions) {
  const RunResult r = simulate_ideal(star(8, "100 GB/s"), piped(8, 64, "1f1b"));
  EXPECT_NEAR(bubble_of_step(r.split), 7.0 / (64 + 7), 1e-9);
  EXPECT_NEAR(bubble_of_ideal(r.split), 7.0 / 64, 1e-9);
  EXPECT_EQ(bubble_of_step(TimeSplit{}), 0);
  EXPECT_EQ(bubble_of_ideal(TimeSplit{}), 0);
  ASSERT_EQ(r.roles.size(), 8U);
  for (const RoleRecord& role : r.roles) EXPECT_EQ(role.compute, Time::from_seconds(64 * 6e-3));
  EXPECT_DOUBLE_EQ(compute_balance(r.roles).imbalance, 1);
}

std::string two_roles(const std::string& first, const std::string& second) {
  return R"({"schema": "busbar.trace/1", "programs": {
    "light": {"ops": [{"id": "a", "op": "compute", "stream": "main", )" +
         first + R"(}]}, "heavy": {"ops": [{"id": "b", "op": "compute", "stream": "main", )" + second +
         R"(}]}},
    "bindings": [{"ranks": "0-2", "program": "light"}, {"ranks": [3], "program": "heavy"}], "repeat": 2})";
}

// Twice: three ranks of 1 ms and one of 5 ms; the mean is 2 ms, and 5 / 2 = 2.5.
TEST(ComputeBalance, IsTheBusiestRoleOverTheMeanOfAllRanks) {
  const RunResult r = simulate_ideal(star(4, "1 GB/s"),
                                     trace_from(two_roles(R"("duration": "1 ms")", R"("duration": "5 ms")")));
  const ComputeBalance balance = compute_balance(r.roles);
  EXPECT_EQ(r.roles[balance.busiest].program, "heavy");
  EXPECT_DOUBLE_EQ(balance.imbalance, 2.5);
  EXPECT_EQ(r.roles[0].ranks, 3U);
  EXPECT_EQ(r.roles[1].compute, Time::from_seconds(2 * 5e-3));
  EXPECT_EQ(compute_balance({}).imbalance, 1);
}

// 2 passes x (3 ranks x 5e9 + 1 rank x (2 x 64 x 32 x 16)).
TEST(HardwareFlops, AreThoseOfAllKernelsOnAllRanks) {
  EXPECT_DOUBLE_EQ(hardware_flops_of(
                       trace_from(two_roles(R"("flops": 5e9, "bytes": "0 B")", R"("matmul": [64, 32, 16])"))),
                   2 * (3 * 5e9 + 2.0 * 64 * 32 * 16));
}

TEST(HardwareFlops, AreUnknownWhereAKernelIsGivenByItsDuration) {
  EXPECT_EQ(
      hardware_flops_of(trace_from(two_roles(R"("flops": 5e9, "bytes": "0 B")", R"("duration": "1 ms")"))),
      0);
}

double hardware_flops(const char* recompute) {
  return hardware_flops_of(workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "batch": {{"sequence": 128, "micro": 1, "global": 6}}, "recompute": "{}",
          "model": {{"layers": 2, "hidden": 64, "ffn_hidden": 160, "heads": 4, "vocab": 256}},
          "parallel": {{"dp": 2}}}})",
      recompute)));
}

// Per sample: the blocks' matrices have 4 h h + 3 h f parameters, two FLOPs each a token; causal attention 4
// s^2 h / 2 forward, and 2.5 times that backward, as the fused kernel makes the scores again; the head 2 s h
// v. All but attention costs twice its forward in backward. Recomputation repeats attention, or the blocks'
// forward.
TEST(HardwareFlops, CountWhatIsComputedAgain) {
  const double s = 128, h = 64, f = 160, v = 256, layers = 2, samples = 6;
  const double attention = layers * 4 * s * s * h / 2;
  const double blocks = layers * 2 * s * (4 * h * h + 3 * h * f) + attention;
  const double forward = blocks + 2 * s * h * v;
  const double once = 3 * forward + 0.5 * attention;
  EXPECT_NEAR(hardware_flops("none"), samples * once, 1);
  EXPECT_NEAR(hardware_flops("selective"), samples * (once + attention), 1);
  EXPECT_NEAR(hardware_flops("full"), samples * (once + blocks), 1);
}

// Three ranks on two A100 and an H100 of four GPUs: (2 x 312 + 989) / 3.
TEST(Peak, IsTheMeanOfTheRanksGpus) {
  const Topology t = topology_from(R"({"schema": "busbar.topology/1", "hosts": [
    {"count": 1, "type": "dgx-a100", "gpus": 2}, {"count": 1, "type": "dgx-h100", "gpus": 2}],
    "fabric": {"family": "rail-optimized"}})");
  const StepTrace trace = trace_from(R"({"schema": "busbar.trace/1", "programs": {
    "p": {"ops": [{"id": "a", "op": "compute", "stream": "main", "type": "bf16", "matmul": [64, 64, 64]}]}},
    "bindings": [{"ranks": "0-2", "program": "p"}]})");
  EXPECT_DOUBLE_EQ(peak_of(trace, t).value(), (2 * 312e12 + 989e12) / 3);
}

}  // namespace
}  // namespace busbar
