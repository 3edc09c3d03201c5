// Why an operation runs as it does: NCCL's table, what overruled it, transports, pipelines, switches.
#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

Topology hosts_of_h100(int hosts) {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "dgx-h100"}},
           "fabric": {{"family": "{}"}}}})",
      hosts, hosts == 1 ? "none" : "rail-optimized"));
}

Sweep explained(const Topology& topology, Bytes size, const Overrides& overrides = {},
                CollectiveKind kind = CollectiveKind::kAllReduce) {
  return sweep(topology, {.operation = kind, .ranks = {}, .sizes = {size}}, default_profile(),
               {.overrides = overrides, .explain = true});
}

const PricedChoice* chosen(const Explanation& e) {
  const PricedChoice* found = nullptr;
  for (const PricedChoice& c : e.choices.cells)
    if (c.chosen) found = found == nullptr ? &c : nullptr;
  return found;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string term(const Explanation& e, const std::string& name) {
  for (const FormulaTerm& t : e.terms)
    if (t.name == name) return t.text;
  return "";
}

// Seven algorithms by three protocols; the one that runs has the least estimate.
TEST(ExplainedChoice, MarksTheLeastEstimateOfTheWholeTable) {
  const Sweep s = explained(hosts_of_h100(1), 1_GiB);
  const Explanation& e = s.explanations.at(0);
  ASSERT_EQ(e.choices.cells.size(), 21U);
  const PricedChoice* best = chosen(e);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->algorithm, s.rows[0].algorithm);
  EXPECT_EQ(best->protocol, s.rows[0].protocol);
  for (const PricedChoice& c : e.choices.cells) {
    EXPECT_EQ(c.available, c.bandwidth_Bps > 0) << c.algorithm << "/" << c.protocol;
    EXPECT_FALSE(c.available && c.algorithm == "collnet-chain") << "one host has no network";
    if (!c.available) continue;
    EXPECT_GE(c.estimate_s, best->estimate_s) << c.algorithm << "/" << c.protocol;
    EXPECT_GT(c.estimate_s, c.latency_s);
  }
  EXPECT_TRUE(has(e.choices.decided_by, "NCCL 2.30.0 (constants since 2.29.7): the least estimate decided"))
      << e.choices.decided_by;
}

TEST(ExplainedChoice, NamesTheVersionsWhoseConstantsHold) {
  Overrides overrides;
  overrides.nccl.version = {2, 21, 5};
  const Sweep s = explained(hosts_of_h100(1), 1_MiB, overrides);
  EXPECT_TRUE(has(s.explanations.at(0).choices.decided_by, "NCCL 2.21.5 (constants since 2.21.0)"))
      << s.explanations.at(0).choices.decided_by;
}

TEST(ExplainedChoice, NamesWhatOverruledTheEstimates) {
  const Topology t = hosts_of_h100(1);
  const auto decided_by = [&](const Overrides& overrides) {
    return explained(t, 1_GiB, overrides).explanations.at(0).choices.decided_by;
  };
  EXPECT_TRUE(has(decided_by({.algorithm = "ring", .protocol = Protocol::kLl}),
                  "that --algorithm ring and --protocol LL leave"));
  EXPECT_TRUE(has(decided_by({.channels = 4}), "; --channels 4"));
  EXPECT_TRUE(
      has(decided_by({.algorithm = "halving-doubling"}), "--algorithm halving-doubling, which NCCL has not"));
  Overrides env;
  env.nccl.protocols[static_cast<std::size_t>(CollectiveKind::kAllReduce)] = {true, false, false};
  EXPECT_TRUE(has(decided_by(env), "that NCCL_PROTO leaves"));
  Overrides tuner;
  tuner.nccl.tuner = {{.kind = CollectiveKind::kAllReduce,
                       .least = Bytes(0),
                       .most = 2_GiB,
                       .algorithm = NcclAlgorithm::kTree,
                       .protocol = Protocol::kSimple,
                       .channels = 8}};
  EXPECT_TRUE(has(decided_by(tuner), "a rule of the tuner file decided"));
  Overrides log;
  log.nccl.log = NcclLog{.ranks = 8, .hosts = 1};
  log.nccl.log->calls = {{CollectiveKind::kAllReduce, 1_GiB, NcclAlgorithm::kTree, Protocol::kLl, 4}};
  EXPECT_TRUE(has(decided_by(log), "the log's own line for this size decided"));
}

// What is forced runs; the table still shows what NCCL would have weighed it against.
TEST(ExplainedChoice, ShowsTheWholeTableOfAForcedChoice) {
  const Sweep s = explained(hosts_of_h100(1), 1_GiB, {.algorithm = "tree", .protocol = Protocol::kLl});
  const PricedChoice* runs = chosen(s.explanations.at(0));
  ASSERT_NE(runs, nullptr);
  EXPECT_EQ(runs->algorithm + "/" + runs->protocol, "tree/LL");
  std::size_t faster = 0;
  for (const PricedChoice& c : s.explanations.at(0).choices.cells)
    if (c.available && c.estimate_s < runs->estimate_s) ++faster;
  EXPECT_EQ(faster, 6U);  // LL128 and Simple of both, ring/LL, NVLS
}

