// Elasticities against closed forms, against the sum that homogeneity asks for, and against simulations of
// the changed job.
#include "sim/study/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "sim/study/parameters.h"
#include "tests/support/errors.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

constexpr const char* kPcie = "pcie-8\", \"gpu\": \"A100-PCIE-40GB";  // type, and a key more

struct Studied {
  Topology topology;
  StepTrace trace;
  Profile profile = ideal_profile();
  std::optional<Workload> workload = std::nullopt;
  [[nodiscard]] std::vector<SensitivityRecord> records() const {
    return sensitivity({.topology = &topology,
                        .trace = &trace,
                        .profile = &profile,
                        .workload = workload ? &*workload : nullptr});
  }
};

SensitivityRecord called(const std::vector<SensitivityRecord>& records, const std::string& name) {
  for (const SensitivityRecord& r : records)
    if (r.parameter == name) return r;
  ADD_FAILURE() << "no record of " << name;
  return {};
}

Topology two_hosts(const std::string& type = "dgx-h100") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": 2, "type": "{}"}},
          "fabric": {{"family": "rail-optimized"}}}})",
      type));
}

Workload small_job(const std::string& rest) {
  return read_workload(JsonDocument::parse(
      fmt::format(
          R"({{"schema": "busbar.workload/1", "name": "w", "model": {{"layers": 4, "hidden": 1024, "heads": 8,
              "ffn_hidden": 4096, "vocab": 1024}}, {}}})",
          rest),
      "workload"));
}

// T = 2 (n-1) (alpha + S / (n B)) + C. Differences over 1 % of a + b / x are those of the slope to h^2.
TEST(Sensitivity, IsTheShareOfEachTermOnALoneRing) {
  constexpr double kRanks = 8, kHops = 2, kBytes = 64e6, kRate = 100e9, kAlpha = 5e-6, kCompute = 1e-3;
  const Studied step{.topology = star(8, "100 GB/s", "5 us"), .trace = trace_from(one_program(8, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "1 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "64 MB", "after": ["c"]})"))};
  const double latency = 2 * (kRanks - 1) * kHops * kAlpha;  // over the switch: two links a hop
  const double transfer = 2 * (kRanks - 1) * kBytes / (kRanks * kRate);
  const double all = latency + transfer + kCompute;
  const auto records = step.records();
  constexpr double kSecondOrder = 1e-4;
  EXPECT_NEAR(called(records, "nvlink-bandwidth").elasticity, -transfer / all, kSecondOrder);
  EXPECT_NEAR(called(records, "nvlink-latency").elasticity, latency / all, kSecondOrder);
  EXPECT_NEAR(called(records, "compute-efficiency").elasticity, -kCompute / all, kSecondOrder);
  // Ten per cent more of x leaves 1 / 1.1 of its term, ten per cent less of a time nine tenths.
  EXPECT_NEAR(*called(records, "nvlink-bandwidth").better, transfer / all * (1 / 1.1 - 1), 1e-6);
  EXPECT_NEAR(*called(records, "nvlink-latency").better, -0.1 * latency / all, 1e-6);
  for (std::size_t i = 1; i < records.size(); ++i) EXPECT_LE(*records[i - 1].better, *records[i].better);
}

