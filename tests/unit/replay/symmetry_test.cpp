// Replaying one rank per class gives what replaying all of them gives, to the picosecond.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/inline.h"

namespace busbar {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::mt19937 generator_;
};

void expect_same_split(const TimeSplit& a, const TimeSplit& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.compute, b.compute);
  EXPECT_EQ(a.exposed, b.exposed);
  EXPECT_EQ(a.bubble, b.bubble);
  EXPECT_EQ(a.straggler_wait, b.straggler_wait);
  EXPECT_EQ(a.idle, b.idle);
  EXPECT_EQ(a.communication, b.communication);
  EXPECT_EQ(a.exposed_by_group, b.exposed_by_group);
}

void expect_same_links(const std::vector<LinkRecord>& a, const std::vector<LinkRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].members, b[i].members) << a[i].name;
    EXPECT_NEAR(a[i].bytes, b[i].bytes, 1e-9 * a[i].bytes) << a[i].name;
    EXPECT_NEAR(a[i].peak_fraction, b[i].peak_fraction, 1e-12) << a[i].name;
  }
}

// Every time of every operation on the first rank of each program.
void expect_same_timelines(const std::vector<RankTimeline>& a, const std::vector<RankTimeline>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].rank, b[i].rank);
    ASSERT_EQ(a[i].entries.size(), b[i].entries.size());
    std::vector<std::tuple<std::string, Time, Time, Time>> x, y;
    for (const auto& e : a[i].entries) x.emplace_back(e.operation, e.arrive, e.start, e.end);
    for (const auto& e : b[i].entries) y.emplace_back(e.operation, e.arrive, e.start, e.end);
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    EXPECT_EQ(x, y);
  }
}

void expect_same_collectives(const std::vector<CollectiveRecord>& a, const std::vector<CollectiveRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].operation, b[i].operation);
    EXPECT_EQ(a[i].group, b[i].group);
    EXPECT_EQ(a[i].count, b[i].count);
    // Means are rounded from sums beyond 2^53 picoseconds.
    EXPECT_NEAR(a[i].time.seconds(), b[i].time.seconds(), 2e-12);
    EXPECT_NEAR(a[i].exposed.seconds(), b[i].exposed.seconds(), 2e-12);
  }
}

/// Returns the number of classes.
std::uint64_t expect_same(const Topology& topology, const StepTrace& trace, const Profile& profile,
                          const Overrides& overrides = {}) {
  const RunResult merged = simulate(topology, trace, profile, {.overrides = overrides, .details = true});
  const RunResult whole =
      simulate(topology, trace, profile, {.overrides = overrides, .details = true, .symmetry = false});
  EXPECT_EQ(whole.classes, trace.ranks);
  EXPECT_EQ(merged.step_time, whole.step_time);
  EXPECT_EQ(merged.last_rank, whole.last_rank);
  expect_same_split(merged.split, whole.split);
  expect_same_timelines(merged.timeline, whole.timeline);
  expect_same_links(merged.links, whole.links);
  expect_same_collectives(merged.collectives, whole.collectives);
  return merged.classes;
}

TEST(Symmetry, ReplaysOneRankOfASymmetricGroup) {
  const std::string ops = R"(
      {"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"},
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "400 MB", "after": ["c"]})";
  EXPECT_EQ(expect_same(star(8, "100 GB/s"), trace_from(one_program(8, ops)), ideal_profile()), 1U);
}

// Every rank sends to the next round a ring: one class, which sends to itself.
TEST(Symmetry, LetsAClassSendToItself) {
  std::string bindings;
  for (int r = 0; r < 6; ++r)
    bindings += fmt::format(R"({}{{"ranks": [{}], "program": "p", "peers": {{"next": {}, "previous": {}}}}})",
                            r == 0 ? "" : ", ", r, (r + 1) % 6, (r + 5) % 6);
  const std::string trace = fmt::format(R"({{"schema": "busbar.trace/1", "name": "t",
    "programs": {{"p": {{"ops": [
      {{"id": "b", "op": "batch", "stream": "pp", "ops": [{{"op": "send", "to": "next", "bytes": "100 MB"}},
                                                       {{"op": "recv", "from": "previous", "bytes": "100 MB"}}]}},
      {{"id": "c", "op": "compute", "stream": "main", "duration": "1 ms", "after": ["b"]}}]}}}},
    "bindings": [{}]}})",
                                        bindings);
  EXPECT_EQ(expect_same(star(6, "100 GB/s"), trace_from(trace), ideal_profile()), 1U);
}

