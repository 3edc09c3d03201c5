// A step run again under other factors is the step of a machine that has them.
#include "sim/replay/rerun.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sim/replay/step_figures.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

constexpr const char* kPcie = "pcie-8\", \"gpu\": \"A100-PCIE-40GB";  // type, and a key more

constexpr double kRounding = 1e-6;  // of a hop's microsecond, to a picosecond; a step has less of it

Topology machines(int count, const std::string& type, const std::string& more = "") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "{}"}},
          "fabric": {{"family": "{}"}}{}}})",
      count, type, count == 1 ? "none" : "rail-optimized", more));
}

StepTrace step_of(const std::string& batch_and_parallel) {
  return workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "w", "model": {{"layers": 4, "hidden": 1024, "heads": 8,
           "ffn_hidden": 4096, "vocab": 1024}}, {}}})",
      batch_and_parallel));
}

/// Every rank for itself, everything built under the factors: the twin.
Time built_anew(const Topology& topology, const StepTrace& trace, const Profile& profile,
                const Scales& scales) {
  const Profile own = with_shares_of(trace, profile);
  Replay replay(topology, trace, own, {.overrides = {}, .symmetry = false, .apart = {}, .scales = scales});
  replay.run();
  Time step;
  for (const RankState& rank : replay.ranks()) step = std::max(step, rank.end - rank.begin);
  return step;
}

std::vector<Scales> some_scales() {
  std::vector<Scales> list(7);
  list[1].bandwidth["nic"] = 0.2;
  list[2].bandwidth["nvlink"] = 0.1;
  list[3].latency.fill(5);
  list[4].compute = 3;
  list[5].launch = 20;
  list[6].channel = 0.05;
  list[6].bandwidth["nic"] = 1.7;
  return list;
}

struct Layout {
  const char* type;
  const char* job;
};

TEST(Rerun, GivesWhatAMachineBuiltWithTheFactorsGives) {
  const Layout layouts[] = {
      {"dgx-h100", R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"})"},
      {"dgx-a100",
       R"("batch": {"sequence": 512, "global": 8}, "parallel": {"tp": 4, "pp": 2, "dp": 2, "sharding": "zero1"})"},
      {kPcie,
       R"("batch": {"sequence": 512, "global": 16}, "parallel": {"cp": 2, "dp": 8, "sharding": "none"})"}};
  for (const Layout& layout : layouts) {
    const Topology topology = machines(2, layout.type);
    const StepTrace trace = step_of(layout.job);
    for (const Profile& profile : {default_profile(), ideal_profile()}) {
      Rerun rerun(topology, trace, profile, {});
      EXPECT_EQ(rerun.step_time(), simulate(topology, trace, profile, {}).step_time) << layout.type;
      int number = 0;
      for (const Scales& scales : some_scales())
        EXPECT_EQ(rerun.step_time(scales), built_anew(topology, trace, profile, scales))
            << layout.type << " " << profile.name << " " << number++;
      EXPECT_EQ(rerun.step_time(), simulate(topology, trace, profile, {}).step_time) << "and back";
    }
  }
}

// With stragglers, slow links and several classes of ranks.
TEST(Rerun, IsTheSameOnRandomMachinesWithFaults) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<int>(random() % n); };
    const std::string faults = fmt::format(R"(, "faults": [{{"device": "h{}.gpu{}", "compute": "80%"}},
                                    {{"link": "h{}.gpu{}--h1.nvs", "bandwidth": "50%"}}])",
                                           below(2), below(8), 1, below(8));
    const Topology topology = machines(2, "dgx-h100", faults);
    const int tp = 1 << below(3), pp = 1 << below(2), dp = 16 / (tp * pp);
    const StepTrace trace = step_of(fmt::format(
        R"("batch": {{"sequence": 256, "global": {}}}, "parallel": {{"tp": {}, "pp": {}, "dp": {}}})", 4 * dp,
        tp, pp, dp));
    Rerun rerun(topology, trace, default_profile(), {});
    for (int i = 0; i < 4; ++i) {
      Scales scales;
      scales.bandwidth["nic"] = 0.1 * (1 + below(20));
      scales.bandwidth["nvlink"] = 0.1 * (1 + below(20));
      scales.launch = 1 + below(5);
      scales.compute = 0.5 + below(3);
      EXPECT_EQ(rerun.step_time(scales), built_anew(topology, trace, default_profile(), scales));
    }
  }
}