TEST(Sensitivity, OfAStepWithoutCommunicationIsItsKernelsAlone) {
  const Studied step{.topology = two_hosts(), .trace = trace_from(one_program(16, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "3 ms"})"))};
  constexpr double kPicosecond = 1e-12 / 3e-3 / 0.01;  // of 3 ms, over a change of 1 %
  for (const SensitivityRecord& r : step.records())
    EXPECT_NEAR(r.elasticity, r.parameter == "compute-efficiency" ? -1 : 0, kPicosecond) << r.parameter;
}

// Collectives that stay in their hosts need no NIC.
TEST(Sensitivity, OfAClassThatNothingUsesIsZero) {
  Studied step{.topology = two_hosts(), .trace = trace_from(R"({"schema": "busbar.trace/1", "name": "t",
    "groups": {"a": "0-7", "b": "8-15"},
    "programs": {"p": {"ops": [{"id": "r", "op": "all_reduce", "stream": "tp", "group": "tp", "bytes": "64 MB"}]}},
    "bindings": [{"ranks": "0-7", "program": "p", "groups": {"tp": "a"}},
                 {"ranks": "8-15", "program": "p", "groups": {"tp": "b"}}]})")};
  step.profile = default_profile();
  const auto records = step.records();
  EXPECT_EQ(called(records, "nic-bandwidth").up, 0);
  EXPECT_EQ(called(records, "nic-bandwidth").down, 0);
  EXPECT_EQ(called(records, "rdma-latency").elasticity, 0);
  EXPECT_LT(called(records, "nvlink-bandwidth").elasticity, -0.1);
}

// Compute and communication of equal length side by side: max(C, S / B).
TEST(Sensitivity, ShowsBothSidesOfAKink) {
  const Studied step{.topology = star(2, "100 GB/s"), .trace = trace_from(one_program(2, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "10 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "1 GB"})"))};
  const SensitivityRecord links = called(step.records(), "nvlink-bandwidth");
  EXPECT_NEAR(links.up, 0, 1e-9);
  EXPECT_NEAR(links.down, -1, 1e-9);
  EXPECT_NEAR(links.elasticity, -0.5, 1e-9);
}

// T(k rates, times / k) = T / k: derived by k at 1, the elasticities of the rates less those of the times are
// -1 wherever the step is smooth. Central differences leave terms of (ln 1.01)^2.
TEST(Sensitivity, AddsUpToMinusOne) {
  const std::pair<const char*, const char*> jobs[] = {
      {"dgx-h100", R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"})"},
      {"dgx-a100", R"("batch": {"sequence": 512, "global": 16},
                      "parallel": {"tp": 4, "pp": 2, "dp": 2, "sharding": "zero1"})"},
      {kPcie, R"("batch": {"sequence": 512, "global": 16}, "parallel": {"cp": 2, "dp": 8})"}};
  for (const auto& [type, job] : jobs) {
    Studied step{.topology = two_hosts(type), .trace = expand(small_job(job)), .profile = default_profile()};
    double sum = 0;
    for (const SensitivityRecord& r : step.records()) sum += r.less_is_better ? -r.elasticity : r.elasticity;
    EXPECT_NEAR(sum, -1, 0.01) << type;
  }
}

// Gradient accumulation: one microbatch a replica more and less, simulated as jobs of their own.
TEST(Sensitivity, ByTheGlobalBatchIsThatOfJobsWithAnother) {
  const auto job = [](int global) {
    return small_job(fmt::format(
        R"("batch": {{"sequence": 512, "global": {}}}, "parallel": {{"dp": 16, "sharding": "fsdp"}})",
        global));
  };
  Studied step{.topology = two_hosts(), .trace = expand(job(64)), .profile = default_profile()};
  step.workload = job(64);
  const SensitivityRecord batch = called(step.records(), "global-batch");
  const auto time = [&](int global) {
    return simulate(step.topology, expand(job(global)), step.profile, {}).step_time.seconds();
  };
  EXPECT_NEAR(batch.elasticity, std::log(time(80) / time(48)) / std::log(80.0 / 48), 1e-9);
  EXPECT_NEAR(batch.up, std::log(time(80) / time(64)) / std::log(80.0 / 64), 1e-9);
  EXPECT_GT(batch.elasticity, 0.5);  // more work
  EXPECT_LT(batch.elasticity, 1);    // and less than in proportion: the optimizer runs once
  EXPECT_FALSE(batch.better);
}

// 1F1B interleaved takes microbatches in whole rounds of pp.
TEST(Sensitivity, ChangesTheBatchByWholeRoundsWhereTheScheduleAsksForThem) {
  const Workload workload = small_job(R"("batch": {"sequence": 512, "global": 16},
      "parallel": {"pp": 2, "dp": 8, "schedule": "interleaved", "virtual_stages": 2})");
  Studied step{.topology = two_hosts(), .trace = expand(workload), .profile = default_profile()};
  step.workload = workload;
  EXPECT_EQ(called(step.records(), "global-batch").words, "global batch by 16");
}

TEST(StudyParameters, OfATopologyAreItsLinksAndWhatRunsOnThem) {
  const auto parameters = study_parameters(two_hosts());
  const StudyParameter nics = find_parameter(parameters, "nic-bandwidth", "test");
  EXPECT_EQ(value_text(nics), "400 GB/s");  // 8 x 400 Gb/s
  EXPECT_EQ(value_text(nics, 0.5), "200 GB/s");
  for (const char* name : {"nvlink-bandwidth", "pcie-bandwidth", "compute-efficiency", "channel-rate",
                           "nvlink-latency", "rdma-latency", "launch-cost"})
    EXPECT_EQ(find_parameter(parameters, name, "test").name, name);
  const std::string refused =
      error_of([&] { static_cast<void>(find_parameter(parameters, "nic-bandwith", "--solve")); });
  EXPECT_TRUE(refused.starts_with("--solve")) << refused;
  EXPECT_NE(refused.find("did you mean 'nic-bandwidth'"), std::string::npos) << refused;
}

TEST(Sensitivity, HasOneResultOnAnyNumberOfThreads) {
  const Topology topology = two_hosts();
  const StepTrace trace = workload_from(
      R"({"schema": "busbar.workload/1", "name": "w", "model": {"preset": "llama-2-7b"},
          "batch": {"sequence": 4096, "micro": 1, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"}})");
  const Profile profile = default_profile();
  const auto on = [&](std::size_t threads) {
    std::vector<std::tuple<std::string, double, double, double>> figures;
    for (const SensitivityRecord& r :
         sensitivity({.topology = &topology, .trace = &trace, .profile = &profile}, threads))
      figures.emplace_back(r.parameter, r.up, r.down, *r.better);
    return figures;
  };
  const auto one = on(1);
  EXPECT_GE(one.size(), 8U);
  EXPECT_EQ(on(3), one);
  EXPECT_EQ(on(64), one);
}

}  // namespace
}  // namespace busbar
