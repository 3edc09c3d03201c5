// Values found again that synthetic measurements were made with; and what is said where there is none.
#include "sim/study/solve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/study/solved_profile.h"
#include "sim/study/suggestions.h"
#include "tests/support/errors.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

struct Job {
  Topology topology;
  StepTrace trace;
  Profile profile = default_profile();
  [[nodiscard]] StudiedStep studied() const {
    return {.topology = &topology, .trace = &trace, .profile = &profile};
  }
  [[nodiscard]] Time time() const { return simulate(topology, trace, profile, {}).step_time; }
  [[nodiscard]] Solution solved(const std::string& name, const SolveTarget& target) const {
    Rerun rerun(topology, trace, profile, {});
    return solve(rerun, find_parameter(study_parameters(topology), name, "test"), target);
  }
};

Topology two_hosts(const std::string& nic) {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": 2, "type": "dgx-h100"}},
          "fabric": {{"family": "rail-optimized", "nic": "{}"}}}})",
      nic));
}

StepTrace fsdp() {
  return workload_from(R"({"schema": "busbar.workload/1", "name": "w", "model": {"layers": 4, "hidden": 2048,
    "heads": 16, "ffn_hidden": 8192, "vocab": 32000}, "batch": {"sequence": 512, "global": 16},
    "parallel": {"dp": 16, "sharding": "fsdp"}})");
}

// T = a + S / B on a ring without latency: B = S / (T - a) by hand.
TEST(Solve, InvertsTheClosedFormOfARing) {
  const Job job{.topology = star(4, "100 GB/s"),
                .trace = trace_from(one_program(4, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "1 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "200 MB", "after": ["c"]})")),
                .profile = ideal_profile()};
  const double measured = 7e-3, crosses = 2 * 3.0 / 4 * 200e6;
  const double factor = crosses / (measured - 1e-3) / 100e9;
  const Solution s = job.solved("nvlink-bandwidth", {.time = Time::from_seconds(measured)});
  ASSERT_TRUE(s.factor);
  EXPECT_NEAR(*s.factor, factor, 1e-6 * factor);
  EXPECT_EQ(s.value_now, "100 GB/s");
  EXPECT_EQ(s.value, "50 GB/s");
  EXPECT_TRUE(s.monotone);
  // 2 % more and less of 7 ms.
  EXPECT_NEAR(*s.low, crosses / (1.02 * measured - 1e-3) / 100e9, 1e-5 * factor);
  EXPECT_NEAR(*s.high, crosses / (0.98 * measured - 1e-3) / 100e9, 1e-5 * factor);
}

TEST(Solve, TakesItsIntervalFromThePercentilesOfTheMeasurement) {
  const Job job{.topology = star(4, "100 GB/s"),
                .trace = trace_from(one_program(4, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "200 MB"})")),
                .profile = ideal_profile()};
  const Solution s = job.solved(
      "nvlink-bandwidth",
      {.time = Time::from_seconds(6e-3), .p10 = Time::from_seconds(5e-3), .p90 = Time::from_seconds(10e-3)});
  EXPECT_NEAR(*s.factor, 0.5, 1e-6);  // 300 MB in 6 ms
  EXPECT_NEAR(*s.low, 0.3, 1e-6);
  EXPECT_NEAR(*s.high, 0.6, 1e-6);
  EXPECT_EQ(s.interval_of, "10th to 90th percentile of the measured steps");
}

/// A measurement made by a machine with other NICs than the one described.
struct Changed {
  double Gbps, factor;
  [[nodiscard]] std::string text() const { return fmt::format("{} Gb/s x {}", Gbps, factor); }
};

std::vector<Changed> changed_nics() {
  std::vector<Changed> list;
  for (const double Gbps : {25, 50, 100, 200, 400})
    for (const double factor : {0.5, 0.9, 1.1}) list.push_back({Gbps, factor});
  return list;
}

StepTrace zero1() {
  return workload_from(R"({"schema": "busbar.workload/1", "name": "w", "model": {"layers": 4, "hidden": 4096,
    "heads": 32, "ffn_hidden": 16384, "vocab": 32000}, "batch": {"sequence": 512, "global": 16},
    "parallel": {"tp": 4, "dp": 4, "sharding": "zero1"}})");
}

StepTrace pipelined() {
  return workload_from(R"({"schema": "busbar.workload/1", "name": "w", "model": {"layers": 8, "hidden": 2048,
    "heads": 16, "ffn_hidden": 8192, "vocab": 32000}, "batch": {"sequence": 1024, "global": 16},
    "parallel": {"pp": 2, "dp": 8, "sharding": "none"}})");
}

