#include "topologies/topology_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/topologies/topology_text.h"

namespace busbar {
namespace {

using testing::device_called;
using ::testing::ElementsAre;
using testing::ids_of;
using testing::link_called;
using testing::topology_of;

// Two hosts of two GPUs and a NIC, in the long form.
constexpr const char* kLong = R"(
  "devices": [{"id": "a.gpu0", "kind": "gpu", "host": "a", "model": "H100-SXM5-80GB"},
              {"id": "a.gpu1", "kind": "gpu", "host": "a"},
              {"id": "a.nvs", "kind": "nvswitch", "host": "a"}, {"id": "a.nic", "kind": "nic", "host": "a"},
              {"id": "b.gpu0", "kind": "gpu", "host": "b"}, {"id": "b.gpu1", "kind": "gpu", "host": "b"},
              {"id": "b.pcie", "kind": "pcie-switch", "host": "b"}, {"id": "b.nic", "kind": "nic", "host": "b"},
              {"id": "b.cpu0", "kind": "cpu", "host": "b"}, {"id": "b.cpu1", "kind": "cpu", "host": "b"},
              {"id": "sw", "kind": "switch"}],
  "links": [{"from": "a.gpu0", "to": "a.nvs", "bandwidth": "450 GB/s", "latency": "0.5 us"},
            {"from": "a.gpu1", "to": "a.nvs", "bandwidth": "450 GB/s"},
            {"from": "a.gpu0", "to": "a.nic", "bandwidth": "63 GB/s"},
            {"from": "b.gpu0", "to": "b.gpu1", "bandwidth": "300 GB/s"},
            {"from": "b.gpu0", "to": "b.pcie", "bandwidth": "32 GB/s"},
            {"from": "b.nic", "to": "b.pcie", "bandwidth": "32 GB/s"},
            {"from": "b.pcie", "to": "b.cpu0", "bandwidth": "32 GB/s"},
            {"from": "b.cpu0", "to": "b.cpu1", "bandwidth": "22 GB/s"},
            {"from": "a.nic", "to": "sw", "bandwidth": "400 Gb/s", "type": "efa"},
            {"from": "b.nic", "to": "sw", "bandwidth": "200 Gb/s", "directed": true},
            {"from": "sw", "to": "b.nic", "bandwidth": "100 Gb/s", "directed": true}])";

TEST(LongForm, ReadsDevicesHostsAndModels) {
  const Topology t = topology_of(kLong);
  EXPECT_EQ(t.name(), "t.json") << "without a name, the file's";
  ASSERT_EQ(t.hosts().size(), 2U);
  EXPECT_EQ(t.hosts()[0].name, "a");
  EXPECT_EQ(t.hosts()[0].type, "");
  EXPECT_THAT(ids_of(t, t.hosts()[1].gpus), ElementsAre("b.gpu0", "b.gpu1"));
  EXPECT_THAT(ids_of(t, t.hosts()[1].nics), ElementsAre("b.nic"));
  EXPECT_THAT(ids_of(t, t.ranks()), ElementsAre("a.gpu0", "a.gpu1", "b.gpu0", "b.gpu1"));
  const Device& with_model = t.device(t.ranks()[0]);
  ASSERT_EQ(with_model.gpu_model, 0);
  EXPECT_EQ(t.gpu_models()[0].name, "H100-SXM5-80GB");
  EXPECT_EQ(t.device(t.ranks()[1]).gpu_model, -1);
  EXPECT_EQ(t.device(device_called(t, "sw")).host, kNoHost);
}

TEST(LongForm, LinkTypesFollowFromTheDevicesUnlessGiven) {
  const Topology t = topology_of(kLong);
  EXPECT_EQ(link_called(t, "a.gpu0->a.nvs").type, LinkType::kNvlink);
  EXPECT_EQ(link_called(t, "a.gpu0->a.nic").type, LinkType::kPcie);
  EXPECT_EQ(link_called(t, "b.gpu0->b.gpu1").type, LinkType::kNvlink);
  EXPECT_EQ(link_called(t, "b.nic->b.pcie").type, LinkType::kPcie);
  EXPECT_EQ(link_called(t, "b.pcie->b.cpu0").type, LinkType::kPcie);
  EXPECT_EQ(link_called(t, "b.cpu1->b.cpu0").type, LinkType::kUpi);
  EXPECT_EQ(link_called(t, "a.nic->sw").type, LinkType::kEfa);
  EXPECT_EQ(link_called(t, "b.nic->sw").type, LinkType::kRdma);
}

TEST(LongForm, LatencyAndDirectionAreOptional) {
  const Topology t = topology_of(kLong);
  EXPECT_EQ(link_called(t, "a.nvs->a.gpu0").latency, Time::picoseconds(500'000));
  EXPECT_EQ(link_called(t, "a.gpu1->a.nvs").latency, std::nullopt);
  EXPECT_DOUBLE_EQ(link_called(t, "b.nic->sw").bandwidth.Bps(), 25e9);
  EXPECT_DOUBLE_EQ(link_called(t, "sw->b.nic").bandwidth.Bps(), 12.5e9);
  EXPECT_EQ(t.links().size(), 2U * 9 + 2);
}

TEST(Gpus, DescribeModelsThatTheTableLacks) {
  const Topology t = topology_of(R"("gpus": {"X9": {"peak": {"bf16": "5 PFLOP/s", "fp32": "80 TFLOP/s"},
      "memory": "288 GB", "memory_bandwidth": "8 TB/s", "sms": 160, "compute_capability": 10.3, "source": "a slide"}},
    "devices": [{"id": "g", "kind": "gpu", "host": "h", "model": "X9"}], "links": [])");
  const GpuModel& model = t.gpu_models()[0];
  EXPECT_EQ(model.name, "X9");
  EXPECT_DOUBLE_EQ(model.peak.at(DataType::kBf16).flops(), 5e15);
  EXPECT_EQ(model.peak.size(), 2U);
  EXPECT_EQ(model.memory, 288_GB);
  EXPECT_DOUBLE_EQ(model.memory_bandwidth.Bps(), 8e12);
  EXPECT_EQ(model.sms, 160);
  EXPECT_EQ(model.compute_capability, 103);
  EXPECT_EQ(model.source, "a slide");
}

TEST(Gpus, ReplaceTheTablesModelOfThatName) {
  const Topology t = topology_of(R"("gpus": {"H100-SXM5-80GB": {"peak": {"bf16": "700 TFLOP/s"},
      "memory": "80 GB", "memory_bandwidth": "3 TB/s", "sms": 132}},
    "hosts": {"count": 1, "type": "dgx-h100"}, "fabric": {"family": "none"})");
  ASSERT_EQ(t.gpu_models().size(), 1U);
  EXPECT_DOUBLE_EQ(t.gpu_models()[0].peak.at(DataType::kBf16).flops(), 700e12);
  EXPECT_EQ(t.device(t.ranks()[7]).gpu_model, 0);
}

