#include "topologies/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/topologies/routes_by_name.h"

namespace busbar {
namespace {

using testing::between_switches;
using testing::cable;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::rails;
using testing::Routes;
using testing::switch_called;
using testing::topology_of;
using ::testing::UnorderedElementsAre;

TEST(HostRoutes, BetweenGpusUseNvlink) {
  for (const char* type : {"dgx-h100", "dgx-a100"}) {
    const Topology t = rails(2, type);
    Routes r(t);
    EXPECT_THAT(r.shares("h1.gpu0", "h1.gpu7", RouteScope::kHost),
                ElementsAre(Pair("h1.gpu0->h1.nvs", kOneFlow), Pair("h1.nvs->h1.gpu7", kOneFlow)));
    EXPECT_THAT(r.path("h1.gpu0", "h1.gpu7", RouteScope::kHost),
                ElementsAre("h1.gpu0->h1.nvs", "h1.nvs->h1.gpu7"));
  }
}

TEST(HostRoutes, ToAnotherGpusNicGoByThatGpu) {
  const Topology t = rails(2, "dgx-h100");
  Routes r(t);
  EXPECT_THAT(r.path("h0.gpu0", "h0.nic0", RouteScope::kHost),
              ElementsAre("h0.gpu0->h0.pcie0", "h0.pcie0->h0.nic0"));
  EXPECT_THAT(r.path("h1.gpu7", "h1.nic0", RouteScope::kHost),
              ElementsAre("h1.gpu7->h1.nvs", "h1.nvs->h1.gpu0", "h1.gpu0->h1.pcie0", "h1.pcie0->h1.nic0"));
}

// NCCL_PXN_C2C, on by default since 2.28: rather than between the Graces, which is a sixth of a NIC's rate.
TEST(HostRoutes, ToTheOtherGracesNicGoByItsGpu) {
  const Topology t = rails(1, "gh200-4");
  Routes r(t);
  EXPECT_THAT(r.path("h0.gpu0", "h0.nic3", RouteScope::kHost),
              ElementsAre("h0.gpu0->h0.gpu3", "h0.gpu3->h0.cpu3", "h0.cpu3->h0.nic3"));
  EXPECT_THAT(r.path("h0.gpu0", "h0.nic0", RouteScope::kHost),
              ElementsAre("h0.gpu0->h0.cpu0", "h0.cpu0->h0.nic0"));
}

TEST(HostRoutes, FromANicToADistantGpuGoThroughTheCpus) {
  // NCCL's PXN is for sending; a receive lands where the NIC writes it.
  const Topology t = rails(1, "dgx-h100");
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic0", "h0.gpu7", RouteScope::kHost),
              ElementsAre("h0.nic0->h0.pcie0", "h0.pcie0->h0.cpu0", "h0.cpu0->h0.cpu1", "h0.cpu1->h0.pcie7",
                          "h0.pcie7->h0.gpu7"));
}

TEST(HostRoutes, SplitOverTheGpusThatShareTheNicsSwitch) {
  // On DGX A100 two GPUs are next to NIC 0, so a proxy's work is halved between them.
  const Topology t = rails(1, "dgx-a100");
  Routes r(t);
  EXPECT_THAT(
      r.shares("h0.gpu7", "h0.nic0", RouteScope::kHost),
      UnorderedElementsAre(Pair("h0.gpu7->h0.nvs", kOneFlow), Pair("h0.nvs->h0.gpu0", kOneFlow / 2),
                           Pair("h0.nvs->h0.gpu1", kOneFlow / 2), Pair("h0.gpu0->h0.pcie0", kOneFlow / 2),
                           Pair("h0.gpu1->h0.pcie0", kOneFlow / 2), Pair("h0.pcie0->h0.nic0", kOneFlow)));
}

TEST(HostRoutes, GoThroughTheCpusToANicWhoseGpuIsNotUsed) {
  const Topology t = topology_of(
      R"("hosts": {"count": 1, "type": "dgx-h100", "gpus": 1}, "fabric": {"family": "rail-optimized"})");
  Routes r(t);
  EXPECT_THAT(r.path("h0.gpu0", "h0.nic7", RouteScope::kHost),
              ElementsAre("h0.gpu0->h0.pcie0", "h0.pcie0->h0.cpu0", "h0.cpu0->h0.cpu1", "h0.cpu1->h0.pcie7",
                          "h0.pcie7->h0.nic7"));
}

TEST(HostRoutes, PreferASharedPcieSwitchToTheCpu) {
  const Topology t = topology_of(R"("devices": [
      {"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"}, {"id": "g2", "kind": "gpu", "host": "h"},
      {"id": "p0", "kind": "pcie-switch", "host": "h"}, {"id": "p1", "kind": "pcie-switch", "host": "h"}, {"id": "c", "kind": "cpu", "host": "h"}],
    "links": [{"from": "g0", "to": "p0", "bandwidth": "32 GB/s"}, {"from": "g1", "to": "p0", "bandwidth": "32 GB/s"},
              {"from": "g2", "to": "p1", "bandwidth": "32 GB/s"}, {"from": "p0", "to": "c", "bandwidth": "32 GB/s"},
              {"from": "p1", "to": "c", "bandwidth": "32 GB/s"}, {"from": "g0", "to": "c", "bandwidth": "32 GB/s"},
              {"from": "g1", "to": "c", "bandwidth": "32 GB/s"}])");
  Routes r(t);
  EXPECT_THAT(r.path("g0", "g1", RouteScope::kHost), ElementsAre("g0->p0", "p0->g1"));
  EXPECT_THAT(r.path("g0", "g2", RouteScope::kHost), ElementsAre("g0->c", "c->p1", "p1->g2"));
}