// Root mean square of ln(predicted / measured) over the collectives of a step, by operation, group and size.
std::optional<double> off(const RunResult& measured, const RunResult& predicted) {
  double squares = 0, count = 0;
  for (const CollectiveRecord& m : measured.collectives)
    for (const CollectiveRecord& p : predicted.collectives) {
      if (m.operation != p.operation || m.group != p.group || m.bytes != p.bytes || m.ranks != p.ranks)
        continue;
      squares += std::pow(std::log(p.time.seconds() / m.time.seconds()), 2);
      ++count;
    }
  return count > 0 ? std::optional(std::sqrt(squares / count)) : std::nullopt;
}

bool is_within(double factor, double of) { return std::abs(factor / of - 1) <= 0.02; }

bool is_listed(const Solution& s, double factor) {
  return std::any_of(s.alternatives.begin(), s.alternatives.end(),
                     [&](const Alternative& a) { return is_within(a.factor, factor); });
}

// What NCCL chooses changes with the NICs, in jumps: a step time may have several explanations.
TEST(Solve, FindsABandwidthThatWasChangedOrSaysThatSeveralExplainTheStep) {
  int alone = 0, ambiguous = 0;
  for (const auto& trace : {fsdp(), zero1(), pipelined()})
    for (const Changed& c : changed_nics()) {
      SCOPED_TRACE(c.text());
      const Job described{.topology = two_hosts(fmt::format("{} Gb/s", c.Gbps)), .trace = trace};
      const Job made{.topology = two_hosts(fmt::format("{} Gb/s", c.Gbps * c.factor)), .trace = trace};
      const Solution s = described.solved("nic-bandwidth", {.time = made.time()});
      ASSERT_TRUE(s.factor);
      EXPECT_LE(s.low.value_or(0), *s.factor * (1 + 1e-6));
      EXPECT_GE(s.high.value_or(1e9), *s.factor * (1 - 1e-6));
      EXPECT_TRUE(is_within(*s.factor, c.factor) || (is_ambiguous(s) && is_listed(s, c.factor)));
      ++(is_within(*s.factor, c.factor) ? alone : ambiguous);
    }
  fmt::print("first {}, among the alternatives {}\n", alone, ambiguous);
}

// The collectives of the same step tell.
TEST(Solve, TellsSeveralExplanationsApartByTheCollectivesOfTheStep) {
  for (const auto& trace : {fsdp(), zero1(), pipelined()})
    for (const Changed& c : changed_nics()) {
      SCOPED_TRACE(c.text());
      const Job described{.topology = two_hosts(fmt::format("{} Gb/s", c.Gbps)), .trace = trace};
      const Job made{.topology = two_hosts(fmt::format("{} Gb/s", c.Gbps * c.factor)), .trace = trace};
      const RunResult measured = simulate(made.topology, made.trace, made.profile, {});
      const Solution s = described.solved(
          "nic-bandwidth",
          {.time = measured.step_time, .parts_error = [&](const RunResult& p) { return off(measured, p); }});
      ASSERT_TRUE(s.factor);
      EXPECT_TRUE(is_within(*s.factor, c.factor) || (is_ambiguous(s) && is_listed(s, c.factor)))
          << *s.factor << " off by " << s.parts_error.value_or(-1);
    }
}

// Links that are slower than NCCL knows: it chooses as for whole ones. The step alone may not tell them from
// slower NICs; its collectives do.
TEST(Solve, FindsNicsThatAreSlowerThanTheyAreKnownToBe) {
  for (const double Gbps : {25, 50, 100, 200, 400})
    for (const double factor : {0.5, 0.8, 0.9}) {
      SCOPED_TRACE((Changed{Gbps, factor}.text()));
      const Job job{.topology = two_hosts(fmt::format("{} Gb/s", Gbps)), .trace = fsdp()};
      Scales slower;
      slower.bandwidth["nic"] = factor;
      Rerun machine(job.topology, job.trace, job.profile, {});
      const RunResult measured = machine.result(slower);
      EXPECT_EQ(measured.step_time, machine.step_time(slower));
      const Solution alone = job.solved("nic-bandwidth", {.time = measured.step_time});
      EXPECT_TRUE(is_within(*alone.factor, factor) || (is_ambiguous(alone) && is_listed(alone, factor)));
      const Solution s = job.solved(
          "nic-bandwidth",
          {.time = measured.step_time, .parts_error = [&](const RunResult& p) { return off(measured, p); }});
      EXPECT_TRUE(is_within(*s.factor, factor) || (is_ambiguous(s) && is_listed(s, factor)));
    }
}

