// Bad topology files: each gives one line with the file, the place, what was expected and what was given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/topologies/topology_text.h"

namespace busbar {
namespace {

using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string hosts_error(const std::string& hosts) {
  return error_of(R"("hosts": )" + hosts + R"(, "fabric": {"family": "rail-optimized"})");
}

std::string fabric_error(const std::string& fabric) {
  return error_of(R"("hosts": {"count": 2, "type": "dgx-h100"}, "fabric": {)" + fabric + "}");
}

std::string more_error(const std::string& more) {
  return error_of(R"("hosts": {"count": 2, "type": "dgx-h100"}, "fabric": {"family": "rail-optimized"}, )" +
                  more);
}

constexpr const char* kTwoGpus =
    R"({"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"})";

std::string link_error(const std::string& link) {
  return error_of(R"("devices": [)" + std::string(kTwoGpus) + R"(], "links": [{)" + link + "}]");
}

std::string device_error(const std::string& device) {
  return error_of(R"("devices": [)" + std::string(kTwoGpus) + ", {" + device + R"(}], "links": [])");
}

void expect_line(const std::string& line, const std::string& place,
                 std::initializer_list<const char*> parts) {
  EXPECT_THAT(line, AllOf(StartsWith("t.json" + place), Not(HasSubstr("\n"))));
  for (const char* part : parts) EXPECT_THAT(line, HasSubstr(part));
}

TEST(TopologyErrors, UnknownMissingAndDuplicateKeys) {
  expect_line(more_error(R"("fault": [])"), "", {"'fault'", "'faults'"});
  expect_line(hosts_error(R"({"count": 1, "typ": "dgx-h100"})"), "#/hosts", {"'typ'", "'type'"});
  expect_line(hosts_error(R"({"count": 1})"), "#/hosts", {"missing key 'type'"});
  expect_line(fabric_error(R"("oversubscription": 1)"), "#/fabric", {"missing key 'family'"});
  expect_line(hosts_error(R"({"count": 1, "count": 2, "type": "dgx-h100"})"), "", {"duplicate", "count"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwith": "1 GB/s")"), "#/links/0",
              {"'bandwith'", "'bandwidth'"});
  expect_line(link_error(R"("from": "g0", "to": "g1")"), "#/links/0", {"missing key 'bandwidth'"});
  expect_line(device_error(R"("id": "x", "kind": "gpu")"), "#/devices/2", {"missing key 'host'"});
}

TEST(TopologyErrors, SchemaAndForm) {
  const auto whole = [](const char* text) {
    try {
      (void)read_topology(JsonDocument::parse(text, "t.json"), 0);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  expect_line(whole("{}"), "", {"missing key 'schema'"});
  expect_line(whole(R"({"schema": "busbar.topology/2"})"), "#/schema",
              {"busbar.topology/1", "busbar.topology/2"});
  expect_line(whole(R"({"schema": "busbar.topology/1"})"), "",
              {"'hosts' and 'fabric'", "'devices' and 'links'"});
  expect_line(more_error(R"("devices": [])"), "", {"short form", "exclude", "long form"});
  expect_line(error_of(R"("hosts": {"count": 1, "type": "dgx-h100"})"), "", {"missing key 'fabric'"});
  expect_line(error_of(R"("devices": [])"), "", {"missing key 'links'"});
}

TEST(TopologyErrors, QuantitiesWithoutOrWithAWrongUnit) {
  expect_line(fabric_error(R"("family": "rail-optimized", "nic": "400 us")"), "#/fabric/nic",
              {"Gb/s", "400 us"});
  expect_line(fabric_error(R"("family": "rail-optimized", "nic": 400)"), "#/fabric/nic", {"Gb/s", "400"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": 450)"), "#/links/0/bandwidth",
              {"GB/s", "450"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": "-5 GB/s")"), "#/links/0/bandwidth",
              {"-5 GB/s"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": "0 GB/s")"), "#/links/0/bandwidth",
              {"0 GB/s"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": "5 GB/s", "latency": "1 GB")"),
              "#/links/0/latency", {"1 GB"});
}

TEST(TopologyErrors, HostsThatCannotBe) {
  expect_line(hosts_error(R"({"count": 0, "type": "dgx-h100"})"), "#/hosts/count", {"1", "0"});
  expect_line(hosts_error(R"({"count": -1, "type": "dgx-h100"})"), "#/hosts/count", {"-1"});
  expect_line(hosts_error("[]"), "#/hosts", {"no hosts"});
  expect_line(hosts_error(R"({"count": 1, "type": "dgx-h200"})"), "#/hosts/type",
              {"dgx-a100", "dgx-h100", "dgx-h200", "did you mean"});
  expect_line(hosts_error(R"([{"count": 1, "type": "dgx-h100"}, {"count": 1, "type": "pcie-9"}])"),
              "#/hosts/1/type", {"dgx-a100", "dgx-h100", "pcie-9", "did you mean 'pcie-8'"});
  expect_line(hosts_error(R"({"count": 1, "type": "dgx-h100", "gpus": 9})"), "#/hosts/gpus", {"8", "9"});
  expect_line(hosts_error(R"({"count": 1, "type": "dgx-h100", "nics": 0})"), "#/hosts/nics", {"0"});
}

// 27 devices each; 621,378 hosts x 27 = 16,777,206 devices would still be below 2^24.
TEST(TopologyErrors, MoreDevicesThanTheLimitAreRefusedBeforeTheyAreBuilt) {
  expect_line(hosts_error(R"({"count": 621379, "type": "dgx-h100"})"), "#/hosts/count",
              {"621379 hosts", "16777233 devices", "16777216"});
  expect_line(hosts_error(R"([{"count": 1, "type": "dgx-a100"}, {"count": 16777216, "type": "dgx-h100"}])"),
              "#/hosts/1/count", {"16777216 hosts", "limit of 16777216"});
  expect_line(hosts_error(R"({"count": 16777217, "type": "dgx-h100"})"), "#/hosts/count", {"16777217"});
}

TEST(TopologyErrors, FabricsThatAreUnknown) {
  expect_line(fabric_error(R"("family": "mesh")"), "#/fabric/family",
              {"none", "rail-optimized", "torus", "mesh"});
  expect_line(fabric_error(R"("family": "rail-optimised")"), "#/fabric/family",
              {"did you mean 'rail-optimized'"});
  expect_line(fabric_error(R"("family": "rail-optimized", "tiers": 4)"), "#/fabric/tiers", {"2", "3", "4"});
  expect_line(fabric_error(R"("family": "rail-optimized", "routing": "ecmp")"), "#/fabric/routing",
              {"adaptive", "static", "ecmp"});
  expect_line(fabric_error(R"("family": "rail-optimized", "wire": "nvlink")"), "#/fabric/wire",
              {"rdma", "efa", "tcp", "slingshot", "nvlink"});
  expect_line(fabric_error(R"("family": "none", "oversubscription": 2)"), "#/fabric", {"'oversubscription'"});
}

TEST(TopologyErrors, FabricsThatDoNotFitTheirHosts) {
  expect_line(fabric_error(R"("family": "torus", "dimensions": [3, 2])"), "#/fabric",
              {"6 points", "2 hosts"});
  expect_line(fabric_error(R"("family": "torus")"), "#/fabric", {"missing key 'dimensions'"});
  expect_line(fabric_error(R"("family": "torus", "dimensions": [])"), "#/fabric/dimensions", {"[4, 4, 4]"});
  expect_line(fabric_error(R"("family": "torus", "dimensions": [8192, 8192])"), "#/fabric/dimensions/1",
              {"8192"});
  expect_line(fabric_error(R"("family": "dragonfly", "groups": 2, "routers_per_group": 2)"), "#/fabric",
              {"missing key 'hosts_per_router'"});
  expect_line(
      fabric_error(R"("family": "dragonfly", "groups": 1, "routers_per_group": 1, "hosts_per_router": 1)"),
      "#/fabric", {"take 1 hosts, not 2"});
  expect_line(
      fabric_error(R"("family": "fat-tree", "tiers": 3, "hosts_per_leaf": 1, "oversubscription": [2, 1, 1])"),
      "#/fabric", {"3 tiers", "lists 3"});
  expect_line(fabric_error(R"("family": "fat-tree", "oversubscription": [])"), "#/fabric/oversubscription",
              {"one per tier"});
  expect_line(fabric_error(R"("family": "fat-tree", "tiers": 3, "hosts_per_leaf": 4, "hosts_per_pod": 6)"),
              "#/fabric", {"6", "no multiple of 4"});
}

TEST(TopologyErrors, RoutingOfTheShortFormStandsInItsFabric) {
  expect_line(error_of(R"("hosts": {"count": 1, "type": "dgx-h100"}, "fabric": {"family": "none"},
    "routing": "static")"),
              "#/routing", {"'fabric'"});
}

TEST(TopologyErrors, FabricNumbersOutOfRange) {
  for (const char* value : {"0.5", "0", "-1", "1025"}) {
    expect_line(fabric_error(R"("family": "rail-optimized", "oversubscription": )" + std::string(value)),
                "#/fabric/oversubscription", {value, "1024"});
  }
  expect_line(fabric_error(R"("family": "rail-optimized", "hosts_per_leaf": 0)"), "#/fabric/hosts_per_leaf",
              {"0"});
}

TEST(TopologyErrors, SeveralHostsWithoutAFabricAreNotConnected) {
  expect_line(fabric_error(R"("family": "none")"), "", {"no path connects", "'h0.gpu0'", "'h1.gpu0'"});
}

TEST(TopologyErrors, LongFormDevices) {
  expect_line(device_error(R"("id": "g0", "kind": "switch")"), "#/devices/2/id", {"two devices", "'g0'"});
  expect_line(device_error(R"("id": "x", "kind": "nvswitsh")"), "#/devices/2/kind",
              {"nvswitch", "pcie-switch", "did you mean"});
  expect_line(device_error(R"("id": "x", "kind": "gpu", "host": "h", "model": "H100-SXM5-80G")"),
              "#/devices/2/model", {"\"gpus\"", "did you mean 'H100-SXM5-80GB'"});
  expect_line(device_error(R"("id": "x", "kind": "cpu", "model": "H100-SXM5-80GB")"), "#/devices/2/model",
              {"only a device of kind"});
  expect_line(device_error(R"("id": "x", "kind": "cpu", "host": "h", "vendor": "amt")"), "#/devices/2/vendor",
              {"intel", "arm", "did you mean 'amd'"});
  expect_line(device_error(R"("id": "x", "kind": "nvswitch", "host": "h", "vendor": "amd")"),
              "#/devices/2/vendor", {"only a device of kind"});
  expect_line(device_error(R"("id": "x", "kind": "cpu", "vendor": "amd")"), "#/devices/2/vendor",
              {"needs a \"host\""});
  expect_line(error_of(R"("devices": [{"id": "s", "kind": "switch"}], "links": [])"), "",
              {"at least one GPU"});
}

TEST(TopologyErrors, LongFormLinks) {
  expect_line(link_error(R"("from": "g0", "to": "g2", "bandwidth": "1 GB/s")"), "#/links/0/to",
              {"id of a device", "g2", "did you mean"});
  expect_line(link_error(R"("from": "nowhere", "to": "g1", "bandwidth": "1 GB/s")"), "#/links/0/from",
              {"nowhere"});
  expect_line(link_error(R"("from": "g0", "to": "g0", "bandwidth": "1 GB/s")"), "#/links/0",
              {"'g0' to itself"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": "1 GB/s", "type": "nvlnk")"),
              "#/links/0/type", {"did you mean 'nvlink'"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": "1 GB/s", "directed": 1)"),
              "#/links/0/directed", {"1"});
  expect_line(link_error(R"("from": "g0", "to": "g1", "bandwidth": "1 GB/s", "directed": true)"), "",
              {"no path connects GPU 'g1' to GPU 'g0'"});
  expect_line(error_of(R"("devices": [)" + std::string(kTwoGpus) + R"(], "links": [])"), "",
              {"no path connects", "'g0'", "'g1'"});
}

TEST(TopologyErrors, GpuModels) {
  const auto model = [](const std::string& keys) { return more_error(R"("gpus": {"X": {)" + keys + "}}"); };
  expect_line(model(R"("peak": {"bf17": "1 TFLOP/s"})"), "#/gpus/X/peak", {"'bf17'", "'bf16'"});
  expect_line(model(R"("peak": {"bf16": 989})"), "#/gpus/X/peak/bf16", {"TFLOP/s", "989"});
  expect_line(model(R"("peak": {})"), "#/gpus/X", {"missing key 'memory'"});
  expect_line(model(R"("peak": {}, "memory": "1 GB", "memory_bandwidth": "1 TB/s", "sms": 1,
                       "compute_capability": "9.0")"),
              "#/gpus/X/compute_capability", {"9.0"});
  expect_line(model(R"("cores": 1)"), "#/gpus/X", {"'cores'"});
}

TEST(TopologyErrors, Faults) {
  const auto fault = [](const std::string& keys) { return more_error(R"("faults": [{)" + keys + "}]"); };
  expect_line(fault(R"("bandwidth": "50%")"), "#/faults/0", {"'link' or a 'device'"});
  expect_line(fault(R"("link": "h0.nic3--leaf3", "device": "h0.gpu0", "compute": "50%")"), "#/faults/0",
              {"'link' or a 'device'"});
  expect_line(fault(R"("link": "h0.nic3--leaf3", "compute": "50%")"), "#/faults/0", {"'compute'"});
  expect_line(fault(R"("device": "h0.gpu0")"), "#/faults/0", {"missing key 'compute'"});
  expect_line(fault(R"("device": "h0.gpu9", "compute": "50%")"), "#/faults/0/device",
              {"h0.gpu9", "did you mean"});
  expect_line(fault(R"("device": "h0.nic0", "compute": "50%")"), "#/faults/0/device",
              {"only a GPU", "'h0.nic0'"});
  for (const char* share : {"0%", "101%"}) {
    expect_line(fault(R"("device": "h0.gpu0", "compute": ")" + std::string(share) + '"'),
                "#/faults/0/compute", {"above 0% and at most 100%", share});
    expect_line(fault(R"("link": "h0.nic3--leaf3", "bandwidth": ")" + std::string(share) + '"'),
                "#/faults/0/bandwidth", {"above 0% and at most 100%", share});
  }
  expect_line(fault(R"("link": "h0.nic3--leaf3", "bandwidth": "51 GB/s")"), "#/faults/0/bandwidth",
              {"50", "51 GB/s"});
  expect_line(fault(R"("link": "h0.nic3--leaf3", "bandwidth": 0.5)"), "#/faults/0/bandwidth", {"0.5"});
}

TEST(TopologyErrors, FaultsOnUnknownLinksSuggestOne) {
  const auto fault = [](const std::string& link) {
    return more_error(R"("faults": [{"link": ")" + link + R"(", "bandwidth": "50%"}])");
  };
  expect_line(fault("h0.nic33--leaf3"), "#/faults/0/link", {"did you mean 'h0.nic"});
  expect_line(fault("h0.nic3--leef3"), "#/faults/0/link", {"did you mean 'leaf3'"});
  expect_line(fault("h0.nic3--leaf4"), "#/faults/0/link", {"did you mean 'h0.nic3--leaf3'"});
  expect_line(fault("h0.nic3->leaf4"), "#/faults/0/link", {"did you mean 'h0.nic3->leaf3'"});
  expect_line(fault("h0.nic3"), "#/faults/0/link", {"from--to"});
}

TEST(TopologyErrors, TwoFaultsOnOneThing) {
  expect_line(
      more_error(
          R"("faults": [{"device": "h0.gpu0", "compute": "50%"}, {"device": "h0.gpu0", "compute": "50%"}])"),
      "#/faults/1/device", {"'h0.gpu0' has two faults"});
}

TEST(TopologyErrors, RankOrders) {
  const auto order = [](const std::string& value) { return more_error(R"("rank_order": )" + value); };
  expect_line(order(R"("by-leef")"), "#/rank_order", {"by-leaf", "round-robin", "random", "did you mean"});
  expect_line(order("7"), "#/rank_order", {"by-leaf", "7"});
  expect_line(order(R"(["h0"])"), "#/rank_order", {"'h1.gpu0' has no rank"});
  expect_line(order(R"(["h0", "h1", "h0"])"), "#/rank_order", {"'h0.gpu0' has two ranks"});
  expect_line(order(R"(["h0", "h1.nic0"])"), "#/rank_order", {"'h1.nic0'"});
  expect_line(order(R"(["h0", "host1"])"), "#/rank_order/1", {"host1"});
  expect_line(order(R"(["h0", "h1.gpu77"])"), "#/rank_order/1", {"did you mean 'h1.gpu7'"});
}

}  // namespace
}  // namespace busbar