TEST(Faults, SlowALinkInBothDirectionsOrInOne) {
  const Topology t = topology_of(std::string(kLong) + R"(,
    "faults": [{"link": "a.gpu0--a.nvs", "bandwidth": "50%"}, {"link": "sw->a.nic", "bandwidth": "10 GB/s"}])");
  EXPECT_DOUBLE_EQ(link_called(t, "a.gpu0->a.nvs").bandwidth.Bps(), 225e9);
  EXPECT_DOUBLE_EQ(link_called(t, "a.nvs->a.gpu0").bandwidth.Bps(), 225e9);
  EXPECT_DOUBLE_EQ(link_called(t, "sw->a.nic").bandwidth.Bps(), 10e9);
  EXPECT_DOUBLE_EQ(link_called(t, "a.nic->sw").bandwidth.Bps(), 50e9);
}

TEST(Faults, SlowAGpuOfTheShortForm) {
  const Topology t =
      topology_of(R"("hosts": {"count": 2, "type": "dgx-h100"}, "fabric": {"family": "rail-optimized"},
    "faults": [{"device": "h1.gpu5", "compute": "80%"}, {"link": "h0.nic3--leaf3", "bandwidth": "50%"}])");
  EXPECT_DOUBLE_EQ(t.device(device_called(t, "h1.gpu5")).compute, 0.8);
  EXPECT_DOUBLE_EQ(t.device(device_called(t, "h0.gpu5")).compute, 1);
  EXPECT_DOUBLE_EQ(link_called(t, "leaf3->h0.nic3").bandwidth.Bps(), 25e9);
}