// What cannot be told apart is said to be so: 100 Gb/s NICs that carry 81 % of it take as long as 90 Gb/s
// NICs, for which NCCL opens more channels.
TEST(Solve, SaysWhereSlowerNicsAndBadLinksTakeEquallyLong) {
  const Job described{.topology = two_hosts("100 Gb/s"), .trace = fsdp()};
  const Job made{.topology = two_hosts("90 Gb/s"), .trace = fsdp()};
  const Solution s = described.solved("nic-bandwidth", {.time = made.time()});
  ASSERT_TRUE(s.factor);
  EXPECT_TRUE(is_within(*s.factor, 0.9));
  EXPECT_TRUE(s.chosen_anew);
  EXPECT_NE(s.suggestion.find("another rate"), std::string::npos);
  EXPECT_TRUE(is_ambiguous(s));
  ASSERT_FALSE(s.alternatives.empty());
  const Alternative& other = s.alternatives.front();
  EXPECT_FALSE(other.chosen_anew);
  Scales scales;
  scales.bandwidth["nic"] = other.factor;
  Rerun machine(described.topology, described.trace, described.profile, {});
  EXPECT_NEAR(machine.step_time(scales).seconds() / made.time().seconds(), 1, 1e-6);
  EXPECT_LT(other.low.value_or(0), other.factor);
  EXPECT_GT(other.high.value_or(1e9), other.factor);
}

TEST(Solve, FindsAnyOtherParameterThatWasChangedByATenth) {
  const Job job{.topology = two_hosts("100 Gb/s"), .trace = workload_from(R"({"schema": "busbar.workload/1",
      "name": "w", "framework": "torchtitan-eager", "model": {"layers": 4, "hidden": 2048, "heads": 16,
      "ffn_hidden": 8192, "vocab": 32000}, "batch": {"sequence": 512, "global": 4},
      "parallel": {"tp": 4, "dp": 4}})")};
  Rerun machine(job.topology, job.trace, job.profile, {});
  std::size_t found = 0;
  for (const StudyParameter& p : study_parameters(job.topology)) {
    if (machine.step_time(p.at(0.9)) == machine.step_time(p.at(1.1))) continue;  // nothing depends on it
    const Solution s = job.solved(p.name, {.time = machine.step_time(p.at(0.9))});
    ASSERT_TRUE(s.factor) << p.name;
    EXPECT_EQ(
        machine.step_time(p.at(*s.factor)).seconds() / machine.step_time(p.at(0.9)).seconds() > 1 - 1e-6,
        true)
        << p.name;
    EXPECT_NEAR(*s.factor, 0.9, 0.02 * 0.9) << p.name;
    ++found;
  }
  EXPECT_GE(found, 4U);
}

TEST(Solve, SaysHowFarTheRangeGetsWhereNoValueExplainsTheStep) {
  const Job job{.topology = star(2, "100 GB/s"),
                .trace = trace_from(one_program(2, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "10 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "100 MB", "after": ["c"]})")),
                .profile = ideal_profile()};
  const Solution s = job.solved("nvlink-bandwidth", {.time = Time::from_seconds(9e-3)});
  EXPECT_FALSE(s.factor);
  EXPECT_NEAR(s.range_times.second.seconds(), 10e-3 + 1e-3 / s.range.second, 1e-9);
  EXPECT_NEAR(s.range_times.first.seconds(), 10e-3 + 1e-3 / s.range.first, 1e-9);
}

// Beyond what hides behind 10 ms of kernels any bandwidth will do.
TEST(Solve, LeavesTheEndOpenThatNothingHolds) {
  const Job job{.topology = star(2, "100 GB/s"),
                .trace = trace_from(one_program(2, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "10 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "500 MB"})")),
                .profile = ideal_profile()};
  const Solution s = job.solved("nvlink-bandwidth", {.time = Time::from_seconds(10.1e-3)});
  ASSERT_TRUE(s.factor);
  EXPECT_NEAR(*s.factor, 5e-3 / 10.1e-3, 1e-6);
  EXPECT_TRUE(s.low);
  EXPECT_FALSE(s.high);  // 2 % less than 10.1 ms is below 10 ms
}

TEST(Solve, RefusesAMeasurementOfNothing) {
  const Job job{.topology = star(2, "100 GB/s"),
                .trace = trace_from(one_program(2, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "10 ms"})")),
                .profile = ideal_profile()};
  EXPECT_THROW(static_cast<void>(job.solved("nvlink-bandwidth", {.time = Time::zero()})), Error);
}

