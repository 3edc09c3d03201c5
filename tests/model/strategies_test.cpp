// Steps of every strategy and layout, simulated: they end, their time adds up, and they cost what their parts
// cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "tests/support/inline.h"
#include "tests/support/seeded.h"

namespace busbar {
namespace {

Topology hosts(int count, const std::string& nic = "400 Gb/s", const std::string& type = "dgx-h100") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "hosts", "hosts": {{"count": {}, "type": "{}", "nic": "{}"}},
          "fabric": {{"family": "rail-optimized"}}}})",
      count, type, nic));
}

// ---- Random layouts ----

const char* pick(Seeded& random, const std::vector<const char*>& names) {
  return names[random.index(0, static_cast<std::int64_t>(names.size()) - 1)];
}

/// A layout of at most 64 ranks that a block of 8 heads, 8 experts and 64 tokens allows.
struct RandomLayout {
  std::int64_t tp, cp, pp, dp, ep, etp, virtual_stages, microbatches;
  std::string schedule, sharding, shard_size;
  bool experts;
};

RandomLayout random_layout(Seeded& random) {
  RandomLayout l;
  l.tp = std::int64_t{1} << random.integer(0, 1);
  l.cp = std::int64_t{1} << random.integer(0, 1);
  l.pp = std::int64_t{1} << random.integer(0, 2);
  l.dp = std::int64_t{1} << random.integer(0, 2);
  l.experts = random.one_in(2);
  l.etp = l.experts && random.one_in(2) ? 1 : l.tp;
  l.ep = l.experts ? std::gcd(l.tp * l.cp * l.dp / l.etp, std::int64_t{1} << random.integer(0, 3)) : 1;
  l.schedule = pick(random, {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-2p"});
  l.virtual_stages = l.schedule == "interleaved" ? random.integer(1, 2) : 1;
  l.microbatches = l.pp * random.integer(1, 3);
  l.sharding = l.schedule.starts_with("zb")
                   ? pick(random, {"none", "zero1", "zero2", "distributed", "parameter-server", "horovod"})
                   : pick(random, {"none", "zero1", "zero2", "zero3", "fsdp", "hsdp", "distributed",
                                   "parameter-server", "horovod"});
  if (l.sharding == "hsdp" || (l.sharding[0] == 'z' && random.one_in(3)))
    l.shard_size = fmt::format(R"(, "shard_size": {})", std::gcd(l.dp * l.cp, random.integer(1, 4)));
  return l;
}

std::string workload_text(const RandomLayout& l, Seeded& random) {
  const auto flag = [&] { return random.one_in(2) ? "true" : "false"; };
  const std::string experts =
      l.experts ? fmt::format(R"(, "experts": 8, "top_k": 2, "expert_ffn_hidden": 32, "shared_experts": {})",
                              random.integer(0, 1))
                : "";
  const std::string load = pick(random, {R"({"zipf": 0})", R"({"zipf": 1})", R"({"hot_expert": 2})"});
  const std::string moe = l.experts ? fmt::format(R"(, "moe": {{"imbalance": {}}})", load) : "";
  return fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "random",
          "model": {{"layers": 8, "hidden": 64, "ffn_hidden": 128, "heads": 8, "kv_heads": 4, "vocab": 512,
                     "tied_embeddings": {}{}}},
          "batch": {{"sequence": 64, "micro": 1, "global": {}}}, "recompute": "{}",
          "parallel": {{"tp": {}, "cp": {}, "pp": {}, "dp": {}, "ep": {}, "etp": {}, "sharding": "{}"{},
                        "order": "{}", "sequence_parallel": {}, "schedule": "{}", "virtual_stages": {}}},
          "context": {{"method": "{}"}}, "fsdp": {{"reshard_after_forward": {}, "prefetch": {}}},
          "overlap": {{"dp": {}, "tp": {}, "pp": {}, "ep": {}, "cp": {}}}{}}})",
      flag(), experts, l.microbatches * l.dp, pick(random, {"none", "selective", "full"}), l.tp, l.cp, l.pp,
      l.dp, l.ep, l.etp, l.sharding, l.shard_size,
      pick(random, {"tp-cp-dp-pp", "tp-cp-pp-dp", "dp-tp-pp-cp"}), flag(), l.schedule, l.virtual_stages,
      pick(random, {"ring", "all_gather", "ulysses"}), flag(), random.integer(0, 1), flag(), flag(), flag(),
      flag(), flag(), moe);
}

