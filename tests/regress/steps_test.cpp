// Held against published training steps.
#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

struct MeasuredStep {
  std::string name, host, nic;
  int gpus;
  double tokens_per_s_per_gpu;
  double tolerance;
};

void PrintTo(const MeasuredStep& m, std::ostream* out) { *out << m.name; }

// Llama 2 7B, FSDP, sequence 4096, micro batch 2, no recomputation. Source: IBM fms-fsdp README. These two
// rows fix the profile's step_share, one per GPU generation, so the tolerance is that of its three digits.
class FittedSteps : public testing::TestWithParam<MeasuredStep> {};

TEST_P(FittedSteps, ComeBackFromTheProfileFittedToThem) {
  const MeasuredStep& m = GetParam();
  const Topology topology = topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "{}"}}, "fabric": {{"family": "rail-optimized", "nic": "{}"}}}})",
      m.gpus / 8, m.host, m.nic));
  const StepTrace trace = workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "7B", "model": {{"preset": "llama-2-7b"}},
          "batch": {{"sequence": 4096, "micro": 2, "global": {}}}, "parallel": {{"dp": {}, "sharding": "fsdp"}}}})",
      2 * m.gpus, m.gpus));
  const RunResult r = simulate(topology, trace, default_profile(), {});
  EXPECT_NEAR(r.tokens / r.step_time.seconds() / r.ranks, m.tokens_per_s_per_gpu,
              m.tolerance * m.tokens_per_s_per_gpu);
}

INSTANTIATE_TEST_SUITE_P(Published, FittedSteps,
                         testing::Values(MeasuredStep{"A100", "dgx-a100", "200 Gb/s", 128, 4550, 0.02},
                                         MeasuredStep{"H100", "dgx-h100", "400 Gb/s", 96, 9600, 0.02}),
                         [](const auto& m) { return m.param.name; });

}  // namespace
}  // namespace busbar
