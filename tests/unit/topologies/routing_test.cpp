#include "topologies/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <random>

#include "tests/unit/topologies/topology_text.h"
#include "topologies/route_search.h"

namespace busbar {
namespace {

using testing::device_called;
using ::testing::ElementsAre;
using testing::ids_of;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::rails;
using testing::topology_of;
using ::testing::UnorderedElementsAre;

using Shares = std::map<std::string, std::int64_t>;

/// Routes by the names of devices and links.
struct Routes {
  explicit Routes(const Topology& topology) : t(topology), router(topology) {}

  std::optional<Route> route(const char* from, const char* to, RouteScope scope) {
    return router.route(device_called(t, from), device_called(t, to), scope);
  }
  std::vector<std::string> path(const char* from, const char* to, RouteScope scope) {
    const auto found = route(from, to, scope);
    if (!found) return {"no route"};
    std::vector<std::string> names;
    for (const LinkId link : found->path) names.push_back(t.link_name(link));
    return names;
  }
  Shares shares(const char* from, const char* to, RouteScope scope) {
    Shares by_name;
    const Route found = route(from, to, scope).value();
    for (const ResourceUse& use : found.usage) {
      by_name[t.link_name(LinkId(use.resource.value()))] += use.flows;
    }
    return by_name;
  }
  std::vector<std::string> nics(const char* gpu) {
    return ids_of(t, router.nics_by_distance(device_called(t, gpu)));
  }

  const Topology& t;
  Router router;
};

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

TEST(HostRoutes, DoNotPassAGpuOnTheWayToAGpu) {
  const Topology t = topology_of(R"("devices": [{"id": "a", "kind": "gpu", "host": "h"},
      {"id": "b", "kind": "gpu", "host": "h"}, {"id": "c", "kind": "gpu", "host": "h"}],
    "links": [{"from": "a", "to": "b", "bandwidth": "25 GB/s"}, {"from": "b", "to": "c", "bandwidth": "25 GB/s"}])");
  Routes r(t);
  EXPECT_THAT(r.path("a", "b", RouteScope::kHost), ElementsAre("a->b"));
  EXPECT_FALSE(r.route("a", "c", RouteScope::kHost).has_value());
  EXPECT_FALSE(r.route("a", "c", RouteScope::kAnywhere).has_value());
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

/// One GPU and one NIC on each side of the switches that `more` describes; NICs "a.nic" and "b.nic" on "s"
/// and "t".
Topology between_switches(const std::string& switches, const std::string& links) {
  return topology_of(
      R"("devices": [{"id": "a.gpu", "kind": "gpu", "host": "a"}, {"id": "a.nic", "kind": "nic", "host": "a"},
      {"id": "b.gpu", "kind": "gpu", "host": "b"}, {"id": "b.nic", "kind": "nic", "host": "b"},
      {"id": "s", "kind": "switch"}, {"id": "t", "kind": "switch"})" +
      switches + R"(], "links": [{"from": "a.gpu", "to": "a.nic", "bandwidth": "63 GB/s"},
      {"from": "b.gpu", "to": "b.nic", "bandwidth": "63 GB/s"}, {"from": "a.nic", "to": "s", "bandwidth": "50 GB/s"},
      {"from": "b.nic", "to": "t", "bandwidth": "50 GB/s"})" +
      links + "]");
}

std::string switch_called(const std::string& id) { return R"(, {"id": ")" + id + R"(", "kind": "switch"})"; }
std::string cable(const std::string& from, const std::string& to) {
  return R"(, {"from": ")" + from + R"(", "to": ")" + to + R"(", "bandwidth": "100 GB/s"})";
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

TEST(NicsByDistance, GiveEachGpuItsOwnNicFirst) {
  for (const char* type : {"dgx-h100", "dgx-a100"}) {
    const Topology t = rails(2, type);
    Routes r(t);
    for (const char* host : {"h0", "h1"}) {
      for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i);
        const auto nics = r.nics((host + (".gpu" + number)).c_str());
        ASSERT_EQ(nics.size(), 8U);
        EXPECT_EQ(nics[0], host + (".nic" + number)) << type;
      }
    }
  }
}