/// Four hosts of 1 GPU and 1 NIC; hosts w and y are on leaf0, x and z on leaf1.
std::string crossed_hosts(const std::string& rank_order) {
  std::string devices, links;
  const char* leaf[] = {"leaf0", "leaf1", "leaf0", "leaf1"};
  for (int h = 0; h < 4; ++h) {
    const std::string host(1, "wxyz"[h]);
    devices += R"({"id": ")" + host + R"(.gpu", "kind": "gpu", "host": ")" + host + R"("},)";
    devices += R"({"id": ")" + host + R"(.nic", "kind": "nic", "host": ")" + host + R"("},)";
    links += R"({"from": ")" + host + R"(.gpu", "to": ")" + host + R"(.nic", "bandwidth": "63 GB/s"},)";
    links += R"({"from": ")" + host + R"(.nic", "to": ")" + leaf[h] + R"(", "bandwidth": "50 GB/s"},)";
  }
  return R"("devices": [)" + devices +
         R"({"id": "leaf0", "kind": "switch"}, {"id": "leaf1", "kind": "switch"}],
    "links": [)" +
         links + R"({"from": "leaf0", "to": "leaf1", "bandwidth": "50 GB/s"}], "rank_order": )" + rank_order;
}

TEST(RankOrder, ByLeafPutsHostsOfOneLeafTogether) {
  const Topology t = topology_of(crossed_hosts(R"("by-leaf")"));
  EXPECT_THAT(ids_of(t, t.ranks()), ElementsAre("w.gpu", "y.gpu", "x.gpu", "z.gpu"));
}

TEST(RankOrder, TakesAListOfHostsOrGpus) {
  const Topology hosts = topology_of(crossed_hosts(R"(["z", "y", "x", "w"])"));
  EXPECT_THAT(ids_of(hosts, hosts.ranks()), ElementsAre("z.gpu", "y.gpu", "x.gpu", "w.gpu"));
  const Topology gpus = topology_of(crossed_hosts(R"(["x.gpu", "w.gpu", "y.gpu", "z.gpu"])"));
  EXPECT_THAT(ids_of(gpus, gpus.ranks()), ElementsAre("x.gpu", "w.gpu", "y.gpu", "z.gpu"));
}

TEST(RankOrder, RoundRobinDealsHostsOverTheLeavesInTurn) {
  // Leaves of two hosts, and hosts of two GPUs, which stay together.
  const Topology t = topology_of(R"("hosts": {"count": 5, "type": "dgx-h100", "gpus": 2},
    "fabric": {"family": "rail-optimized", "hosts_per_leaf": 2}, "rank_order": "round-robin")");
  EXPECT_THAT(ids_of(t, t.ranks()), ElementsAre("h0.gpu0", "h0.gpu1", "h2.gpu0", "h2.gpu1", "h4.gpu0",
                                                "h4.gpu1", "h1.gpu0", "h1.gpu1", "h3.gpu0", "h3.gpu1"));
}

TEST(RankOrder, RoundRobinOverOneLeafIsTheFilesOrder) {
  const Topology t = topology_of(R"("hosts": {"count": 3, "type": "dgx-h100", "gpus": 1},
    "fabric": {"family": "single-switch"}, "rank_order": "round-robin")");
  EXPECT_THAT(ids_of(t, t.ranks()), ElementsAre("h0.gpu0", "h1.gpu0", "h2.gpu0"));
}

TEST(RankOrder, RandomShufflesWholeHostsBySeed) {
  const std::string keys =
      R"("hosts": {"count": 16, "type": "dgx-h100"}, "fabric": {"family": "rail-optimized"},
    "rank_order": "random")";
  const Topology one = topology_of(keys, 1);
  const auto ids = ids_of(one, one.ranks());
  EXPECT_EQ(ids, ids_of(one, topology_of(keys, 1).ranks())) << "the same seed";
  EXPECT_NE(ids, ids_of(one, topology_of(keys, 2).ranks())) << "another seed";
  for (std::size_t r = 0; r < ids.size(); r += 8) {
    const std::uint32_t host = one.device(one.ranks()[r]).host;
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(one.ranks()[r + i], one.hosts()[host].gpus[i]);
  }
}