TEST(HostRoutes, DoNotLeaveTheHost) {
  const Topology t = rails(2, "dgx-h100");
  Routes r(t);
  EXPECT_FALSE(r.route("h0.gpu0", "h1.gpu0", RouteScope::kHost).has_value());
  EXPECT_FALSE(r.route("h0.gpu0", "leaf0", RouteScope::kHost).has_value());
  EXPECT_FALSE(r.route("leaf0", "h0.nic0", RouteScope::kHost).has_value());
}

TEST(Routes, FromADeviceToItselfAreEmpty) {
  const Topology t = rails(1, "dgx-h100");
  Routes r(t);
  for (const RouteScope scope : {RouteScope::kHost, RouteScope::kFabric, RouteScope::kAnywhere}) {
    const auto route = r.route("h0.gpu0", "h0.gpu0", scope);
    ASSERT_TRUE(route.has_value());
    EXPECT_THAT(route->usage, IsEmpty());
    EXPECT_THAT(route->path, IsEmpty());
  }
}

TEST(FabricRoutes, OfOneRailStayOnItsLeaf) {
  const Topology t = rails(2, "dgx-h100");
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic3", "h1.nic3", RouteScope::kFabric),
              ElementsAre("h0.nic3->leaf3", "leaf3->h1.nic3"));
}

TEST(FabricRoutes, BetweenRailsAndPodsCrossTheSpine) {
  const Topology t = rails(3, "dgx-h100", R"(, "hosts_per_leaf": 2)");
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic3", "h1.nic4", RouteScope::kFabric),
              ElementsAre("h0.nic3->leaf3", "leaf3->spine", "spine->leaf4", "leaf4->h1.nic4"));
  EXPECT_THAT(r.shares("h0.nic3", "h2.nic3", RouteScope::kFabric),
              UnorderedElementsAre(Pair("h0.nic3->leaf3", kOneFlow), Pair("leaf3->spine", kOneFlow),
                                   Pair("spine->leaf11", kOneFlow), Pair("leaf11->h2.nic3", kOneFlow)));
}