// The log's table alone: ring/Simple is its only cell.
TEST(ExplainedChoice, ShowsTheTableOfALog) {
  Overrides overrides;
  LoggedTable table{.kind = CollectiveKind::kAllReduce, .cells = {}};
  table.cells[static_cast<std::size_t>(NcclAlgorithm::kRing)][static_cast<std::size_t>(Protocol::kSimple)] = {
      10, 100};
  overrides.nccl.log = NcclLog{.ranks = 8, .hosts = 1};
  overrides.nccl.log->tables = {table};
  const Sweep s = explained(hosts_of_h100(1), Bytes(1000000), overrides);
  const Explanation& e = s.explanations.at(0);
  EXPECT_TRUE(has(e.choices.decided_by, "of the table that the log printed")) << e.choices.decided_by;
  const PricedChoice* best = chosen(e);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->algorithm, "ring");
  EXPECT_NEAR(best->estimate_s, 20e-6, 1e-12);  // 10 us + 1 MB / 100 GB/s
  EXPECT_TRUE(s.warnings.empty());
}

TEST(ExplainedChoice, WarnsOfALogOfAnotherGroup) {
  Overrides overrides;
  overrides.nccl.log = NcclLog{.ranks = 16, .hosts = 2};
  const Sweep s = explained(hosts_of_h100(1), 1_MiB, overrides);
  ASSERT_EQ(s.warnings.size(), 1U);
  EXPECT_EQ(s.warnings[0].code, "nccl-log-unused");
  EXPECT_TRUE(has(s.warnings[0].text, "16 ranks on 2 hosts"));
}

// Grouped sends have no table, and the ideal profile no NCCL.
TEST(ExplainedChoice, IsEmptyWhereNcclHasNone) {
  const Topology t = hosts_of_h100(1);
  EXPECT_TRUE(explained(t, 1_MiB, {}, CollectiveKind::kAllToAll).explanations.at(0).choices.cells.empty());
  const Sweep ideal = sweep(t, {.operation = CollectiveKind::kAllReduce, .ranks = {}, .sizes = {1_MiB}},
                            ideal_profile(), {.explain = true});
  EXPECT_TRUE(ideal.explanations.at(0).choices.cells.empty());
}

TEST(ExplainedChoice, IsThereForAStepToo) {
  const RunResult r = simulate(hosts_of_h100(1), trace_from(one_program(8, R"(
      {"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "200 MB"})")),
                               default_profile(), {.explain = true});
  ASSERT_EQ(r.explanations.size(), 1U);
  EXPECT_NE(chosen(r.explanations[0]), nullptr);
}

std::vector<TransportUse> transports(const std::string& hosts, std::vector<std::uint32_t> ranks = {}) {
  const bool one = hosts.find("\"count\": 1,") != std::string::npos;
  const Topology t = topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{{}}}, "fabric": {{"family": "{}"}}}})",
      hosts, one ? "none" : "rail-optimized"));
  return sweep(t, {.operation = CollectiveKind::kAllReduce, .ranks = std::move(ranks), .sizes = {1_MiB}},
               default_profile(),
               {.overrides = {.algorithm = "ring", .protocol = Protocol::kSimple}, .explain = true})
      .explanations.at(0)
      .transports;
}

TEST(ExplainedTransports, AreThoseOfTheRoutes) {
  const Profile profile = default_profile();
  const NetworkTransport& rdma = profile.network(Transport::kRdma);
  const auto h100 = transports(R"("count": 2, "type": "dgx-h100")");
  ASSERT_EQ(h100.size(), 2U);
  EXPECT_EQ(h100[0].where, "in a host");
  EXPECT_EQ(h100[0].transport, "nvlink");
  EXPECT_EQ(h100[1].where, "between hosts");
  EXPECT_EQ(h100[1].transport, "rdma");
  EXPECT_EQ(h100[1].efficiency, rdma.efficiency);
  EXPECT_EQ(h100[1].hop_latency, Time::from_microseconds(rdma.ring_hop_us[2]));
  EXPECT_EQ(transports(R"("count": 2, "type": "dgx-h100")", {0, 8}).size(), 1U);
}

// Cards 0 and 1 share a PCIe switch; without peer access they copy through the CPU's memory.
TEST(ExplainedTransports, TellPeersFromHostMemory) {
  const Profile profile = default_profile();
  const auto peer = transports(R"("count": 1, "type": "pcie-8", "gpu": "L40S-48GB")", {0, 1});
  ASSERT_EQ(peer.size(), 1U);
  EXPECT_EQ(peer[0].transport, "pcie peer");
  EXPECT_EQ(peer[0].efficiency, profile.pcie_peer.efficiency);
  const auto memory =
      transports(R"("count": 1, "type": "pcie-8", "gpu": "L40S-48GB", "peer_access": false)", {0, 1});
  ASSERT_EQ(memory.size(), 1U);
  EXPECT_EQ(memory[0].transport, "host memory");
  EXPECT_EQ(memory[0].efficiency, profile.host_memory.efficiency);
  EXPECT_EQ(memory[0].hop_latency, Time::from_microseconds(profile.host_memory.hop_us[2]));
}