void expect_bound_once(const StepTrace& trace) {
  std::vector<int> bound(trace.ranks, 0);
  for (const Binding& binding : trace.bindings)
    for (const std::uint32_t rank : expand(binding.ranks)) ++bound.at(rank);
  for (const int times : bound) EXPECT_EQ(times, 1);
}

TEST(RandomLayouts, EndWithoutDeadlockAndAddUp) {
  constexpr std::uint64_t kSeed = 20261129;
  Seeded random(kSeed);
  const Topology cluster = hosts(8);
  for (int trial = 0; trial < 300; ++trial) {
    const std::string text = workload_text(random_layout(random), random);
    SCOPED_TRACE(fmt::format("seed {} trial {}\n{}", kSeed, trial, text));
    const StepTrace trace = workload_from(text);
    expect_bound_once(trace);
    for (const Program& program : trace.programs) EXPECT_GT(program.memory->total(), 0_B);
    const RunResult r = simulate_ideal(cluster, trace);
    EXPECT_GT(r.step_time, Time::zero());
    EXPECT_EQ(unaccounted(r.split), Time::zero());
    EXPECT_GT(r.memory->total, 0_B);
  }
}

// ---- Pipelines ----

/// Blocks of equal time on `stages` stages, forward 2 ms a stage and backward twice that; messages are empty.
RunResult piped(std::int64_t stages, std::int64_t microbatches, std::int64_t chunks, const char* schedule) {
  const std::int64_t blocks = stages * chunks;
  return simulate_ideal(
      star(static_cast<int>(stages), "100 GB/s"),
      workload_from(fmt::format(
          R"({{"schema": "busbar.workload/1", "name": "pipeline", "batch": {{"global": {}}}, "optimizer": {{"kind": "none"}},
              "model": {{"parameters": [{{"name": "b", "shape": [8], "count": {}, "forward": "{} us", "backward": "{} us"}}]}},
              "parallel": {{"pp": {}, "dp": 1, "schedule": "{}", "virtual_stages": {}}}}})",
          microbatches, blocks, 2000 / chunks, 4000 / chunks, stages, schedule, chunks)));
}

double bubble_share(const RunResult& r) { return r.split.bubble.seconds() / r.step_time.seconds(); }

// (p - 1) / (m + p - 1), and with v chunks (p - 1) / v in place of p - 1.
TEST(Pipelines, WaitForTheirNeighboursAsLongAsTheClosedFormSays) {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    EXPECT_NEAR(bubble_share(piped(8, 64, 1, schedule)), 7.0 / 71, 1e-9) << schedule;
    EXPECT_NEAR(bubble_share(piped(8, 32, 1, schedule)), 7.0 / 39, 1e-9) << schedule;
  }
  EXPECT_NEAR(bubble_share(piped(8, 32, 4, "interleaved")), 1.75 / 33.75, 1e-9);
  EXPECT_NEAR(1.75 / 33.75, 0.052, 0.0002);
  EXPECT_EQ(piped(8, 64, 1, "1f1b").step_time, Time::from_seconds(71 * 6e-3));
}

/// A transformer's pipeline in which a forward and either part of a backward take 1 ms a stage, and messages
/// nothing.
RunResult equal_parts(std::int64_t stages, std::int64_t microbatches, const char* schedule) {
  StepTrace trace = workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "batch": {{"sequence": 8, "global": {}}}, "optimizer": {{"kind": "none"}},
          "model": {{"layers": {}, "hidden": 8, "ffn_hidden": 8, "heads": 1, "vocab": 8}},
          "parallel": {{"pp": {}, "dp": 1, "schedule": "{}"}}}})",
      microbatches, stages, stages, schedule));
  for (Program& program : trace.programs) {
    std::set<std::tuple<Phase, bool, std::int32_t>> known;  // the first kernel of a part stands for all
    for (Op& op : program.ops) {
      for (Transfer& transfer : op.transfers) transfer.bytes = 0_B;
      if (op.kind != OpKind::kCompute) continue;
      const bool first = known.insert({op.phase, op.id.ends_with(".wgrad"), op.microbatch}).second;
      op.work = KernelWork{.duration = Time::from_seconds(first ? 1e-3 : 0)};
    }
  }
  return simulate_ideal(star(static_cast<int>(stages), "100 GB/s"), trace);
}