TEST(NicsByDistance, PutTheSameSwitchBeforeOthersThenTheLessTaken) {
  const Topology t = rails(1, "dgx-a100");
  Routes r(t);
  // NICs 0 and 1 are at GPU 0's switch; none is taken yet, so file order decides, also among those behind
  // proxies.
  EXPECT_THAT(r.nics("h0.gpu0"), ElementsAre("h0.nic0", "h0.nic1", "h0.nic2", "h0.nic3", "h0.nic4", "h0.nic5",
                                             "h0.nic6", "h0.nic7"));
  // NIC 0 is taken by GPU 0.
  EXPECT_THAT(r.nics("h0.gpu1"), ElementsAre("h0.nic1", "h0.nic0", "h0.nic2", "h0.nic3", "h0.nic4", "h0.nic5",
                                             "h0.nic6", "h0.nic7"));
}

TEST(NicsByDistance, SpreadGpusWithoutANearNicOverThoseThereAre) {
  const Topology t = topology_of(
      R"("hosts": {"count": 1, "type": "dgx-h100", "nics": 4}, "fabric": {"family": "rail-optimized"})");
  Routes r(t);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(r.nics(("h0.gpu" + std::to_string(i)).c_str())[0], "h0.nic" + std::to_string(i % 4));
  }
}

TEST(NicsByDistance, AreNoneWithoutANetwork) {
  const Topology t =
      topology_of(R"("hosts": {"count": 1, "type": "dgx-h100"}, "fabric": {"family": "none"})");
  Routes r(t);
  EXPECT_THAT(r.nics("h0.gpu0"), IsEmpty());
}

bool same_route(const Route& a, const Route& b) {
  const auto same_use = [](const ResourceUse& x, const ResourceUse& y) {
    return x.resource == y.resource && x.flows == y.flows;
  };
  return a.path == b.path && std::ranges::equal(a.usage, b.usage, same_use);
}

// The caches against the search that they stand in front of: two shapes and two pods, one host with a fault.
TEST(Router, AgreesWithTheUncachedSearch) {
  const Topology t =
      topology_of(R"("hosts": [{"count": 2, "type": "dgx-h100"}, {"count": 2, "type": "dgx-a100"},
      {"count": 1, "type": "dgx-h100", "gpus": 3}, {"count": 1, "type": "dgx-h100"}],
    "fabric": {"family": "rail-optimized", "hosts_per_leaf": 3}, "faults": [{"link": "h1.gpu0--h1.nvs", "bandwidth": "1%"}])");
  Router router(t);
  RouteSearch search(t);
  std::size_t routes = 0;
  for (std::size_t a = 0; a < t.devices().size(); ++a) {
    for (std::size_t b = 0; b < t.devices().size(); ++b) {
      for (const RouteScope scope : {RouteScope::kHost, RouteScope::kFabric}) {
        const auto cached = router.route(DeviceId::from_index(a), DeviceId::from_index(b), scope);
        const auto direct = search.find(DeviceId::from_index(a), DeviceId::from_index(b), scope);
        ASSERT_EQ(cached.has_value(), direct.has_value()) << t.devices()[a].id << " to " << t.devices()[b].id;
        if (!cached) continue;
        ++routes;
        ASSERT_EQ(cached->path, direct->route.path);
        Shares by_link[2];
        for (const ResourceUse& use : cached->usage)
          by_link[0][t.link_name(LinkId(use.resource.value()))] += use.flows;
        for (const ResourceUse& use : direct->route.usage)
          by_link[1][t.link_name(LinkId(use.resource.value()))] += use.flows;
        ASSERT_EQ(by_link[0], by_link[1]);
      }
    }
  }
  EXPECT_GT(routes, 5'000U);
}