// One channel: V is all of S on the one path, and the ceiling is that of the protocol.
TEST(ExplainedPipelines, WriteTheirOwnFormula) {
  for (const char* algorithm : {"tree", "nvls-tree"}) {
    const Sweep s = explained(hosts_of_h100(2), 256_MiB, {.algorithm = algorithm});
    const Explanation& e = s.explanations.at(0);
    EXPECT_EQ(e.algorithm, algorithm);
    EXPECT_EQ(e.alone, e.latency + e.transfer + e.tail);
    EXPECT_TRUE(has(term(e, "latency"), "base ")) << term(e, "latency");
    EXPECT_TRUE(has(term(e, "latency"), "hops of its longest path (")) << term(e, "latency");
    EXPECT_TRUE(has(term(e, "latency"), " x rdma ")) << term(e, "latency");
    EXPECT_TRUE(has(term(e, "V"), "share x S / m = ")) << term(e, "V");
    EXPECT_TRUE(has(term(e, "cap"), "B share / m / (1 + (S_half / S)^g) = ")) << term(e, "cap");
    EXPECT_FALSE(term(e, "r").empty());
  }
}

// Between two hosts a tree carries S each way, and busbw counts 2(n-1)/n S.
TEST(BeyondLineRate, IsSaidWhereItMayHappenAndNotedWhereItDoes) {
  const Topology two = hosts_of_h100(2);
  const Sweep fast = explained(two, 8_GiB, {.algorithm = "nvls-tree"});
  ASSERT_GT(fast.rows[0].busbw_Bps, 400e9);
  ASSERT_EQ(fast.notes.size(), 1U);
  EXPECT_TRUE(has(fast.notes[0], "nvls-tree: two hosts")) << fast.notes[0];
  EXPECT_TRUE(has(fast.notes[0], "400 GB/s")) << fast.notes[0];
  EXPECT_TRUE(has(fast.explanations.at(0).beyond, "two hosts: each host's NICs carry S each way"));
  const Sweep small = explained(two, 1_KiB, {.algorithm = "tree"});
  EXPECT_TRUE(small.notes.empty());
  EXPECT_FALSE(small.explanations.at(0).beyond.empty());
  const Sweep ring = explained(two, 8_GiB, {.algorithm = "ring"});
  EXPECT_TRUE(ring.notes.empty());
  EXPECT_EQ(ring.explanations.at(0).beyond, "");
  const Sweep four = explained(hosts_of_h100(4), 1_GiB, {.algorithm = "tree"});
  EXPECT_EQ(four.explanations.at(0).beyond, "");  // a NIC carries 2 S of the two trees
  const Sweep one = explained(hosts_of_h100(1), 1_GiB, {.algorithm = "nvls"});
  EXPECT_TRUE(has(one.explanations.at(0).beyond, "(1 + 1/n) S each way"));
}

// Two hosts of two: switches 0 and 1 are the hosts', and every switch that is named is one of them.
TEST(ExplainedRounds, NumberTheSwitches) {
  const Sweep s = sweep(hosts_of_h100(2),
                        {.operation = CollectiveKind::kAllReduce, .ranks = {1, 2, 9, 10}, .sizes = {1_KiB}},
                        default_profile(), {.overrides = {.algorithm = "nvls-tree"}, .explain = true});
  bool named[2] = {false, false};
  for (const ExplainedRound& round : s.explanations.at(0).rounds)
    for (const ExplainedSend& send : round.sends) {
      EXPECT_FALSE(send.from_switch && send.to_switch);
      if (send.from_switch) {
        ASSERT_LT(send.from, 2U);
        named[send.from] = true;
        EXPECT_EQ(send.to / 8, send.from) << "a switch serves its own host";
      } else {
        EXPECT_TRUE(send.from == 1 || send.from == 2 || send.from == 9 || send.from == 10);
      }
    }
  EXPECT_TRUE(named[0] && named[1]);
  const Sweep network = sweep(
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
                              "fabric": {"family": "rail-optimized", "sharp": true}})"),
      {.operation = CollectiveKind::kAllReduce, .ranks = {0, 8}, .sizes = {1_KiB}}, default_profile(),
      {.overrides = {.algorithm = "collnet-chain"}, .explain = true});
  bool reduced = false;
  for (const ExplainedRound& round : network.explanations.at(0).rounds)
    for (const ExplainedSend& send : round.sends) reduced |= send.to_switch && send.to == 2;
  EXPECT_TRUE(reduced) << "the network's switch comes after those of the two hosts";
}

}  // namespace
}  // namespace busbar