// Apart and s late, weight gradients leave (p - 1) f of the bubble. With twice the forwards ahead, too, each
// stage works from its first forward on; the next step begins on each stage where the last one ended, so
// that nothing is left. With fewer than 2 p - 1 microbatches as many forwards are missing.
TEST(Pipelines, HaveNoBubbleWhereStepsFollowEachOther) {
  for (const std::int64_t p : {2, 4, 8}) {
    for (const std::int64_t m : {2 * p - 1, 3 * p}) {
      const RunResult none = equal_parts(p, m, "zb-2p");
      EXPECT_EQ(none.step_time, Time::from_seconds(static_cast<double>(3 * m) * 1e-3)) << p << " " << m;
      EXPECT_EQ(none.split.bubble, Time::zero());
      EXPECT_EQ(none.split.compute, none.step_time);
      EXPECT_EQ(unaccounted(none.split), Time::zero());
      for (const RoleRecord& role : none.roles) EXPECT_EQ(role.compute, none.split.compute);
      for (const CollectiveRecord& c : none.collectives) EXPECT_EQ(c.count % m, 0) << c.count;
      EXPECT_EQ(equal_parts(p, m, "zb-h1").step_time,
                Time::from_seconds(static_cast<double>(3 * m + p - 1) * 1e-3));
    }
    EXPECT_EQ(equal_parts(p, p, "zb-2p").step_time,
              Time::from_seconds(static_cast<double>(3 * p + (2 * p - 1 - p)) * 1e-3));
  }
}

// ---- Jitter ----

// A kernel of 10 ms on each of four ranks, then a sum: all wait for the slowest, 10 ms times its factor.
TEST(Jitter, MakesAllWaitForTheSlowest) {
  const auto text = [](const char* per) {
    return fmt::format(
        R"({{"schema": "busbar.workload/1", "batch": {{"global": 4}}, "optimizer": {{"kind": "none"}},
          "model": {{"parameters": [{{"name": "b", "shape": [8], "forward": "4 ms", "backward": "6 ms"}}]}},
          "parallel": {{"dp": 4}}, "jitter": {{"compute": {{"lognormal": 0.2, "per": "{}"}}}}}})",
        per);
  };
  const StepTrace trace = workload_from(text("rank"));
  ASSERT_EQ(trace.slowdowns.size(), 4U);
  double slowest = 0;
  for (const Slowdown& slowdown : trace.slowdowns) slowest = std::max(slowest, slowdown.factor);
  const double step = simulate_ideal(star(4, "100 GB/s"), trace).step_time.seconds();
  EXPECT_NEAR(step, 10e-3 * slowest + 2.0 * 3 / 4 * 16 / 100e9, 2e-12);
  // All ranks of the one role are slowed alike.
  const StepTrace role = workload_from(text("role"));
  ASSERT_EQ(role.slowdowns.size(), 1U);
  EXPECT_NEAR(simulate_ideal(star(4, "100 GB/s"), role).step_time.seconds(),
              10e-3 * role.slowdowns[0].factor + 2.0 * 3 / 4 * 16 / 100e9, 2e-12);
}

// ---- Experts ----