TEST(FabricRoutes, DoNotUseAHostsInside) {
  const Topology t =
      topology_of(R"("hosts": {"count": 1, "type": "dgx-a100"}, "fabric": {"family": "none"})");
  Routes r(t);
  EXPECT_FALSE(r.route("h0.nic0", "h0.nic1", RouteScope::kFabric).has_value());
}

TEST(FabricRoutes, SplitEvenlyOverThreeSpines) {
  std::string spines, cables;
  for (const char* id : {"x", "y", "z"}) {
    spines += switch_called(id);
    cables += cable("s", id) + cable(id, "t");
  }
  const Topology t = between_switches(spines, cables);
  Routes r(t);
  // 2^20 / 3 = 349525.33..
  for (const char* link : {"s->x", "s->y", "s->z", "x->t", "y->t", "z->t"}) {
    EXPECT_EQ(r.shares("a.nic", "b.nic", RouteScope::kFabric)[link], 349'525) << link;
  }
}

TEST(FabricRoutes, SplitAtEveryBranchingAndNotOverPaths) {
  // x has two parallel cables to t, y has one: halves at s, then quarters from x.
  const Topology t = between_switches(
      switch_called("x") + switch_called("y"),
      cable("s", "x") + cable("s", "y") + cable("x", "t") + cable("x", "t") + cable("y", "t"));
  Routes r(t);
  const auto route = r.route("a.nic", "b.nic", RouteScope::kFabric);
  std::multiset<std::int64_t> flows;
  for (const ResourceUse& use : route.value().usage) flows.insert(use.flows);
  EXPECT_THAT(flows, ElementsAre(kOneFlow / 4, kOneFlow / 4, kOneFlow / 2, kOneFlow / 2, kOneFlow / 2,
                                 kOneFlow, kOneFlow));
  EXPECT_EQ(r.shares("a.nic", "b.nic", RouteScope::kFabric)["y->t"], kOneFlow / 2);
}

TEST(FabricRoutes, OfANicWithTwoCablesUseBoth) {
  const Topology t = between_switches("", cable("a.nic", "t") + cable("b.nic", "s"));
  Routes r(t);
  EXPECT_THAT(r.shares("a.nic", "b.nic", RouteScope::kFabric),
              UnorderedElementsAre(Pair("a.nic->s", kOneFlow / 2), Pair("a.nic->t", kOneFlow / 2),
                                   Pair("s->b.nic", kOneFlow / 2), Pair("t->b.nic", kOneFlow / 2)));
}

TEST(FabricRoutes, OfNicsThatAreCabledTogetherNeedNoSwitch) {
  const Topology t = topology_of(
      R"("devices": [{"id": "a.gpu", "kind": "gpu", "host": "a"}, {"id": "a.nic", "kind": "nic", "host": "a"},
      {"id": "b.gpu", "kind": "gpu", "host": "b"}, {"id": "b.nic", "kind": "nic", "host": "b"}],
    "links": [{"from": "a.gpu", "to": "a.nic", "bandwidth": "63 GB/s"}, {"from": "b.gpu", "to": "b.nic", "bandwidth": "63 GB/s"},
              {"from": "a.nic", "to": "b.nic", "bandwidth": "50 GB/s"}])");
  Routes r(t);
  EXPECT_THAT(r.path("a.nic", "b.nic", RouteScope::kFabric), ElementsAre("a.nic->b.nic"));
  EXPECT_THAT(r.path("a.gpu", "b.gpu", RouteScope::kAnywhere),
              ElementsAre("a.gpu->a.nic", "a.nic->b.nic", "b.nic->b.gpu"));
}

TEST(AnywhereRoutes, GoFromGpuToGpuByTheirOwnNics) {
  const Topology t = rails(2, "dgx-h100");
  Routes r(t);
  EXPECT_THAT(r.path("h0.gpu0", "h1.gpu0", RouteScope::kAnywhere),
              ElementsAre("h0.gpu0->h0.pcie0", "h0.pcie0->h0.nic0", "h0.nic0->leaf0", "leaf0->h1.nic0",
                          "h1.nic0->h1.pcie0", "h1.pcie0->h1.gpu0"));
  EXPECT_THAT(r.path("h0.gpu0", "h1.gpu3", RouteScope::kAnywhere),
              ElementsAre("h0.gpu0->h0.pcie0", "h0.pcie0->h0.nic0", "h0.nic0->leaf0", "leaf0->spine",
                          "spine->leaf3", "leaf3->h1.nic3", "h1.nic3->h1.pcie3", "h1.pcie3->h1.gpu3"));
}