// Rank 13 is slow: itself; the three of its tp group; those at its place in other tp groups, which share dp
// groups with it; and the rest.
TEST(Symmetry, SplitsExactlyWhatAStragglerTouches) {
  const Topology topology = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "hosts": {"count": 4, "type": "dgx-h100"}, "fabric": {"family": "rail-optimized"},
    "faults": [{"device": "h1.gpu5", "compute": "80%"}]})");
  const StepTrace trace = workload_from(R"({"schema": "busbar.workload/1", "name": "w",
    "model": {"preset": "gpt2"}, "batch": {"sequence": 1024, "micro": 1, "global": 16},
    "parallel": {"tp": 4, "dp": 8}})");
  EXPECT_EQ(expect_same(topology, trace, default_profile()), 4U);
}

// Jitter per role slows a stage's ranks alike: the 2 x 8 ranks stay two classes. Per rank all are their own.
TEST(Symmetry, KeepsRanksApartThatJitterSetsApart) {
  const auto jittered = [](const char* per, const char* schedule) {
    return workload_from(fmt::format(
        R"({{"schema": "busbar.workload/1", "batch": {{"sequence": 64, "global": 32}},
            "model": {{"layers": 4, "hidden": 64, "ffn_hidden": 128, "heads": 4, "vocab": 128}},
            "parallel": {{"pp": 2, "dp": 8, "sharding": "zero1", "schedule": "{}"}},
            "jitter": {{"compute": {{"lognormal": 0.1, "per": "{}"}}}}}})",
        schedule, per));
  };
  const Topology cluster = topology_from(
      R"({"schema": "busbar.topology/1", "hosts": {"count": 2, "type": "dgx-h100"},
          "fabric": {"family": "rail-optimized"}})");
  for (const char* schedule : {"1f1b", "zb-2p"}) {
    EXPECT_EQ(expect_same(cluster, jittered("role", schedule), default_profile()), 2U) << schedule;
    EXPECT_EQ(expect_same(cluster, jittered("rank", schedule), default_profile()), 16U) << schedule;
    EXPECT_GT(expect_same(cluster, jittered("replica", schedule), default_profile()), 2U) << schedule;
  }
}

TEST(Symmetry, IsTheSameUnderRandomLayoutsAndFaults) {
  const std::vector<std::string> fabrics = {
      R"("rail-optimized", "hosts_per_leaf": 2)", R"("rail-only")", R"("single-switch")",
      R"("fat-tree", "hosts_per_leaf": 2, "oversubscription": 2)", R"("leaf-spine", "hosts_per_leaf": 2)"};
  std::uint64_t all = 0, classes = 0;
  for (std::uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const std::int64_t hosts = random.of<std::int64_t>({1, 2, 4});
    std::string faults;
    while (random.one_in(2)) {
      const std::int64_t host = random.below(hosts), gpu = random.below(8);
      if (!faults.empty()) break;
      faults = random.one_in(2)
                   ? fmt::format(R"({{"device": "h{}.gpu{}", "compute": "80%"}})", host, gpu)
                   : fmt::format(R"({{"link": "h{}.gpu{}--h{}.nvs", "bandwidth": "50%"}})", host, gpu, host);
    }
    const Topology topology = topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "{}"}},
            "fabric": {{"family": {}}}, "faults": [{}]}})",
        hosts, random.one_in(3) ? "dgx-a100" : "dgx-h100", hosts == 1 ? "\"none\"" : random.of(fabrics),
        faults));
    const std::int64_t tp = random.of<std::int64_t>({1, 2, 4});
    const std::int64_t cp = random.of<std::int64_t>({1, 1, 2});
    const std::int64_t pp = random.of<std::int64_t>({1, 2});
    const std::int64_t dp = 8 * hosts / (tp * cp * pp);
    if (dp == 0) continue;
    const std::string sharding =
        pp > 1 ? random.of<std::string>({"none", "zero1", "distributed"})
               : random.of<std::string>({"none", "zero1", "zero2", "zero3", "fsdp", "distributed"});
    const StepTrace trace = workload_from(fmt::format(
        R"({{"schema": "busbar.workload/1", "name": "w", "model": {{"layers": 4, "hidden": 512, "heads": 8,
             "ffn_hidden": 2048, "vocab": 1024}}, "batch": {{"sequence": 512, "micro": 1, "global": {}}},
             "parallel": {{"tp": {}, "cp": {}, "pp": {}, "dp": {}, "sharding": "{}", "sequence_parallel": {}}}}})",
        dp * 4, tp, cp, pp, dp, sharding, tp > 1 && random.one_in(2)));
    classes += expect_same(topology, trace, random.one_in(3) ? ideal_profile() : default_profile());
    all += trace.ranks;
  }
  EXPECT_LT(4 * classes, all);  // it merges most of them
}