/// The mean time of an exchange of tokens that is bound by bandwidth, one expert per rank.
double dispatch_seconds(const std::string& moe) {
  const RunResult r = simulate_ideal(
      hosts(1),
      workload_from(
          R"({"schema": "busbar.workload/1", "name": "experts", "batch": {"sequence": 4096, "global": 8},
              "parallel": {"dp": 8, "ep": 8}, "optimizer": {"kind": "none"},
              "model": {"layers": 1, "hidden": 4096, "ffn_hidden": 1024, "heads": 32, "vocab": 128, "experts": 8,
                        "top_k": 1, "expert_ffn_hidden": 1024})" +
          moe + "}"));
  double sum = 0;
  std::int64_t number = 0;
  for (const CollectiveRecord& c : r.collectives)
    if (c.operation == "all_to_all") {
      sum += c.time.seconds() * static_cast<double>(c.count);
      number += c.count;
    }
  EXPECT_EQ(number, 4);
  return sum / static_cast<double>(number);
}

// All but the hot rank send it 2/8 instead of 1/8 of their tokens: its link carries twice as much.
TEST(Experts, AHotOneDoublesTheExchange) {
  const double even = dispatch_seconds("");
  EXPECT_NEAR(even, 7.0 / 8 * 33554432 / 450e9, 0.1 * even);
  const double ratio = dispatch_seconds(R"(, "moe": {"imbalance": {"hot_expert": 2}})") / even;
  EXPECT_GT(ratio, 1.7);
  EXPECT_LT(ratio, 2.2);
}

/// Bytes that the experts' exchanges of a step put on links of a class, over all its links.
double expert_bytes(std::int64_t host_ranks, const std::string& limit, const std::string& link_class) {
  Workload w = read_workload(JsonDocument::parse(
      R"({"schema": "busbar.workload/1", "name": "experts", "batch": {"sequence": 256, "global": 32},
          "parallel": {"dp": 32, "ep": 32}, "optimizer": {"kind": "none"},
          "model": {"layers": 1, "hidden": 1024, "ffn_hidden": 1024, "heads": 8, "vocab": 128, "experts": 32,
                    "top_k": 8, "expert_ffn_hidden": 1024}, "moe": {"node_limit": )" +
          limit + "}}",
      "workload"));
  w.parallel.host_ranks = host_ranks;
  double bytes = 0;
  for (const Explanation& e : simulate(hosts(4), expand(w), ideal_profile(), {.explain = true}).explanations)
    if (e.operation == "all_to_all")
      for (const ClassTraffic& c : e.crosses)
        if (c.link_class == link_class) bytes += c.bytes;
  return bytes;
}

// 32 ranks on N = 4 hosts; dispatch and combine, forward and backward are four exchanges. Of a token's top_k
// = 8 rows (N - 1)/N leave the host; under a limit of M hosts, M of its copies instead of 8 rows, and 7/8 of
// the 8 rows go on over NVLink, up to the switches and down.
TEST(Experts, UnderALimitCrossTheNetworkOncePerHost) {
  const double token = 256.0 * 1024 * 2, exchanged = 32 * 4 * token;
  EXPECT_NEAR(expert_bytes(8, "null", "nic->leaf"), exchanged * 8 * 3 / 4, 1);
  for (const double limit : {1.0, 2.0, 4.0}) {
    const std::string text = fmt::format("{}", limit);
    EXPECT_NEAR(expert_bytes(8, text, "nic->leaf"), exchanged * limit * 3 / 4, 1) << limit;
    EXPECT_NEAR(expert_bytes(8, text, "leaf->nic"), exchanged * limit * 3 / 4, 1) << limit;
    EXPECT_NEAR(expert_bytes(8, text, "nvlink"), exchanged * 8 * 7 / 8 * 2, 1) << limit;
  }
}

/// Of one combine of 4,096 tokens a rank, hidden 7168, in bf16: top 8 of 256 experts on at most four hosts of
/// 8 H800 with 8 x 400 Gb/s.
double combine_seconds(int count) {
  Workload w = read_workload(JsonDocument::parse(
      fmt::format(
          R"({{"schema": "busbar.workload/1", "name": "experts", "batch": {{"sequence": 4096, "global": {0}}},
          "parallel": {{"dp": {0}, "ep": {0}}}, "optimizer": {{"kind": "none"}}, "moe": {{"node_limit": 4}},
          "model": {{"layers": 1, "hidden": 7168, "ffn_hidden": 2048, "heads": 8, "vocab": 128, "experts": 256,
                    "top_k": 8, "expert_ffn_hidden": 2048}}}})",
          8 * count),
      "workload"));
  w.parallel.host_ranks = 8;
  const RunResult r = simulate(hosts(count, "400 Gb/s", "h800"), expand(w), default_profile(), {});
  Time longest;
  for (const CollectiveRecord& c : r.collectives)
    if (c.group == "ep") longest = std::max(longest, c.time);
  return longest.seconds();
}