TEST(Router, GivesTheSameRouteAgain) {
  const Topology t = rails(40, "dgx-a100");
  Router router(t);
  const DeviceId a = device_called(t, "h0.gpu5");
  const DeviceId b = device_called(t, "h39.gpu2");
  const auto first = router.route(a, b, RouteScope::kAnywhere);
  EXPECT_TRUE(same_route(first.value(), router.route(a, b, RouteScope::kAnywhere).value()));
}

/// A random graph of switches (all links of one cost) with two NICs, and the obvious way to split flows in
/// it.
class RandomFabric {
 public:
  explicit RandomFabric(std::uint32_t seed) : random_(seed) {
    const std::size_t switches = 2 + random_() % 7;
    for (std::size_t s = 0; s < switches; ++s) {
      names_.push_back("x" + std::to_string(s));
      switches_ += switch_called(names_.back());
    }
    const std::size_t cables = random_() % (3 * switches);
    for (std::size_t c = 0; c < cables; ++c) {
      const std::size_t a = random_() % switches;
      const std::size_t b = random_() % switches;
      if (a != b) cables_ += cable(names_[a], names_[b]);
    }
    // s and t are always joined, if only by a detour, so that the topology is valid.
    cables_ += cable("s", names_[random_() % switches]) + cable("t", names_[random_() % switches]);
    for (std::size_t s = 0; s + 1 < switches; ++s) cables_ += cable(names_[s], names_[s + 1]);
  }
  Topology topology() const { return between_switches(switches_, cables_); }

 private:
  std::mt19937 random_;
  std::vector<std::string> names_;
  std::string switches_, cables_;
};

/// Hops from each device to `goal` through switches only.
std::vector<int> hops_to(const Topology& t, DeviceId goal) {
  std::vector<int> hops(t.devices().size(), 1'000'000);
  std::queue<DeviceId> queue({goal});
  hops[goal.index()] = 0;
  for (; !queue.empty(); queue.pop()) {
    for (const Link& link : t.links()) {
      if (link.to != queue.front() || !is_network(link.type) || hops[link.from.index()] < 1'000'000) continue;
      hops[link.from.index()] = hops[queue.front().index()] + 1;
      if (t.device(link.from).kind == DeviceKind::kSwitch) queue.push(link.from);
    }
  }
  return hops;
}

void split(const Topology& t, const std::vector<int>& hops, DeviceId at, double flow,
           std::vector<double>& on_link) {
  std::vector<LinkId> onward;
  for (const LinkId l : t.out_links(at)) {
    if (is_network(t.link(l).type) && hops[t.link(l).to.index()] == hops[at.index()] - 1) onward.push_back(l);
  }
  for (const LinkId l : onward) {
    on_link[l.index()] += flow / static_cast<double>(onward.size());
    split(t, hops, t.link(l).to, flow / static_cast<double>(onward.size()), on_link);
  }
}

TEST(FabricRoutes, SplitAsAWalkThatHalvesAtEveryFork) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Topology t = RandomFabric(seed).topology();
    const DeviceId from = device_called(t, "a.nic");
    const DeviceId to = device_called(t, "b.nic");
    std::vector<double> expected(t.links().size(), 0);
    split(t, hops_to(t, to), from, 1, expected);
    std::vector<double> found(t.links().size(), 0);
    Router router(t);
    const Route route = router.route(from, to, RouteScope::kFabric).value();
    for (const ResourceUse& use : route.usage) {
      found[use.resource.index()] += static_cast<double>(use.flows) / static_cast<double>(kOneFlow);
    }
    // Shares are rounded once, to the nearest of 2^20 parts.
    for (std::size_t l = 0; l < expected.size(); ++l) ASSERT_NEAR(found[l], expected[l], 0.5001 / kOneFlow);
  }
}

}  // namespace
}  // namespace busbar