bool same_link(const Link& a, const Link& b) {
  return a.from == b.from && a.to == b.to && a.bandwidth == b.bandwidth && a.latency == b.latency &&
         a.type == b.type && a.weight == b.weight;
}

std::vector<std::string> names_of(const Topology& t) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < t.devices().size(); ++d) names.push_back(t.name_of(DeviceId::from_index(d)));
  return names;
}

bool same_host(const Host& a, const Host& b) {
  return a.name == b.name && a.gpus == b.gpus && a.nics == b.nics && a.cpu == b.cpu && a.domain == b.domain;
}

/// All but the type of hosts and the notes, which the long form does not hold.
void expect_equal(const Topology& a, const Topology& b) {
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.source(), b.source());
  EXPECT_EQ(names_of(a), names_of(b));
  EXPECT_TRUE(std::equal(a.devices().begin(), a.devices().end(), b.devices().begin(), b.devices().end()));
  EXPECT_TRUE(std::equal(a.links().begin(), a.links().end(), b.links().begin(), b.links().end(), same_link));
  EXPECT_TRUE(std::ranges::equal(a.hosts(), b.hosts(), same_host));
  EXPECT_TRUE(std::ranges::equal(a.gpu_models(), b.gpu_models()));
  EXPECT_TRUE(std::ranges::equal(a.ranks(), b.ranks()));
  EXPECT_EQ(a.routing().mode, b.routing().mode);
  EXPECT_EQ(a.in_network_reduction(), b.in_network_reduction());
}

void expect_round_trip(const Topology& t) {
  const std::string text = write_topology(t);
  const Topology again = read_topology(JsonDocument::parse(text, "again.json"), 0);
  expect_equal(t, again);
  EXPECT_EQ(write_topology(again), text);
}