// Published: 43, 57 and 50 GB/s, of one copy a host that a token goes to, its own host included
// (deepseek-ai/DeepEP, docs/legacy.md, and tests/test_internode.py for what counts). On two hosts NVLink is
// the narrower.
TEST(Experts, UnderALimitTakeAsLongAsPublished) {
  const double copy = 4096.0 * 7168 * 2;
  EXPECT_NEAR(combine_seconds(2) / (2 * copy / 43e9), 1, 0.05);
  EXPECT_NEAR(combine_seconds(4) / (4 * copy / 57e9), 1, 0.05);
  EXPECT_NEAR(combine_seconds(8) / (4 * copy / 50e9), 1, 0.05);
}

// ---- Strategies against each other ----

StepTrace llama(const std::string& parallel, const std::string& more = "", int global = 16) {
  return workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "llama", "model": {{"preset": "llama-2-7b"}},
          "batch": {{"sequence": 4096, "micro": 1, "global": {}}}, "parallel": {}{}}})",
      global, parallel, more));
}

// 13.5 GB three times over slow NICs, or an eighth of it once.
TEST(Strategies, HybridShardsBeatFullOnesBehindSlowNics) {
  const Topology slow = hosts(2, "25 Gb/s");
  const RunResult full = simulate(slow, llama(R"({"dp": 16, "sharding": "fsdp"})"), default_profile(), {});
  const RunResult hybrid =
      simulate(slow, llama(R"({"dp": 16, "sharding": "hsdp", "shard_size": 8})"), default_profile(), {});
  EXPECT_LT(hybrid.step_time.seconds(), 0.6 * full.step_time.seconds());
}

// Both send 2 (n - 1)/n of the parameters in rings.
TEST(Strategies, ShardsThatStayGatheredCostWhatReplicasCost) {
  SimOptions rings;
  rings.overrides.algorithm = "ring";
  const std::string bare = R"(, "optimizer": {"kind": "none"})";
  const Topology t = hosts(2);
  const RunResult replicas =
      simulate(t, llama(R"({"dp": 16, "sharding": "none"})", bare), default_profile(), rings);
  const RunResult shards = simulate(
      t, llama(R"({"dp": 16, "sharding": "fsdp"})", bare + R"(, "fsdp": {"reshard_after_forward": false})"),
      default_profile(), rings);
  EXPECT_NEAR(shards.step_time.seconds() / replicas.step_time.seconds(), 1, 0.03);
}

// Pairs of ranks on two hosts: 32 blocks of two all-reduces each way, and one each of embedding and head, of
// 32 MiB over a NIC of 50 GB/s; the loss's small ones beside.
TEST(Strategies, TensorParallelismBetweenHostsCostsItsAllReduces) {
  const StepTrace trace =
      llama(R"({"tp": 2, "dp": 8, "order": "dp-tp-cp-pp"})", R"(, "optimizer": {"kind": "none"})", 8);
  const RunResult r = simulate_ideal(hosts(2), trace);
  const double each = 2.0 * 1 / 2 * 4096 * 4096 * 2 / 50e9;
  double spent = 0;
  for (const CollectiveRecord& c : r.collectives)
    if (c.group == "tp") spent += c.time.seconds() * static_cast<double>(c.count);
  EXPECT_NEAR(spent, (32 * 4 + 2) * each, 0.02 * spent);
  // Forward's are all exposed; backward's run beside the weight gradients.
  const double exposed = r.split.exposed_by_group.at("tp").seconds();
  EXPECT_GT(exposed, (32 * 2 + 1) * each);
  EXPECT_LT(exposed, spent);
}

}  // namespace
}  // namespace busbar