TEST(AnywhereRoutes, InAHostAreTheHostsOwn) {
  const Topology t = rails(2, "dgx-h100");
  Routes r(t);
  EXPECT_EQ(r.path("h0.gpu2", "h0.gpu5", RouteScope::kAnywhere),
            r.path("h0.gpu2", "h0.gpu5", RouteScope::kHost));
}

TEST(AnywhereRoutes, MayLeaveAHostWhoseGpusAreNotConnectedInside) {
  const Topology t = topology_of(R"("devices": [
      {"id": "g0", "kind": "gpu", "host": "h"}, {"id": "n0", "kind": "nic", "host": "h"},
      {"id": "g1", "kind": "gpu", "host": "h"}, {"id": "n1", "kind": "nic", "host": "h"}, {"id": "s", "kind": "switch"}],
    "links": [{"from": "g0", "to": "n0", "bandwidth": "63 GB/s"}, {"from": "g1", "to": "n1", "bandwidth": "63 GB/s"},
              {"from": "n0", "to": "s", "bandwidth": "50 GB/s"}, {"from": "n1", "to": "s", "bandwidth": "50 GB/s"}])");
  Routes r(t);
  EXPECT_THAT(r.path("g0", "g1", RouteScope::kAnywhere), ElementsAre("g0->n0", "n0->s", "s->n1", "n1->g1"));
}

TEST(AnywhereRoutes, PassANicOnlyBetweenItsTwoSides) {
  // The NIC has two PCIe links; it is no PCIe switch between the GPUs.
  const Topology t = topology_of(
      R"("devices": [{"id": "g0", "kind": "gpu", "host": "h"}, {"id": "g1", "kind": "gpu", "host": "h"},
      {"id": "n", "kind": "nic", "host": "h"}],
    "links": [{"from": "g0", "to": "n", "bandwidth": "63 GB/s"}, {"from": "g1", "to": "n", "bandwidth": "63 GB/s"}])");
  Routes r(t);
  EXPECT_FALSE(r.route("g0", "g1", RouteScope::kAnywhere).has_value());
}

TEST(AnywhereRoutes, DoNotCrossAThirdHost) {
  // a and c meet only in host b, whose CPU would have to forward.
  const Topology t = topology_of(
      R"("devices": [{"id": "a.gpu", "kind": "gpu", "host": "a"}, {"id": "a.nic", "kind": "nic", "host": "a"},
      {"id": "b.nic0", "kind": "nic", "host": "b"}, {"id": "b.cpu", "kind": "cpu", "host": "b"}, {"id": "b.nic1", "kind": "nic", "host": "b"},
      {"id": "c.gpu", "kind": "gpu", "host": "c"}, {"id": "c.nic", "kind": "nic", "host": "c"}],
    "links": [{"from": "a.gpu", "to": "a.nic", "bandwidth": "1 GB/s"}, {"from": "a.nic", "to": "b.nic0", "bandwidth": "1 GB/s"},
              {"from": "b.nic0", "to": "b.cpu", "bandwidth": "1 GB/s"}, {"from": "b.cpu", "to": "b.nic1", "bandwidth": "1 GB/s"},
              {"from": "b.nic1", "to": "c.nic", "bandwidth": "1 GB/s"}, {"from": "c.nic", "to": "c.gpu", "bandwidth": "1 GB/s"}])");
  Routes r(t);
  EXPECT_FALSE(r.route("a.gpu", "c.gpu", RouteScope::kAnywhere).has_value());
}

}  // namespace
}  // namespace busbar
