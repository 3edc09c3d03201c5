// What hangs where inside hosts, and what the keys of "hosts" change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/topologies/topology_text.h"
#include "topologies/host_type.h"
#include "topologies/routing.h"

namespace busbar {
namespace {

using testing::device_called;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::link_called;
using testing::topology_of;

Topology hosts(const std::string& keys) {
  return topology_of(R"("hosts": {)" + keys + R"(}, "fabric": {"family": "rail-optimized"})");
}

std::string hosts_error(const std::string& keys) {
  return error_of(R"("hosts": {)" + keys + R"(}, "fabric": {"family": "rail-optimized"})");
}

/// The links of the representative path inside host 0.
std::vector<std::string> path(const Topology& t, std::string_view from, std::string_view to) {
  Router router(t);
  const auto route = router.route(device_called(t, from), device_called(t, to), RouteScope::kHost);
  std::vector<std::string> names;
  if (!route) return names;
  for (const LinkId id : route->path) names.push_back(t.link_name(id));
  return names;
}

/// The nearest NIC of each GPU of host 0, by number.
std::string nearest_nics(const std::string& keys) {
  const Topology t = hosts(R"("count": 1, "type": )" + keys);
  Router router(t);
  std::string numbers;
  for (const DeviceId gpu : t.hosts()[0].gpus) {
    const auto& nics = router.nics_by_distance(gpu);
    numbers += nics.empty() ? "-" : t.name_of(nics.front()).substr(std::string("h0.nic").size());
  }
  return numbers;
}

TEST(NicAffinity, FollowsThePcieTree) {
  EXPECT_EQ(nearest_nics(R"("dgx-1-v100")"), "00112233") << "two GPUs share a NIC";
  EXPECT_EQ(nearest_nics(R"("dgx-2")"), "0011223344556677");
  EXPECT_EQ(nearest_nics(R"("hgx-a100-4")"), "0123");
  EXPECT_EQ(nearest_nics(R"("h800")"), "01234567");
  EXPECT_EQ(nearest_nics(R"("mi300x")"), "01234567");
  EXPECT_EQ(nearest_nics(R"("mi250x")"), "00112233") << "two dies share the NIC of their package";
  EXPECT_EQ(nearest_nics(R"("aws-p4d")"), "00112233");
  EXPECT_EQ(nearest_nics(R"("azure-ndv4")"), "01234567") << "two GPUs and two NICs at a switch: one each";
  EXPECT_EQ(nearest_nics(R"("gcp-a3-mega")"), "01234567");
}

TEST(NicAffinity, GoesThroughTheCpuWhereNicsHangThere) {
  EXPECT_EQ(nearest_nics(R"("gb200-nvl72")"), "0123");
  EXPECT_EQ(nearest_nics(R"("gh200-4")"), "0123");
  EXPECT_EQ(nearest_nics(R"("aws-p3dn")"), "00000000");
  EXPECT_EQ(nearest_nics(R"("pcie-8", "gpu": "L40S-48GB")"), "00001111");
  EXPECT_EQ(nearest_nics(R"("pcie-8-dual", "gpu": "H100-PCIE-80GB")"), "00001111");
  EXPECT_EQ(nearest_nics(R"("pcie-4", "gpu": "RTX-4090-24GB")"), "0000");
}

TEST(NicAffinity, FewerNicsAreReachedOverNvlinkByTheOtherGpus) {
  const Topology t = hosts(R"("count": 1, "type": "dgx-h100", "nics": 2)");
  // Spread over the eight switches: the second NIC is at the fifth.
  EXPECT_THAT(path(t, "h0.gpu4", "h0.nic1"), ElementsAre("h0.gpu4->h0.pcie4", "h0.pcie4->h0.nic1"));
  EXPECT_THAT(path(t, "h0.gpu5", "h0.nic1"),
              ElementsAre("h0.gpu5->h0.nvs", "h0.nvs->h0.gpu4", "h0.gpu4->h0.pcie4", "h0.pcie4->h0.nic1"));
}

// NV1 and NV2 of nvidia-smi topo -m on a DGX-1 V100, row by row, GPU 0 to 7; 0: no NVLink.
TEST(HybridCubeMesh, HasThePublishedAdjacency) {
  constexpr int kLinks[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                                {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                                {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  for (const char* type : {"dgx-1-v100", "aws-p3dn"}) {
    const Topology t = hosts(R"("count": 1, "type": ")" + std::string(type) + '"');
    double links[8][8] = {};
    for (const Link& link : t.links()) {
      if (link.type == LinkType::kNvlink)
        links[link.from.index()][link.to.index()] += link.bandwidth.Bps() / 25e9;
    }
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b) EXPECT_DOUBLE_EQ(links[a][b], kLinks[a][b]) << a << " " << b;
  }
}

// Each die has 8 Infinity Fabric ports: those to other dies, one to the CPU, and at the odd dies one to the
// NIC.
TEST(FrontierNode, UsesEachDiesEightPorts) {
  const Topology t = hosts(R"("count": 1, "type": "mi250x")");
  for (std::size_t die = 0; die < 8; ++die) {
    double ports = 1;
    for (const LinkId id : t.out_links(t.ranks()[die])) {
      if (t.link(id).type == LinkType::kXgmi) ports += t.link(id).bandwidth.Bps() / 50e9;
    }
    EXPECT_DOUBLE_EQ(ports + static_cast<double>(die % 2), 8) << die;
  }
}

TEST(PcieBoxes, TakeTheirRateFromTheCard) {
  const auto rate = [](const std::string& gpu) {
    const Topology t = hosts(R"("count": 1, "type": "pcie-8", "gpu": ")" + gpu + '"');
    return link_called(t, "h0.gpu0->h0.pcie0").bandwidth.Bps();
  };
  EXPECT_DOUBLE_EQ(rate("L40S-48GB"), 16e9 * 16 * 128 / 130 / 8);
  EXPECT_DOUBLE_EQ(rate("RTX-5090-32GB"), 32e9 * 16 * 128 / 130 / 8);
  EXPECT_DOUBLE_EQ(rate("RTX-PRO-6000-96GB"), 32e9 * 16 * 128 / 130 / 8);
}

TEST(PeerAccess, LetsCardsMeetAtTheirSwitch) {
  const Topology t = hosts(R"("count": 1, "type": "pcie-8", "gpu": "L40S-48GB")");
  EXPECT_THAT(path(t, "h0.gpu0", "h0.gpu1"), ElementsAre("h0.gpu0->h0.pcie0", "h0.pcie0->h0.gpu1"));
}

TEST(PeerAccess, WithoutItCardsAndNicsMeetInTheCpusMemory) {
  const auto up_and_down = ElementsAre("h0.gpu0->h0.pcie0", "h0.pcie0->h0.cpu0", "h0.cpu0->h0.pcie0.down",
                                       "h0.pcie0.down->h0.gpu1");
  const Topology t = hosts(R"("count": 1, "type": "pcie-8", "gpu": "L40S-48GB", "peer_access": false)");
  EXPECT_THAT(path(t, "h0.gpu0", "h0.gpu1"), up_and_down);
  EXPECT_EQ(path(t, "h0.gpu0", "h0.nic0").size(), 4U) << "no GPUDirect RDMA either";
  const Topology geforce = hosts(R"("count": 1, "type": "pcie-8", "gpu": "RTX-4090-24GB")");
  EXPECT_THAT(path(geforce, "h0.gpu0", "h0.gpu1"), up_and_down) << "their default";
  const Topology patched =
      hosts(R"("count": 1, "type": "pcie-8", "gpu": "RTX-4090-24GB", "peer_access": true)");
  EXPECT_EQ(path(patched, "h0.gpu0", "h0.gpu1").size(), 2U);
}

// 40 trays in domains of 18: 18, 18 and a smaller last one of 4.
TEST(NvlinkDomain, JoinsTraysAtSwitchesOfNoHost) {
  const Topology t = hosts(R"("count": 40, "type": "gb200-nvl72", "nvlink_domain": 18)");
  EXPECT_EQ(t.hosts()[17].domain, 0U);
  EXPECT_EQ(t.hosts()[18].domain, 18U);
  EXPECT_EQ(t.hosts()[39].domain, 36U);
  const std::size_t per_domain[] = {72, 72, 16};
  for (std::size_t d = 0; d < 3; ++d) {
    const DeviceId nvs = device_called(t, "d" + std::to_string(d) + ".nvs");
    EXPECT_EQ(t.device(nvs).kind, DeviceKind::kNvswitch);
    EXPECT_EQ(t.device(nvs).host, kNoHost);
    EXPECT_EQ(t.out_links(nvs).size(), per_domain[d]);
  }
  EXPECT_DOUBLE_EQ(link_called(t, "h39.gpu3->d2.nvs").bandwidth.Bps(), 900e9);
}

TEST(NvlinkDomain, EndsWithItsGroupOfHostsAndIsARackByDefault) {
  const Topology t = topology_of(R"("hosts": [{"count": 20, "type": "gb200-nvl72"},
                                              {"count": 2, "type": "gb300-nvl72", "nvlink_domain": 2}],
                                    "fabric": {"family": "rail-optimized"})");
  EXPECT_EQ(t.hosts()[17].domain, 0U);
  EXPECT_EQ(t.hosts()[19].domain, 18U);
  EXPECT_EQ(t.hosts()[20].domain, 20U) << "not the place left in the domain before";
  EXPECT_EQ(t.hosts()[21].domain, 20U);
}

TEST(Wire, FollowsTheHostTypesUnlessTheFileSaysOne) {
  const auto wire = [](const std::string& more) {
    const Topology t = topology_of(R"("hosts": {"count": 1, "type": "aws-p5"},
                                      "fabric": {"family": "rail-optimized")" +
                                   more + "}");
    return link_called(t, "h0.nic0->leaf0").type;
  };
  EXPECT_EQ(wire(""), LinkType::kEfa);
  EXPECT_EQ(wire(R"(, "wire": "rdma")"), LinkType::kRdma);
  const std::string mixed = R"("hosts": [{"count": 1, "type": "aws-p5"}, {"count": 1, "type": "dgx-h100"}],
                               "fabric": {"family": "rail-optimized")";
  EXPECT_THAT(error_of(mixed + "}"), HasSubstr("different networks (efa and rdma); state \"wire\""));
  EXPECT_EQ(error_of(mixed + R"(, "wire": "rdma"})"), "no error");
}

TEST(HostKeys, ThatDoNotFitAreRefused) {
  const auto expect = [](const std::string& keys, const char* place,
                         std::initializer_list<const char*> parts) {
    const std::string line = hosts_error(R"("count": 2, "type": )" + keys);
    EXPECT_THAT(line, HasSubstr(place));
    for (const char* part : parts) EXPECT_THAT(line, HasSubstr(part));
  };
  expect(R"("pcie-8")", "#/hosts", {"pcie-8 needs \"gpu\"", "--list gpus"});
  expect(R"("pcie-8", "gpu": "L40S-48G")", "#/hosts/gpu", {"GPU model", "did you mean 'L40S-48GB'"});
  expect(R"("dgx-h100", "gpu": "L40S-48GB")", "#/hosts/gpu", {"dgx-h100 has H100-SXM5-80GB GPUs"});
  expect(R"("dgx-h100", "peer_access": false)", "#/hosts/peer_access", {"only pcie-* hosts"});
  expect(R"("dgx-h100", "nvlink_domain": 2)", "#/hosts/nvlink_domain", {"dgx-h100", "gb200-nvl72"});
  expect(R"("gb200-nvl72", "nvlink_domain": 145)", "#/hosts/nvlink_domain", {"144", "145"});
  expect(R"("dgx-h100", "gpu_power": "800 W")", "#/hosts/gpu_power",
         {"a limit from 280 W to the 700 W of a H100-SXM5-80GB", "800 W"});
  expect(R"("dgx-h100", "gpu_power": "200 W")", "#/hosts/gpu_power", {"280 W"});
  expect(R"("dgx-h100", "gpu_power": 500)", "#/hosts/gpu_power", {"a power such as \"500 W\""});
  expect(R"("gh200-4", "gpu_power": "500 W")", "#/hosts/gpu_power", {"limit of a GH200-96GB is not known"});
}

// The clock goes with the cube root of the power: 989 x (343 / 700)^(1/3), and 343 / 700 = 0.49.
TEST(HostKeys, PowerLimitLowersThePeaksAndNothingElse) {
  const Topology t = topology_of(
      R"("hosts": [{"count": 1, "type": "dgx-h100", "gpu_power": "343 W"}, {"count": 1, "type": "dgx-h100"}],
         "fabric": {"family": "rail-optimized"})");
  ASSERT_EQ(t.gpu_models().size(), 2U);
  const GpuModel& low = t.gpu_models()[0];
  const GpuModel& full = t.gpu_models()[1];
  EXPECT_EQ(low.name, "H100-SXM5-80GB at 343 W");
  EXPECT_NEAR(low.peak.at(DataType::kBf16).flops(), 989e12 * std::cbrt(0.49), 1e6);
  EXPECT_EQ(full.peak.at(DataType::kBf16).flops(), 989e12);
  EXPECT_EQ(low.memory_bandwidth, full.memory_bandwidth);
  EXPECT_EQ(low.sms, full.sms);
  const Topology again = read_topology(JsonDocument::parse(write_topology(t), "t.json"), 0);
  EXPECT_EQ(std::vector(again.gpu_models().begin(), again.gpu_models().end()),
            std::vector(t.gpu_models().begin(), t.gpu_models().end()));
}

TEST(HostKeys, SocketsTakeBoardsWithOtherMemory) {
  const Topology t = topology_of(
      R"("hosts": {"count": 1, "type": "dgx-h100", "gpu": "H100-SXM5-96GB"}, "fabric": {"family": "none"})");
  EXPECT_EQ(t.gpu_models()[0].memory, 96_GB);
  EXPECT_EQ(t.gpu_models()[0].memory_bandwidth.Bps(), 2.4e12);
}

TEST(HostKeys, GpuMayBeAModelOfTheFile) {
  const Topology t = topology_of(
      R"("hosts": {"count": 1, "type": "pcie-4", "gpu": "Mine"}, "fabric": {"family": "none"},
         "gpus": {"Mine": {"peak": {"bf16": "1 TFLOP/s"}, "memory": "1 GB", "memory_bandwidth": "1 TB/s", "sms": 1}})");
  EXPECT_EQ(t.gpu_models()[0].name, "Mine");
  EXPECT_DOUBLE_EQ(link_called(t, "h0.gpu0->h0.cpu0").bandwidth.Bps(), 16e9 * 16 * 128 / 130 / 8) << "Gen4";
}

}  // namespace
}  // namespace busbar