// Ideal rings: the same machine with other links.
TEST(Rerun, ScalesLinksAsIfTheyWereOthers) {
  const StepTrace trace = trace_from(
      one_program(8, R"({"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB"},
            {"id": "b", "op": "broadcast", "stream": "dp", "group": "all", "bytes": "40 MB"})"));
  const Topology given = star(8, "100 GB/s", "2 us");
  Rerun rerun(given, trace, ideal_profile(), {});
  Scales scales;
  scales.bandwidth["nvlink"] = 0.25;
  EXPECT_EQ(rerun.step_time(scales), simulate_ideal(star(8, "25 GB/s", "2 us"), trace).step_time);
  scales.latency.fill(4);
  EXPECT_EQ(rerun.step_time(scales), simulate_ideal(star(8, "25 GB/s", "8 us"), trace).step_time);
}

// A fault changes what a link carries, not what NCCL takes it for: so does a factor.
TEST(Rerun, ScalesNicsAsAFaultOnEachOfThemDoes) {
  std::string faults;
  for (int h = 0; h < 2; ++h)
    for (int n = 0; n < 8; ++n)
      faults += fmt::format(R"({}{{"link": "h{}.nic{}--leaf{}", "bandwidth": "30%"}})",
                            faults.empty() ? "" : ", ", h, n, n);
  const Topology slow = machines(2, "dgx-h100", R"(, "faults": [)" + faults + "]");
  const Topology whole = machines(2, "dgx-h100");
  const StepTrace trace =
      step_of(R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"})");
  Scales scales;
  scales.bandwidth["nic"] = 0.3;
  Rerun rerun(whole, trace, default_profile(), {});
  EXPECT_EQ(rerun.step_time(scales), simulate(slow, trace, default_profile(), {}).step_time);
}

// All rates k times as high and all times 1/k as long: the same step in 1/k of the time. Nothing with a
// dimension may be left out.
TEST(Rerun, IsHomogeneousInAllRatesAndTimes) {
  const Layout layouts[] = {
      {"dgx-h100", R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"},
                      "framework": "torchtitan")"},
      {"dgx-a100", R"("batch": {"sequence": 512, "global": 16},
                      "parallel": {"tp": 4, "pp": 2, "dp": 2, "sharding": "zero1"})"},
      {kPcie, R"("batch": {"sequence": 512, "global": 16}, "parallel": {"cp": 2, "dp": 8})"},
      {"dgx-h100",
       R"("batch": {"sequence": 64, "global": 16}, "parallel": {"dp": 16}, "framework": "nanotron")"}};
  constexpr double kFactor = 1.7;
  for (const Layout& layout : layouts) {
    const Topology topology = machines(2, layout.type);
    const StepTrace trace = step_of(layout.job);
    Scales scales;
    for (const std::string& name : link_classes(topology).names) scales.bandwidth[name] = kFactor;
    scales.channel = scales.compute = scales.memory = kFactor;
    scales.latency.fill(1 / kFactor);
    scales.launch = 1 / kFactor;
    Rerun rerun(topology, trace, default_profile(), {});
    const double before = rerun.step_time().seconds(), after = rerun.step_time(scales).seconds();
    EXPECT_NEAR(after * kFactor / before, 1, kRounding) << layout.type << " " << layout.job;
  }
}

// Links between switches follow from NICs until they are narrower than the description says.
TEST(Rerun, FindsAnewWhatBindsOnlyThen) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "hosts": {"count": 4, "type": "dgx-h100"}, "fabric": {"family": "fat-tree", "hosts_per_leaf": 2}})");
  const StepTrace trace =
      step_of(R"("batch": {"sequence": 64, "global": 32}, "parallel": {"dp": 32, "sharding": "fsdp"})");
  Rerun rerun(topology, trace, default_profile(), {});
  Scales slower, narrower;
  slower.bandwidth["nic"] = 0.5;
  narrower.bandwidth["leaf-spine"] = 0.2;
  EXPECT_EQ(rerun.step_time(slower), built_anew(topology, trace, default_profile(), slower));
  EXPECT_EQ(rerun.builds(), 1U);
  EXPECT_EQ(rerun.step_time(narrower), built_anew(topology, trace, default_profile(), narrower));
  EXPECT_EQ(rerun.builds(), 2U);
  EXPECT_EQ(rerun.step_time(slower), built_anew(topology, trace, default_profile(), slower));
}

// Nothing crosses sockets, PCIe is never full beside its slower NICs, no hop goes by host memory.
TEST(Rerun, ReplaysNothingWhereNothingCanChange) {
  const Topology topology = machines(2, "dgx-h100");
  const StepTrace trace =
      step_of(R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"})");
  Rerun rerun(topology, trace, default_profile(), {});
  Scales scales;
  scales.bandwidth["upi"] = 0.5;
  scales.bandwidth["pcie"] = 0.99;
  scales.bandwidth["leaf-spine"] = 0.99;
  scales.latency[static_cast<std::size_t>(Transport::kHostMemory)] = 2;
  EXPECT_EQ(rerun.step_time(scales), built_anew(topology, trace, default_profile(), scales));
  EXPECT_EQ(rerun.runs(), 1U);
  scales.bandwidth["pcie"] = 0.3;
  EXPECT_EQ(rerun.step_time(scales), built_anew(topology, trace, default_profile(), scales));
  EXPECT_EQ(rerun.runs(), 2U);
}

