// GPUs that hand on what is not theirs, NVLink domains of several hosts, and NICs that GPUs share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/topologies/routes_by_name.h"

namespace busbar {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using testing::Routes;
using testing::topology_of;
using ::testing::UnorderedElementsAre;

/// Each "a-b:type" of `links` at 25 GB/s; GPUs are called g.., NICs n.., PCIe switches p.., CPUs c...
Topology box(const std::vector<std::string>& devices, const std::vector<std::string>& links) {
  std::string text = R"("devices": [)";
  for (const std::string& id : devices) {
    const char* kind = id[0] == 'g' ? "gpu" : id[0] == 'n' ? "nic" : id[0] == 'p' ? "pcie-switch" : "cpu";
    text += (text.back() == '[' ? "" : ", ") +
            (R"({"id": ")" + id + R"(", "kind": ")" + kind + R"(", "host": "h"})");
  }
  text += R"(], "links": [)";
  for (const std::string& link : links) {
    const auto dash = link.find('-'), colon = link.find(':');
    text += (text.back() == '[' ? "" : ", ") + (R"({"from": ")" + link.substr(0, dash) + R"(", "to": ")" +
                                                link.substr(dash + 1, colon - dash - 1) + R"(", "type": ")" +
                                                link.substr(colon + 1) + R"(", "bandwidth": "25 GB/s"})");
  }
  return topology_of(text + "]");
}

TEST(GpuRelays, JoinGpusWithoutALinkOfTheirOwn) {
  // A square: g0 and g2 have g1 and g3 between them, and a CPU that costs more.
  for (const std::string type : {"nvlink", "xgmi"}) {
    const Topology t = box({"g0", "g1", "g2", "g3", "c"},
                           {"g0-g1:" + type, "g1-g2:" + type, "g2-g3:" + type, "g3-g0:" + type, "g0-c:pcie",
                            "g1-c:pcie", "g2-c:pcie", "g3-c:pcie"});
    Routes r(t);
    EXPECT_THAT(r.path("g0", "g1", RouteScope::kHost), ElementsAre("g0->g1")) << "never by two others";
    EXPECT_THAT(r.shares("g0", "g2", RouteScope::kHost),
                UnorderedElementsAre(Pair("g0->g1", kOneFlow / 2), Pair("g1->g2", kOneFlow / 2),
                                     Pair("g0->g3", kOneFlow / 2), Pair("g3->g2", kOneFlow / 2)));
  }
}

TEST(GpuRelays, AreOneAtMostWhereTheCpuConnects) {
  const Topology t = box({"g0", "g1", "g2", "g3", "c"}, {"g0-g1:nvlink", "g1-g2:nvlink", "g2-g3:nvlink",
                                                         "g0-c:pcie", "g1-c:pcie", "g2-c:pcie", "g3-c:pcie"});
  Routes r(t);
  EXPECT_THAT(r.path("g0", "g2", RouteScope::kHost), ElementsAre("g0->g1", "g1->g2"));
  EXPECT_THAT(r.path("g0", "g3", RouteScope::kHost), ElementsAre("g0->c", "c->g3"));
}

TEST(GpuRelays, AreAsManyAsNeededWhereNothingElseConnects) {
  const Topology t = box({"g0", "g1", "g2", "g3"}, {"g0-g1:nvlink", "g1-g2:nvlink", "g2-g3:nvlink"});
  Routes r(t);
  EXPECT_THAT(r.path("g0", "g3", RouteScope::kHost), ElementsAre("g0->g1", "g1->g2", "g2->g3"));
  EXPECT_THAT(r.path("g3", "g0", RouteScope::kAnywhere), ElementsAre("g3->g2", "g2->g1", "g1->g0"));
}

TEST(GpuRelays, StandBetweenNvlinkAndAPcieSwitch) {
  const Topology t =
      box({"g0", "g1", "g2", "p"}, {"g0-g1:nvlink", "g1-g2:nvlink", "g0-p:pcie", "g1-p:pcie", "g2-p:pcie"});
  Routes r(t);
  EXPECT_THAT(r.path("g0", "g1", RouteScope::kHost), ElementsAre("g0->g1"));
  EXPECT_THAT(r.path("g0", "g2", RouteScope::kHost), ElementsAre("g0->g1", "g1->g2"));
}

TEST(GpuRelays, DoNotBridgePcieToNvlink) {
  // g0 has no NVLink: it reaches g2 through the CPU and not by g1.
  const Topology t = box({"g0", "g1", "g2", "p0", "p1", "c"}, {"g0-p0:pcie", "g1-p0:pcie", "g2-p1:pcie",
                                                               "p0-c:pcie", "p1-c:pcie", "g1-g2:nvlink"});
  Routes r(t);
  EXPECT_THAT(r.path("g0", "g2", RouteScope::kHost), ElementsAre("g0->p0", "p0->c", "c->p1", "p1->g2"));
}