// Data-parallel groups with one member per host, gathered in rounds at all distances, over leaves and pods
// that fit the layout or do not, sound or with one fault.
TEST(Symmetry, IsTheSameWhereRoundsGoBetweenHosts) {
  Overrides overrides;
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter})
    overrides.nccl.tuner.push_back({.kind = kind,
                                    .least = Bytes(0),
                                    .most = 1024_GiB,
                                    .algorithm = NcclAlgorithm::kPat,
                                    .protocol = Protocol::kSimple});
  std::uint64_t all = 0, classes = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const std::int64_t pp = random.of<std::int64_t>({1, 2});
    const std::int64_t dp = random.of<std::int64_t>({3, 4, 6, 8});
    const std::int64_t hosts = pp * dp;
    const std::vector<std::string> fabrics = {
        R"("rail-optimized", "hosts_per_leaf": 2)",
        R"("rail-optimized", "hosts_per_leaf": 3)",
        R"("rail-optimized", "hosts_per_leaf": 2, "hosts_per_pod": 4, "tiers": 3)",
        R"("rail-optimized", "hosts_per_leaf": 2, "oversubscription": 2)",
        R"("fat-tree", "hosts_per_leaf": 2, "oversubscription": 2)",
        R"("rail-only")",
        R"("single-switch")"};
    const std::int64_t host = random.below(hosts), gpu = random.below(8);
    const std::string faults = random.of<std::string>(
        {"", "", fmt::format(R"({{"device": "h{}.gpu{}", "compute": "80%"}})", host, gpu),
         fmt::format(R"({{"link": "h{}.gpu{}--h{}.nvs", "bandwidth": "50%"}})", host, gpu, host)});
    const Topology topology = topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "dgx-h100"}},
            "fabric": {{"family": {}}}, "faults": [{}]}})",
        hosts, random.of(fabrics), faults));
    const StepTrace trace = workload_from(fmt::format(
        R"({{"schema": "busbar.workload/1", "name": "w", "model": {{"layers": 4, "hidden": 512, "heads": 8,
             "ffn_hidden": 2048, "vocab": 1024}}, "batch": {{"sequence": 512, "micro": 1, "global": {}}},
             "parallel": {{"tp": 8, "pp": {}, "dp": {}, "sharding": "distributed", "sequence_parallel": true}}}})",
        dp * 2, pp, dp));
    const Profile& profile = default_profile();
    classes += expect_same(topology, trace, profile, overrides);
    all += trace.ranks;
    const RunResult r = simulate(topology, trace, profile, {.overrides = overrides});
    EXPECT_TRUE(std::any_of(r.collectives.begin(), r.collectives.end(),
                            [](const CollectiveRecord& c) { return c.algorithm == "pat"; }));
  }
  EXPECT_LT(2 * classes, all);
}

