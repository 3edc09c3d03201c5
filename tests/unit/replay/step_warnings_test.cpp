#include "sim/replay/step_warnings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/inline.h"

namespace busbar {
namespace {

Topology hosts(int count, const char* nic = "400 Gb/s") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "hosts": {{"count": {}, "type": "dgx-h100", "nic": "{}"}},
          "fabric": {{"family": "{}"}}}})",
      count, nic, count == 1 ? "none" : "rail-optimized"));
}

RunResult llama(int hosts_used, const std::string& parallel, int global, const std::string& more = "") {
  return simulate(hosts(hosts_used),
                  workload_from(fmt::format(
                      R"({{"schema": "busbar.workload/1", "model": {{"preset": "llama-2-7b"}},
          "batch": {{"sequence": 4096, "micro": 1, "global": {}}}, "parallel": {}{}}})",
                      global, parallel, more)),
                  default_profile(), {});
}

const Warning* find(const RunResult& r, const std::string& code) {
  const auto it =
      std::find_if(r.warnings.begin(), r.warnings.end(), [&](const Warning& w) { return w.code == code; });
  return it == r.warnings.end() ? nullptr : &*it;
}

std::string codes(const RunResult& r) {
  std::string list;
  for (const Warning& w : r.warnings) list += w.code + " ";
  return list;
}

bool says(const Warning* warning, const std::string& part) {
  return warning != nullptr && warning->text.find(part) != std::string::npos;
}

std::string percent_of_step(const RunResult& r, const char* kind) {
  return fmt::format("({:.1f} % of the step)",
                     100 * r.split.exposed_by_group.at(kind).seconds() / r.step_time.seconds());
}

TEST(StepWarnings, AreNoneForAStepThatIsLaidOutWell) {
  EXPECT_EQ(codes(llama(2, R"({"dp": 16, "sharding": "fsdp"})", 32)), "");
  EXPECT_EQ(codes(llama(1, R"({"tp": 8, "dp": 1, "sequence_parallel": true})", 8)), "");
}

TEST(StepWarnings, SayWhatTensorParallelismAcrossHostsCosts) {
  const RunResult r = llama(2, R"({"tp": 16, "dp": 1, "sequence_parallel": true})", 4);
  EXPECT_TRUE(says(find(r, "tp-across-hosts"), "span 2 hosts"));
  EXPECT_TRUE(says(find(r, "tp-across-hosts"), percent_of_step(r, "tp")));
  // Eight ranks of a host each, but dp fastest: the group has members on both.
  EXPECT_NE(find(llama(2, R"({"tp": 2, "dp": 8, "order": "dp-tp-cp-pp"})", 8), "tp-across-hosts"), nullptr);
  EXPECT_EQ(find(llama(2, R"({"tp": 2, "dp": 8})", 8), "tp-across-hosts"), nullptr);
}

TEST(StepWarnings, CountARackAsOneHost) {
  const Topology rack = topology_from(
      R"({"schema": "busbar.topology/1", "hosts": {"count": 4, "type": "gb200-nvl72"}, "fabric": {"family": "rail-optimized"}})");
  const RunResult r = simulate(
      rack,
      workload_from(
          R"({"schema": "busbar.workload/1", "model": {"preset": "llama-2-7b"}, "batch": {"sequence": 4096, "global": 4},
          "parallel": {"tp": 16, "dp": 1, "sequence_parallel": true}})"),
      default_profile(), {});
  EXPECT_EQ(find(r, "tp-across-hosts"), nullptr);
}

// One rank a host has one NIC; eight groups of one rank each have all eight.
TEST(StepWarnings, CountTheNicsOfAllGroupsOfAKind) {
  const Topology single = topology_from(
      R"({"schema": "busbar.topology/1", "hosts": {"count": 2, "type": "dgx-h100", "gpus": 1},
          "fabric": {"family": "rail-optimized"}})");
  const StepTrace pair = workload_from(
      R"({"schema": "busbar.workload/1", "model": {"preset": "gpt2"}, "batch": {"sequence": 1024, "global": 2},
          "parallel": {"dp": 2}})");
  EXPECT_TRUE(says(find(simulate(single, pair, default_profile(), {}), "few-nics"),
                   "groups 'dp' use 1 of the 8 NICs of h0"));
  EXPECT_EQ(find(llama(2, R"({"tp": 8, "dp": 2, "sequence_parallel": true})", 8), "few-nics"), nullptr);
}