// Kernels 20 % slower than assumed: two spreads, where NICs or latencies would have to be faulty.
TEST(ClosingChanges, BeginWithTheLeastImplausibleOne) {
  const Job job{.topology = two_hosts("400 Gb/s"), .trace = workload_from(R"({"schema": "busbar.workload/1",
      "name": "w", "model": {"preset": "llama-2-7b"}, "batch": {"sequence": 4096, "micro": 1, "global": 16},
      "parallel": {"dp": 16, "sharding": "fsdp"}})")};
  Rerun machine(job.topology, job.trace, job.profile, {});
  const StudyParameter compute = find_parameter(study_parameters(job.topology), "compute-efficiency", "test");
  const auto changes = closing_changes(job.studied(), {.time = machine.step_time(compute.at(0.8))});
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes.front().parameter, "compute-efficiency");
  EXPECT_NEAR(*changes.front().factor, 0.8, 1e-3);
  for (std::size_t i = 1; i < changes.size(); ++i)
    EXPECT_LE(changes[i - 1].implausibility, changes[i].implausibility);
  for (const Solution& s : changes)  // each of them by itself closes the gap
    EXPECT_NEAR(
        machine.step_time(find_parameter(study_parameters(job.topology), s.parameter, "t").at(*s.factor))
                .seconds() /
            s.measured.seconds(),
        1, 1e-4)
        << s.parameter;
  EXPECT_NE(closing_sentence(changes).find("x 0.8 would close it"), std::string::npos)
      << closing_sentence(changes);
  EXPECT_NE(closing_sentence({}).find("no single parameter"), std::string::npos);
}

// A profile that was written from one measured step predicts it, and others from there.
TEST(SolvedProfile, PredictsTheStepThatItCameFrom) {
  const Job job{.topology = two_hosts("400 Gb/s"), .trace = fsdp()};
  const Time measured = scaled(job.time(), 1.25);
  const Solution s = job.solved("compute-efficiency", {.time = measured});
  ASSERT_TRUE(s.factor);
  const Profile own = with_kernel_speed(job.profile, job.studied(), s);
  EXPECT_NEAR(simulate(job.topology, job.trace, own, {}).step_time.seconds() / measured.seconds(), 1, 2e-3);
  EXPECT_EQ(own.calibration.values.front().name, "kernels.hopper.own_share");
}

TEST(SolvedProfile, IsRefusedForKernelsWithADuration) {
  const Job job{.topology = two_hosts("400 Gb/s"), .trace = trace_from(one_program(16, R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "3 ms"})"))};
  const Solution s = job.solved("compute-efficiency", {.time = Time::from_seconds(4e-3)});
  ASSERT_TRUE(s.factor);
  EXPECT_NEAR(*s.factor, 0.75, 1e-6);
  EXPECT_THROW(static_cast<void>(with_kernel_speed(job.profile, job.studied(), s)), Error);
}

// |ln f| / 0.1 near 1; as a fault 3 + |ln f| / ln 33 from where that is less; upwards no fault.
TEST(Implausibility, GrowsWithTheFactorAndKnowsFaults) {
  const auto parameters = study_parameters(two_hosts("400 Gb/s"));
  const StudyParameter nics = find_parameter(parameters, "nic-bandwidth", "test");
  const StudyParameter launches = find_parameter(parameters, "launch-cost", "test");
  EXPECT_NEAR(implausibility(nics, 0.9), std::log(1 / 0.9) / 0.1, 1e-12);
  EXPECT_NEAR(implausibility(nics, 1 / 33.0), 4, 1e-12);
  EXPECT_NEAR(implausibility(nics, 33), std::log(33) / 0.1, 1e-12);
  EXPECT_NEAR(implausibility(launches, 1.5), std::log(1.5) / 0.6, 1e-12);
  EXPECT_NEAR(implausibility(launches, 100), 5, 1e-12);
  for (const StudyParameter& p : parameters) {
    EXPECT_EQ(implausibility(p, 1), 0) << p.name;
    for (double f = 1.2; f < 1000; f *= 1.2) {
      EXPECT_GT(implausibility(p, 1.2 * f), implausibility(p, f)) << p.name << " " << f;
      EXPECT_GT(implausibility(p, 1 / (1.2 * f)), implausibility(p, 1 / f)) << p.name << " " << f;
    }
  }
}

TEST(Suggestions, HaveOneForEveryFactorOfWhatPeopleAskFor) {
  const auto parameters = study_parameters(two_hosts("400 Gb/s"));
  for (const char* name : {"nic-bandwidth", "nvlink-bandwidth", "compute-efficiency", "launch-cost"})
    for (double factor = 1e-3; factor < 100; factor *= 1.1)
      EXPECT_FALSE(suggestion_for(find_parameter(parameters, name, "test"), factor).empty())
          << name << " " << factor;
  const StudyParameter nics = find_parameter(parameters, "nic-bandwidth", "test");
  EXPECT_NE(suggestion_for(nics, 0.03).find("RDMA not in use?"), std::string::npos);
  EXPECT_NE(suggestion_for(nics, 1).find("as described"), std::string::npos);
}

}  // namespace
}  // namespace busbar
