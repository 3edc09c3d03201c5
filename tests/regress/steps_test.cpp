// Held against published training steps.
#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

struct MeasuredStep {
  std::string name, preset, host, nic;
  int gpus;
  std::string recompute, sharding;
  double tokens_per_s_per_gpu;
};

Topology cluster(int hosts, const std::string& type, const std::string& nic) {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "{}"}}, "fabric": {{"family": "rail-optimized", "nic": "{}"}}}})",
      hosts, type, nic));
}

void expect_step(const std::string& name, const Topology& topology, const std::string& workload,
                 double measured_s, double tolerance) {
  const double predicted =
      simulate(topology, workload_from(workload), default_profile(), {}).step_time.seconds();
  fmt::print("{}: {:.2f} s, measured {:.2f} s, {:+.1f} %\n", name, predicted, measured_s,
             100 * (predicted / measured_s - 1));
  EXPECT_NEAR(predicted, measured_s, tolerance * measured_s);
}

void PrintTo(const MeasuredStep& m, std::ostream* out) { *out << m.name; }

// PyTorch's FSDP with torch.compile, sequence 4096, micro batch 2: 7B hybrid-sharded by hosts and without
// recomputation, 70B fully sharded, every second block recomputed. Source: IBM fms-fsdp README. The profile's
// step_share of a generation is fitted to such steps: Ampere's to the first, Hopper's to half of these and
// torchtitan's; what is left between them is the tolerance.
class FittedSteps : public testing::TestWithParam<MeasuredStep> {};

TEST_P(FittedSteps, ComeBackFromTheProfileFittedToThem) {
  const MeasuredStep& m = GetParam();
  const std::string workload = fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "{}", "model": {{"preset": "{}"}}, "framework": "torchtitan",
          "batch": {{"sequence": 4096, "micro": 2, "global": {}}}, "recompute": "{}",
          "parallel": {{"dp": {}, "sharding": {}}}}})",
      m.name, m.preset, 2 * m.gpus, m.recompute, m.gpus, m.sharding);
  expect_step(m.name, cluster(m.gpus / 8, m.host, m.nic), workload, 2 * 4096 / m.tokens_per_s_per_gpu, 0.06);
}

const std::string kHybrid = R"("hsdp", "shard_size": 8)";
const std::string kFully = R"("fsdp")";

// 400 Gb/s per host of A100 and 800 of H100, over eight NICs.
INSTANTIATE_TEST_SUITE_P(
    Published, FittedSteps,
    testing::Values(
        MeasuredStep{"A100_7B", "llama-2-7b", "dgx-a100", "50 Gb/s", 128, "none", kHybrid, 4550},
        MeasuredStep{"H100_7B", "llama-2-7b", "dgx-h100", "100 Gb/s", 96, "none", kHybrid, 9600},
        MeasuredStep{"A100_70B", "llama-2-70b", "dgx-a100", "50 Gb/s", 128, "selective", kFully, 410},
        MeasuredStep{"H100_70B", "llama-2-70b", "dgx-h100", "100 Gb/s", 96, "selective", kFully, 890}),
    [](const auto& m) { return m.param.name; });

struct MegatronStep {
  std::string preset;
  int hosts, pp, virtual_stages, micro, global;
  bool less_recomputed;  // sequence parallelism and selective recomputation, against neither and full
  double step_s;
};

void PrintTo(const MegatronStep& m, std::ostream* out) { *out << m.preset; }

// Nothing is fitted to these. Attention was unfused. Source: Korthikanti et al., Reducing Activation
// Recomputation in Large Transformer Models, 2022, tables 3 and 5; those of 1T, of the same layout, take
// minutes under sanitizers.
class MegatronSteps : public testing::TestWithParam<MegatronStep> {};

TEST_P(MegatronSteps, AreForetold) {
  const MegatronStep& m = GetParam();
  const std::string workload = fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "{}", "model": {{"preset": "{}"}}, "attention": "unfused",
          "batch": {{"sequence": 2048, "micro": {}, "global": {}}}, "recompute": "{}",
          "precision": {{"compute": "fp16", "gradients": "fp32", "reduce": "fp32"}},
          "parallel": {{"tp": 8, "pp": {}, "dp": 1, "virtual_stages": {}, "sequence_parallel": {}}}}})",
      m.preset, m.preset, m.micro, m.global, m.less_recomputed ? "selective" : "full", m.pp, m.virtual_stages,
      m.less_recomputed);
  expect_step(m.preset, cluster(m.hosts, "dgx-a100", "200 Gb/s"), workload, m.step_s, 0.08);
}

INSTANTIATE_TEST_SUITE_P(Published, MegatronSteps,
                         testing::Values(MegatronStep{"megatron-22b", 1, 1, 1, 4, 4, false, 1.42},
                                         MegatronStep{"megatron-22b", 1, 1, 1, 4, 4, true, 1.10},
                                         MegatronStep{"megatron-175b", 8, 8, 3, 1, 64, false, 18.13},
                                         MegatronStep{"megatron-175b", 8, 8, 3, 1, 64, true, 13.75},
                                         MegatronStep{"megatron-530b", 35, 35, 3, 1, 280, true, 37.83}));

struct CoreStep {
  std::string preset;
  int hosts, tp, pp, virtual_stages, cp, dp, global, sequence;
  double step_s;
};

void PrintTo(const CoreStep& m, std::ostream* out) { *out << m.preset; }

// NeMo with Megatron-Core in bf16, one sequence at a time, overlap as it comes. Their median gave the
// framework's share of kernels inside a step. Source: NVIDIA/dgxc-benchmarking.
class MegatronCoreSteps : public testing::TestWithParam<CoreStep> {};

TEST_P(MegatronCoreSteps, AreForetold) {
  const CoreStep& m = GetParam();
  const std::string workload = fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "{}", "model": {{"preset": "{}"}},
          "batch": {{"sequence": {}, "micro": 1, "global": {}}},
          "precision": {{"gradients": "fp32", "reduce": "fp32"}},
          "parallel": {{"tp": {}, "pp": {}, "cp": {}, "dp": {}, "virtual_stages": {}, "sequence_parallel": {},
                        "sharding": "distributed"}}}})",
      m.preset, m.preset, m.sequence, m.global, m.tp, m.pp, m.cp, m.dp, m.virtual_stages, m.tp > 1);
  expect_step(m.preset, cluster(m.hosts, "dgx-h100", "400 Gb/s"), workload, m.step_s, 0.12);
}

INSTANTIATE_TEST_SUITE_P(Published, MegatronCoreSteps,
                         testing::Values(CoreStep{"llama-3.1-8b", 2, 1, 1, 1, 2, 8, 256, 8192, 13.0},
                                         CoreStep{"llama-3.1-70b", 16, 4, 4, 5, 2, 4, 256, 8192, 14.73},
                                         CoreStep{"gpt3-175b", 32, 4, 8, 12, 1, 8, 512, 2048, 8.95}));

}  // namespace
}  // namespace busbar