// 13.5 GB of gradients, 2 (n - 1)/n of them over 8 NICs of 12.5 GB/s each: 0.25 s, beside the kernels' 0.4 s.
TEST(StepWarnings, SayHowMuchOfDataParallelismIsExposed) {
  const auto behind = [](const char* nic, int global) {
    return simulate(hosts(2, nic),
                    workload_from(fmt::format(
                        R"({{"schema": "busbar.workload/1", "model": {{"preset": "llama-2-7b"}},
          "batch": {{"sequence": 4096, "global": {}}}, "parallel": {{"dp": 16}}, "overlap": {{"dp": false}}}})",
                        global)),
                    default_profile(), {});
  };
  const RunResult r = behind("100 Gb/s", 16);
  EXPECT_GT(r.split.exposed_by_group.at("dp").seconds(), 0.2 * r.step_time.seconds());
  EXPECT_TRUE(says(find(r, "dp-exposed"), percent_of_step(r, "dp")));
  EXPECT_EQ(find(behind("400 Gb/s", 64), "dp-exposed"), nullptr);
}

TEST(StepWarnings, SayWhatExpertsAcrossHostsCost) {
  const auto moe = [](int count) {
    return simulate(hosts(count),
                    workload_from(fmt::format(
                        R"({{"schema": "busbar.workload/1", "batch": {{"sequence": 4096, "global": {}}},
            "model": {{"layers": 2, "hidden": 4096, "ffn_hidden": 1024, "heads": 32, "vocab": 1024, "experts": 16,
                      "top_k": 8, "expert_ffn_hidden": 512}}, "parallel": {{"dp": {}, "ep": {}}}}})",
                        8 * count, 8 * count, 8 * count)),
                    default_profile(), {});
  };
  const RunResult two = moe(2);
  EXPECT_TRUE(says(find(two, "ep-across-hosts"), "span 2 hosts"));
  EXPECT_TRUE(says(find(two, "ep-across-hosts"), percent_of_step(two, "ep")));
  EXPECT_EQ(find(moe(1), "ep-across-hosts"), nullptr);
}

// Stages of 3 and 1 blocks compute 1.5 x and 0.5 x their mean; of 11 and 9 blocks 1.1 x, which passes.
TEST(StepWarnings, NameTheStageThatComputesTooLong) {
  const auto uneven = [](int first, int second) {
    return simulate_ideal(
        star(2, "100 GB/s"),
        workload_from(fmt::format(
            R"({{"schema": "busbar.workload/1", "batch": {{"global": 4}}, "optimizer": {{"kind": "none"}},
          "model": {{"parameters": [{{"name": "b", "shape": [8], "count": {}, "forward": "1 ms", "backward": "2 ms"}}]}},
          "parallel": {{"pp": 2, "dp": 1}}, "stages": {{"layers": [{}, {}]}}}})",
            first + second, first, second)));
  };
  EXPECT_TRUE(says(find(uneven(3, 1), "uneven-stages"), "'stage0' computes for 36 ms, 50 % more"));
  EXPECT_EQ(find(uneven(11, 9), "uneven-stages"), nullptr);
}

TEST(StepWarnings, SayWhenRecomputationIsNotNeeded) {
  const auto recomputed = [](int micro) {
    return simulate(hosts(2),
                    workload_from(fmt::format(
                        R"({{"schema": "busbar.workload/1", "model": {{"preset": "llama-2-7b"}},
          "batch": {{"sequence": 4096, "micro": {}, "global": {}}}, "parallel": {{"dp": 16, "sharding": "fsdp"}},
          "recompute": "full"}})",
                        micro, 16 * micro)),
                    default_profile(), {});
  };
  const RunResult small = recomputed(1);
  const RunResult plain = llama(2, R"({"dp": 16, "sharding": "fsdp"})", 16);
  EXPECT_LT(plain.memory->total.as_double(), 0.9 * 80e9);
  EXPECT_TRUE(says(find(small, "needless-recompute"),
                   fmt::format("would need {:.1f} GB of its 80 GB", plain.memory->total.as_double() / 1e9)));
  EXPECT_EQ(find(recomputed(4), "needless-recompute"), nullptr);
}

}  // namespace
}  // namespace busbar