/// Two trays of two GPUs, a CPU and a NIC, on one NVLink switch that belongs to no host.
Topology rack() {
  TopologyBuilder builder("rack", "");
  const DeviceId nvs = builder.add_device("nvs", DeviceKind::kNvswitch);
  const DeviceId leaf = builder.add_device("leaf0", DeviceKind::kSwitch);
  const Bandwidth fast = Bandwidth::gigabytes_per_second(900), slow = Bandwidth::gigabytes_per_second(50);
  for (const std::string tray : {"t0", "t1"}) {
    const std::uint32_t host = builder.add_host(tray, "");
    builder.set_domain(host, 0);
    const DeviceId cpu = builder.add_device(tray + ".cpu", DeviceKind::kCpu, host);
    const DeviceId nic = builder.add_device(tray + ".nic", DeviceKind::kNic, host);
    builder.add_link(nic, cpu, slow, LinkType::kPcie);
    builder.add_link(nic, leaf, slow, LinkType::kRdma);
    for (const std::string gpu : {".gpu0", ".gpu1"}) {
      const DeviceId device = builder.add_device(tray + gpu, DeviceKind::kGpu, host);
      builder.add_link(device, nvs, fast, LinkType::kNvlink);
      builder.add_link(device, cpu, slow, LinkType::kC2c);
    }
  }
  return std::move(builder).build();
}

TEST(NvlinkDomains, AreOneHostToItsRoutes) {
  const Topology t = rack();
  Routes r(t);
  EXPECT_THAT(r.path("t0.gpu0", "t1.gpu1", RouteScope::kHost), ElementsAre("t0.gpu0->nvs", "nvs->t1.gpu1"));
  EXPECT_THAT(r.path("t1.gpu0", "t1.gpu1", RouteScope::kAnywhere),
              ElementsAre("t1.gpu0->nvs", "nvs->t1.gpu1"));
  EXPECT_THAT(r.path("t1.gpu0", "t1.nic", RouteScope::kHost),
              ElementsAre("t1.gpu0->t1.cpu", "t1.cpu->t1.nic"));
}

TEST(NvlinkDomains, LeaveEachGpuTheNicsOfItsOwnTray) {
  const Topology t = rack();
  Routes r(t);
  EXPECT_THAT(r.nics("t0.gpu1"), ElementsAre("t0.nic"));
  EXPECT_THAT(r.nics("t1.gpu0"), ElementsAre("t1.nic"));
}

// Pairs of GPUs under a PCIe switch, one NIC under every one: g0, g1 by n0 and g2, g3 by n1.
TEST(SharedNics, AreNearToBothGpusOfTheirSwitch) {
  const Topology t = box({"g0", "g1", "g2", "g3", "p0", "p1", "c", "n0", "n1"},
                         {"g0-p0:pcie", "g1-p0:pcie", "n0-p0:pcie", "g2-p1:pcie", "g3-p1:pcie", "n1-p1:pcie",
                          "p0-c:pcie", "p1-c:pcie", "g0-g1:nvlink", "n0-n1:rdma"});
  Routes r(t);
  EXPECT_THAT(r.nics("g0"), ElementsAre("n0", "n1"));
  EXPECT_THAT(r.nics("g1"), ElementsAre("n0", "n1"));
  EXPECT_THAT(r.nics("g3"), ElementsAre("n1", "n0"));
  EXPECT_THAT(r.path("g1", "n0", RouteScope::kHost), ElementsAre("g1->p0", "p0->n0"));
}

// One NIC beside g0. g1 has an NVLink to g0 and goes by it; g2 has none and goes by the host bridge.
TEST(FewNics, AreReachedByTheGpuBesideThemElseByTheHostBridge) {
  const Topology t = box({"g0", "g1", "g2", "p0", "p1", "p2", "c", "n0", "n1"},
                         {"g0-p0:pcie", "n0-p0:pcie", "g1-p1:pcie", "g2-p2:pcie", "p0-c:pcie", "p1-c:pcie",
                          "p2-c:pcie", "g0-g1:nvlink", "n0-n1:rdma"});
  Routes r(t);
  EXPECT_THAT(r.path("g1", "n0", RouteScope::kHost), ElementsAre("g1->g0", "g0->p0", "p0->n0"));
  EXPECT_THAT(r.path("g2", "n0", RouteScope::kHost), ElementsAre("g2->p2", "p2->c", "c->p0", "p0->n0"));
}

}  // namespace
}  // namespace busbar