// Programs, groups and links at random: little symmetry, and odd kinds of it.
TEST(Symmetry, IsTheSameOnRandomTraces) {
  std::uint64_t all = 0, classes = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const std::int64_t n = random.of<std::int64_t>({4, 6, 8, 12});
    std::string devices, links;
    for (int i = 0; i < n; ++i) {
      devices += fmt::format(R"({{"id": "g{}", "kind": "gpu", "host": "h"}}, )", i);
      links += fmt::format(
          R"({}{{"from": "g{}", "to": "s", "bandwidth": "{}", "latency": "1 us", "type": "nvlink"}})",
          i == 0 ? "" : ", ", i, random.one_in(12) ? "37 GB/s" : "100 GB/s");
    }
    const Topology topology = topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "star", "devices": [{}{{"id": "s", "kind": "nvswitch", "host": "h"}}], "links": [{}]}})",
        devices, links));
    // Two partitions of the ranks into groups: neighbours, and those a stride apart.
    const std::int64_t width = random.of<std::int64_t>({2, n / 2, n});
    std::string groups, bindings;
    for (std::int64_t g = 0; g < n / width; ++g)
      groups += fmt::format(R"("near{}": "{}-{}", )", g, g * width, (g + 1) * width - 1);
    for (std::int64_t g = 0; g < width; ++g)
      groups +=
          fmt::format(R"("far{}": "{}-{}:{}"{})", g, g, n - width + g, width, g + 1 < width ? ", " : "");
    const auto ops = [&](std::int64_t slow) {
      std::string text;
      Random same(seed + 77);
      for (int i = 0; i < 7; ++i) {
        const std::string after = i == 0 ? "" : fmt::format(R"(, "after": ["o{}"])", i - 1);
        text += i == 0 ? "" : ", ";
        if (i > 1 && i < 6 && same.one_in(3)) {
          text += fmt::format(R"({{"id": "o{}", "op": "compute", "stream": "main", "duration": "{} us"{}}})",
                              i, 100 + same.below(3) * 50 + slow, after);
        } else if (i == 6 || (i > 1 && same.one_in(4))) {
          text += fmt::format(
              R"({{"id": "o{}", "op": "batch", "stream": "pp"{}, "ops": [{{"op": "send", "to": "next", "bytes": "{} MB"}},
                  {{"op": "recv", "from": "previous", "bytes": "{} MB"}}]}})",
              i, after, 5, 5);
        } else {
          text +=
              fmt::format(R"({{"id": "o{}", "op": "{}", "stream": "{}", "group": "{}", "bytes": "{} MB"{}}})",
                          i, same.of<std::string>({"all_reduce", "all_gather", "broadcast", "all_to_all"}),
                          same.of<std::string>({"a", "b"}),
                          i == 0   ? "near"
                          : i == 1 ? "far"
                                   : same.of<std::string>({"near", "far"}),
                          12 * (1 + same.below(4)), same.one_in(2) ? after : "");
        }
      }
      return text;
    };
    for (std::int64_t r = 0; r < n; ++r)
      bindings += fmt::format(
          R"({}{{"ranks": [{}], "program": "{}", "groups": {{"near": "near{}", "far": "far{}"}}, "peers": {{"next": {}, "previous": {}}}}})",
          r == 0 ? "" : ", ", r, random.one_in(10) ? "slow" : "usual", r / width, r % width, (r + 1) % n,
          (r + n - 1) % n);
    const StepTrace trace = trace_from(fmt::format(
        R"({{"schema": "busbar.trace/1", "name": "t", "groups": {{{}}}, "programs": {{"usual": {{"ops": [{}]}}, "slow": {{"ops": [{}]}}}}, "bindings": [{}], "repeat": {}}})",
        groups, ops(0), ops(13), bindings, 1 + random.below(2)));
    classes += expect_same(topology, trace, ideal_profile());
    all += trace.ranks;
  }
  EXPECT_LT(classes, all);
}

}  // namespace
}  // namespace busbar
