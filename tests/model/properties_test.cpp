// Laws that hold on any machine: scaling, renaming, conservation, and plans against messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/inline.h"
#include "tests/support/seeded.h"
#include "topologies/topology_io.h"

namespace busbar {
namespace {

// A random cluster in the long form: hosts of GPUs on an NVLink switch, each GPU with a NIC on its PCIe
// switch, all NICs on one switch; every link with a bandwidth of its own, times `scale`.
struct Machine {
  int hosts = 1, gpus = 2;
  std::vector<int> nvlink, pcie, wire;  // GB/s by GPU
  explicit Machine(Seeded& random)
      : hosts(static_cast<int>(random.integer(1, 3))), gpus(static_cast<int>(random.integer(2, 4))) {
    for (int i = 0; i < hosts * gpus; ++i) {
      nvlink.push_back(static_cast<int>(random.integer(100, 400)));
      pcie.push_back(static_cast<int>(random.integer(30, 60)));
      wire.push_back(static_cast<int>(random.integer(10, 50)));
    }
  }
  [[nodiscard]] std::string text(double scale, const std::string& prefix = "h") const {
    std::string devices = R"({"id": "net", "kind": "switch"})";
    std::string links;
    const auto link = [&](const std::string& a, const std::string& b, double bandwidth, const char* type) {
      links += fmt::format(
          R"({}{{"from": "{}", "to": "{}", "bandwidth": "{} GB/s", "latency": "0 s", "type": "{}"}})",
          links.empty() ? "" : ", ", a, b, bandwidth * scale, type);
    };
    for (int h = 0; h < hosts; ++h) {
      const std::string host = fmt::format("{}{}", prefix, h);
      devices += fmt::format(R"(, {{"id": "{0}.nvs", "kind": "nvswitch", "host": "{0}"}})", host);
      for (int g = 0; g < gpus; ++g) {
        const auto i = static_cast<std::size_t>(h * gpus + g);
        devices += fmt::format(
            R"(, {{"id": "{0}.gpu{1}", "kind": "gpu", "host": "{0}"}}, {{"id": "{0}.pcie{1}", "kind": "pcie-switch", "host": "{0}"}},
                                   {{"id": "{0}.nic{1}", "kind": "nic", "host": "{0}"}})",
            host, g);
        link(fmt::format("{}.gpu{}", host, g), host + ".nvs", nvlink[i], "nvlink");
        link(fmt::format("{}.gpu{}", host, g), fmt::format("{}.pcie{}", host, g), pcie[i], "pcie");
        link(fmt::format("{}.pcie{}", host, g), fmt::format("{}.nic{}", host, g), pcie[i], "pcie");
        link(fmt::format("{}.nic{}", host, g), "net", wire[i], "rdma");
      }
    }
    return fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "random", "devices": [{}], "links": [{}]}})", devices,
        links);
  }
};

constexpr CollectiveKind kKinds[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
    CollectiveKind::kBroadcast, CollectiveKind::kReduce,    CollectiveKind::kGather,
    CollectiveKind::kScatter,   CollectiveKind::kAllToAll,  CollectiveKind::kSendRecv};

double seconds(const Topology& t, CollectiveKind kind, Bytes bytes, bool chunks = false,
               std::vector<std::uint32_t> ranks = {}) {
  return sweep(t, {.operation = kind, .ranks = std::move(ranks), .sizes = {bytes}}, ideal_profile(),
               {.chunks = chunks})
      .rows.front()
      .time.seconds();
}

Bytes some_bytes(Seeded& random, const Machine& m) {
  return Bytes(random.integer(1, 64) * m.hosts * m.gpus * m.hosts * m.gpus * 4096);
}

TEST(Properties, ScalingAllCapacitiesScalesTime) {
  Seeded random(901);
  for (int trial = 0; trial < 60; ++trial) {
    const Machine m(random);
    const Bytes bytes = some_bytes(random, m);
    const Topology once = topology_from(m.text(1));
    const Topology four = topology_from(m.text(4));
    for (const CollectiveKind kind : kKinds)
      ASSERT_NEAR(seconds(once, kind, bytes), 4 * seconds(four, kind, bytes), 1e-11)
          << name_of(kind) << ", seed 901, trial " << trial;
  }
}

TEST(Properties, RenamingDevicesChangesNothing) {
  Seeded random(902);
  for (int trial = 0; trial < 60; ++trial) {
    const Machine m(random);
    const Bytes bytes = some_bytes(random, m);
    const Topology plain = topology_from(m.text(1));
    const Topology renamed = topology_from(m.text(1, "rack-z"));
    for (const CollectiveKind kind : kKinds)
      ASSERT_EQ(seconds(plain, kind, bytes), seconds(renamed, kind, bytes))
          << name_of(kind) << ", seed 902, trial " << trial;
  }
}