TEST(WriteTopology, ReadsBackIntoTheSameGraph) {
  expect_round_trip(topology_of(kLong));
  expect_round_trip(topology_of(R"("name": "two", "source": "a \"quoted\" page",
    "hosts": [{"count": 2, "type": "dgx-h100", "nics": 4}, {"count": 1, "type": "dgx-a100", "gpus": 3}],
    "fabric": {"family": "rail-optimized", "oversubscription": 3, "hosts_per_leaf": 2})"));
}

TEST(WriteTopology, KeepsRacksThatAreOneNvlinkDomain) {
  const std::string racks = R"("hosts": {"count": 5, "type": "gb200-nvl72", "nvlink_domain": 2}, )";
  expect_round_trip(topology_of(racks + R"("fabric": {"family": "rail-optimized"})"));
  expect_round_trip(topology_of(R"("hosts": {"count": 2, "type": "gb200-nvl72", "nvlink_domain": 1},
    "fabric": {"family": "rail-optimized"})"));
}

TEST(LongForm, HostsAtOneSwitchOfNoHostAreOneDomainHoweverTheyAreJoined) {
  // Switch "x" joins b and c, "y" joins c and a: one domain of all three. d has a switch of its own.
  const Topology t = topology_of(R"("name": "racks", "devices": [
    {"id": "a.gpu0", "kind": "gpu", "host": "a"}, {"id": "b.gpu0", "kind": "gpu", "host": "b"},
    {"id": "c.gpu0", "kind": "gpu", "host": "c"}, {"id": "d.gpu0", "kind": "gpu", "host": "d"},
    {"id": "x", "kind": "nvswitch"}, {"id": "y", "kind": "nvswitch"}, {"id": "d.z", "kind": "nvswitch", "host": "d"}],
    "links": [{"from": "b.gpu0", "to": "x", "bandwidth": "450 GB/s"}, {"from": "x", "to": "c.gpu0", "bandwidth": "450 GB/s"},
    {"from": "c.gpu0", "to": "y", "bandwidth": "450 GB/s"}, {"from": "a.gpu0", "to": "y", "bandwidth": "450 GB/s"},
    {"from": "d.gpu0", "to": "d.z", "bandwidth": "450 GB/s"}, {"from": "d.z", "to": "y", "bandwidth": "450 GB/s"}])");
  std::vector<std::uint32_t> domains;
  for (const Host& host : t.hosts()) domains.push_back(host.domain);
  EXPECT_EQ(domains, (std::vector<std::uint32_t>{0, 0, 0, 3}));
}

TEST(WriteTopology, KeepsStaticRoutingAndWeights) {
  const std::string hosts = R"("hosts": {"count": 8, "type": "dgx-h100", "gpus": 1, "nics": 1}, "fabric": )";
  expect_round_trip(
      topology_of(hosts + R"({"family": "fat-tree", "hosts_per_leaf": 2, "routing": "static"})"));
  expect_round_trip(topology_of(hosts + R"({"family": "torus", "dimensions": [4, 2]})"));
  expect_round_trip(topology_of(
      hosts + R"({"family": "dragonfly", "groups": 2, "routers_per_group": 2, "hosts_per_router": 2})"));
}

TEST(WriteTopology, KeepsFaultsModelsAndRanks) {
  expect_round_trip(topology_of(std::string(kLong) + R"(,
    "gpus": {"X9": {"peak": {"bf16": "333.3 TFLOP/s"}, "memory": "1234567 B", "memory_bandwidth": "8.1 TB/s", "sms": 1, "compute_capability": 8.6}},
    "rank_order": ["b", "a.gpu1", "a.gpu0"],
    "faults": [{"link": "a.gpu0--a.nvs", "bandwidth": "33.3%"}, {"link": "b.cpu0->b.cpu1", "bandwidth": "7%"},
               {"device": "a.gpu0", "compute": "7%"}, {"device": "b.gpu1", "compute": "33.3%"}])"));
}

TEST(WriteTopology, KeepsCpuVendorsAndInNetworkReduction) {
  const Topology t = topology_of(R"("hosts": {"count": 2, "type": "dgx-a100", "nics": 1},
    "fabric": {"family": "single-switch", "sharp": true})");
  EXPECT_TRUE(t.in_network_reduction());
  EXPECT_EQ(t.hosts()[0].cpu, CpuVendor::kAmd);
  expect_round_trip(t);
}

TEST(ReadTopology, TakesTheVendorOfACpuForItsHost) {
  const auto vendor = [](const std::string& key) {
    return topology_of(R"("devices": [{"id": "g", "kind": "gpu", "host": "h"},
      {"id": "c", "kind": "cpu", "host": "h")" +
                       key + R"(}], "links": [])")
        .hosts()[0]
        .cpu;
  };
  EXPECT_EQ(vendor(""), CpuVendor::kIntel);
  EXPECT_EQ(vendor(R"(, "vendor": "intel")"), CpuVendor::kIntel);
  EXPECT_EQ(vendor(R"(, "vendor": "amd")"), CpuVendor::kAmd);
  EXPECT_EQ(vendor(R"(, "vendor": "arm")"), CpuVendor::kArm);
  EXPECT_EQ(vendor(R"(, "vendor": "other")"), CpuVendor::kOther);
}

TEST(WriteTopology, ReadsBackDirectedAndParallelLinksInTheirOrder) {
  expect_round_trip(topology_of(
      R"("devices": [{"id": "a", "kind": "gpu", "host": "h"}, {"id": "b", "kind": "gpu", "host": "h"}],
    "links": [{"from": "b", "to": "a", "bandwidth": "1 GB/s", "directed": true},
              {"from": "a", "to": "b", "bandwidth": "1 GB/s"}, {"from": "a", "to": "b", "bandwidth": "1 GB/s"},
              {"from": "a", "to": "b", "bandwidth": "3 GB/s", "directed": true}])"));
}

TEST(TopologyKeys, AreThoseThatTheReaderTakes) {
  EXPECT_THAT(topology_keys(),
              ::testing::UnorderedElementsAre("schema", "name", "source", "hosts", "fabric", "devices",
                                              "links", "routing", "sharp", "gpus", "faults", "rank_order"));
}

}  // namespace
}  // namespace busbar