// Draws of a calibration: the full simulation by the same profile, to the picosecond.
TEST(Rerun, GivesWhatProfilesWithOtherNumbersGive) {
  const Layout layouts[] = {
      {"dgx-h100", R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"})"},
      {"dgx-a100",
       R"("batch": {"sequence": 512, "global": 8}, "parallel": {"tp": 4, "pp": 2, "dp": 2, "sharding": "zero1"})"},
      {kPcie, R"("batch": {"sequence": 512, "global": 16}, "parallel": {"cp": 2, "dp": 8})"}};
  std::mt19937 random(7);
  for (const Layout& layout : layouts)
    for (const bool symmetry : {true, false}) {
      SCOPED_TRACE(layout.type);
      const Topology topology = machines(2, layout.type);
      const StepTrace trace = step_of(layout.job);
      const SimOptions options{.symmetry = symmetry};
      Rerun rerun(topology, trace, default_profile(), options);
      const Time before = rerun.step_time();
      std::vector<Profile> profiles;
      for (int draw = 0; draw < 8; ++draw) {
        Profile& profile = profiles.emplace_back(default_profile());
        std::vector<ParameterRef> numbers = parameters(profile);
        for (ParameterRef& p : other_parameters(profile)) numbers.push_back(std::move(p));
        for (const ParameterRef& p : numbers)
          *p.value *= std::exp(0.1 * (static_cast<double>(random() % 201) / 100 - 1));
        EXPECT_EQ(rerun.step_time(profile), simulate(topology, trace, profile, options).step_time) << draw;
      }
      EXPECT_EQ(rerun.step_time(), before) << "and back";
      const std::vector<Time> times = step_times(topology, trace, options, profiles, 2);
      for (std::size_t p = 0; p < profiles.size(); ++p) EXPECT_EQ(times[p], rerun.step_time(profiles[p]));
    }
}

// Uplinks as wide as the NICs below them could bind once NICs are faster; where they are not full, they do
// not.
TEST(Rerun, TakesUplinksForFreeUntilTheyAreFull) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "hosts": {"count": 4, "type": "dgx-h100"}, "fabric": {"family": "fat-tree", "hosts_per_leaf": 2}})");
  const StepTrace trace = step_of(
      R"("batch": {"sequence": 64, "global": 32}, "parallel": {"tp": 8, "dp": 4, "sharding": "fsdp"})");
  Rerun rerun(topology, trace, default_profile(), {});
  for (const double factor : {1.01, 1.1, 1.5, 3.0}) {
    Scales faster;
    faster.bandwidth["nic"] = factor;
    EXPECT_EQ(rerun.step_time(faster), built_anew(topology, trace, default_profile(), faster)) << factor;
  }
}

// NICs that a library knows of are those of another topology.
TEST(Rerun, ChoosesAnewAsForAMachineWithSuchNics) {
  const auto with_nics = [](const std::string& nic) {
    return topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": 2, "type": "dgx-h100"}},
            "fabric": {{"family": "rail-optimized", "nic": "{}"}}}})",
        nic));
  };
  const StepTrace trace =
      step_of(R"("batch": {"sequence": 512, "global": 16}, "parallel": {"dp": 16, "sharding": "fsdp"})");
  const Topology given = with_nics("100 Gb/s");
  Rerun rerun(given, trace, default_profile(), {});
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) {
    Scales scales;
    scales.bandwidth["nic"] = scales.nics_known_as = factor;
    const Topology other = with_nics(fmt::format("{} Gb/s", 100 * factor));
    EXPECT_EQ(rerun.chosen_anew(scales).time, simulate(other, trace, default_profile(), {}).step_time)
        << factor;
    EXPECT_EQ(rerun.result(scales).step_time, rerun.chosen_anew(scales).time) << factor;
  }
  EXPECT_EQ(rerun.step_time(), simulate(given, trace, default_profile(), {}).step_time) << "and back";
}

TEST(LinkClasses, GoByTypeInAHostAndByWhatTheyJoinInTheNetwork) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "hosts": {"count": 4, "type": "dgx-h100"}, "fabric": {"family": "fat-tree", "hosts_per_leaf": 2}})");
  const LinkClasses classes = link_classes(topology);
  std::vector<std::string> names = classes.names;
  std::sort(names.begin(), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "nic"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "nvlink"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "leaf-spine"), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "each once";
  for (std::size_t l = 0; l < classes.of.size(); ++l) {
    const LinkId link = LinkId::from_index(l);
    const auto back = topology.way_back(link);
    EXPECT_EQ(classes.of[l], classes.of[back.value_or(link).index()]) << topology.link_name(link);
  }
}

}  // namespace
}  // namespace busbar