TEST(Properties, MoreBandwidthOnAnyLinkNeverSlowsALoneCollective) {
  Seeded random(903);
  for (int trial = 0; trial < 60; ++trial) {
    Machine m(random);
    const Bytes bytes = some_bytes(random, m);
    const Topology before = topology_from(m.text(1));
    const std::size_t which = random.index(0, m.hosts * m.gpus - 1);
    std::vector<int>& links = random.one_in(3) ? m.nvlink : random.one_in(2) ? m.pcie : m.wire;
    links[which] += static_cast<int>(random.integer(1, 100));
    const Topology after = topology_from(m.text(1));
    for (const CollectiveKind kind : kKinds)
      ASSERT_LE(seconds(after, kind, bytes), seconds(before, kind, bytes))
          << name_of(kind) << ", seed 903, trial " << trial;
  }
}

// Every byte that one host has for another leaves it by a NIC and enters the other by a NIC: of an
// all_to_all, S/n for each ordered pair of GPUs of different hosts, however the machine is wired.
TEST(Properties, ConservesBytesBetweenHosts) {
  Seeded random(904);
  for (int trial = 0; trial < 40; ++trial) {
    const Machine m(random);
    const int n = m.hosts * m.gpus;
    const Bytes bytes = some_bytes(random, m);
    const Topology t = topology_from(m.text(1));
    const RunResult r = simulate_ideal(
        t, trace_from(one_program(
               n, fmt::format(
                      R"({{"id": "x", "op": "all_to_all", "stream": "s", "group": "all", "bytes": "{} B"}})",
                      bytes.count()))));
    double out = 0;
    double in = 0;
    for (const LinkRecord& l : r.links) {
      if (l.link_class == "nic->switch") out += l.bytes * static_cast<double>(l.members);
      if (l.link_class == "switch->nic") in += l.bytes * static_cast<double>(l.members);
    }
    const double expected = bytes.as_double() * (n - m.gpus);  // n GPUs, each S/n for n - gpus others
    ASSERT_NEAR(out, expected, 1e-6 * expected) << "seed 904, trial " << trial;
    ASSERT_NEAR(in, expected, 1e-6 * expected) << "seed 904, trial " << trial;
  }
}

// The schedule message by message on the same solver. Without latency a plan takes all of a channel's hops as
// one coupled pipeline at the pace of its slowest link, so messages never take longer; and that link has all
// its bytes to carry, so they save at most the filling of the pipeline: a chunk per hop.
TEST(Properties, MessagesTakeWhatPlansSayOnRandomMachines) {
  Seeded random(905);
  for (int trial = 0; trial < 40; ++trial) {
    const Machine m(random);
    // A random group, in random order.
    std::vector<std::uint32_t> ranks(static_cast<std::size_t>(m.hosts * m.gpus));
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::shuffle(ranks.begin(), ranks.end(), random.engine());
    ranks.resize(random.index(2, m.hosts * m.gpus));
    const auto n = static_cast<double>(ranks.size());
    const Bytes bytes(random.integer(1, 64) * static_cast<std::int64_t>(n * n) * 4096);
    const Topology t = topology_from(m.text(1));
    for (const CollectiveKind kind : kKinds) {
      const double plan = seconds(t, kind, bytes, false, ranks);
      const double messages = seconds(t, kind, bytes, true, ranks);
      const bool chain = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
      const double fill = chain ? plan * (n - 2) / (2 * n - 2) : 0;
      ASSERT_LE(messages, plan + 1e-10) << name_of(kind) << ", seed 905, trial " << trial;
      ASSERT_GE(messages, plan - fill - 1e-10) << name_of(kind) << ", seed 905, trial " << trial;
    }
  }
}

// With NCCL's constants as well: the same algorithm, protocol and channels never take less time for more
// bytes.
void expect_more_to_take_longer(const Topology& t, const std::string& algorithm, Protocol protocol) {
  std::vector<Bytes> sizes;
  for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 31; bytes *= 2) sizes.emplace_back(bytes);
  for (const std::int64_t channels : {1, 16}) {
    SimOptions options;
    options.overrides = {.algorithm = algorithm, .protocol = protocol, .channels = channels};
    const Sweep s =
        sweep(t, {.operation = CollectiveKind::kAllReduce, .sizes = sizes}, default_profile(), options);
    for (std::size_t i = 1; i < s.rows.size(); ++i)
      EXPECT_GE(s.rows[i].time, s.rows[i - 1].time)
          << t.name() << ", " << algorithm << " / " << name_of(protocol) << " of " << s.rows[i].size.count();
  }
}

TEST(Properties, MoreBytesNeverTakeLessTime) {
  for (const char* type : {"dgx-2", "dgx-a100", "dgx-h100", "hgx-b200"})
    for (const int count : {1, 2, 4}) {
      const Topology t = topology_from(fmt::format(
          R"({{"schema": "busbar.topology/1", "name": "{1} x {0}", "hosts": {{"count": {1}, "type": "{0}"}},
              "fabric": {{"family": "{2}"}}}})",
          type, count, count == 1 ? "none" : "rail-optimized"));
      for (const char* algorithm : {"ring", "tree"})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple})
          expect_more_to_take_longer(t, algorithm, protocol);
      expect_more_to_take_longer(t, "halving-doubling", Protocol::kSimple);
    }
}

}  // namespace
}  // namespace busbar
