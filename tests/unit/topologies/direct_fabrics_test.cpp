// Torus and dragonfly: counts, bisection bandwidth against its closed form, minimal routes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/topologies/network_flow.h"
#include "tests/unit/topologies/routes_by_name.h"

namespace busbar {
namespace {

using testing::bisection_Bps;
using testing::device_called;
using ::testing::ElementsAre;
using testing::link_called;
using ::testing::Pair;
using testing::Routes;
using testing::topology_of;
using ::testing::UnorderedElementsAre;

Topology fabric(int hosts, const std::string& keys) {
  return topology_of(R"("hosts": {"count": )" + std::to_string(hosts) +
                     R"(, "type": "dgx-h100", "gpus": 1, "nics": 1}, "fabric": {)" + keys + "}");
}

std::size_t links_between_switches(const Topology& t) {
  return static_cast<std::size_t>(std::count_if(t.links().begin(), t.links().end(), [&](const Link& link) {
    return t.device(link.from).kind == DeviceKind::kSwitch && t.device(link.to).kind == DeviceKind::kSwitch;
  }));
}

// k-ary n-cube of N hosts: nN cables, and 2N/k of them cross the middle. Source: Dally & Towles, section 5.2.
TEST(Torus, HasTheCablesAndTheBisectionOfAKAryNCube) {
  const Topology t = fabric(64, R"("family": "torus", "dimensions": [4, 4, 4], "link": "10 GB/s")");
  // Both directions of 3 x 64 cables, and the two turns inside each of 64 routers.
  EXPECT_EQ(links_between_switches(t), 2U * 3 * 64 + 2 * 64);
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 2.0 * 64 / 4 * 10e9);
  EXPECT_DOUBLE_EQ(link_called(t, "r0.x->r1.x").bandwidth.Bps(), 10e9);
  EXPECT_DOUBLE_EQ(link_called(t, "r0.x->r3.x").bandwidth.Bps(), 10e9);
  EXPECT_DOUBLE_EQ(link_called(t, "r0.z->r16.z").bandwidth.Bps(), 10e9);
}

TEST(Torus, CablesAreAsFastAsTheNicUnlessToldAndDoubleInARowOfTwo) {
  const Topology t = fabric(8, R"("family": "torus", "dimensions": [4, 2])");
  EXPECT_DOUBLE_EQ(link_called(t, "r0.x->r1.x").bandwidth.Bps(), 50e9);
  EXPECT_DOUBLE_EQ(link_called(t, "r0.y->r4.y").bandwidth.Bps(), 100e9);
}

TEST(Torus, RoutesTurnOnlyIntoLaterDimensions) {
  const Topology t = fabric(64, R"("family": "torus", "dimensions": [4, 4, 4])");
  Routes r(t);
  // (0,0,0) to (1,3,0) = 13: one step in x, one back around in y.
  EXPECT_THAT(r.path("h0.nic0", "h13.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->r0.x", "r0.x->r1.x", "r1.x->r1.y", "r1.y->r13.y", "r13.y->r13.z",
                          "r13.z->h13.nic0"));
  // And back: the turn is at (0,3,0) = 12.
  EXPECT_THAT(r.path("h13.nic0", "h0.nic0", RouteScope::kFabric),
              ElementsAre("h13.nic0->r13.x", "r13.x->r12.x", "r12.x->r12.y", "r12.y->r0.y", "r0.y->r0.z",
                          "r0.z->h0.nic0"));
}

TEST(Torus, RoutesHalfwayAroundSplitEvenly) {
  const Topology t = fabric(4, R"("family": "torus", "dimensions": [4])");
  Routes r(t);
  EXPECT_THAT(r.shares("h0.nic0", "h2.nic0", RouteScope::kFabric),
              UnorderedElementsAre(Pair("h0.nic0->r0.x", kOneFlow), Pair("r0.x->r1.x", kOneFlow / 2),
                                   Pair("r1.x->r2.x", kOneFlow / 2), Pair("r0.x->r3.x", kOneFlow / 2),
                                   Pair("r3.x->r2.x", kOneFlow / 2), Pair("r2.x->h2.nic0", kOneFlow)));
}

// Every pair: as many steps as the shorter way around in each dimension.
TEST(Torus, RoutesAreMinimal) {
  const Topology t = fabric(15, R"("family": "torus", "dimensions": [5, 3])");
  Router router(t);
  const auto around = [](int a, int b, int size) {
    return std::min(std::abs(a - b), size - std::abs(a - b));
  };
  for (int a = 0; a < 15; ++a) {
    for (int b = 0; b < 15; ++b) {
      if (a == b) continue;
      const auto route =
          router.route(device_called(t, "h" + std::to_string(a) + ".nic0"),
                       device_called(t, "h" + std::to_string(b) + ".nic0"), RouteScope::kFabric);
      // NIC cables at both ends, and the turn from x to y.
      EXPECT_EQ(route.value().path.size(),
                static_cast<std::size_t>(3 + around(a % 5, b % 5, 5) + around(a / 5, b / 5, 3)));
    }
  }
}

// g groups: (g/2)^2 pairs of groups cross the middle. Balanced: a group's global links carry what its NICs
// do, so one pair has a x p x B / (g - 1).
TEST(Dragonfly, HasTheLinksAndTheBisectionOfItsGroups) {
  const Topology t =
      fabric(24, R"("family": "dragonfly", "groups": 4, "routers_per_group": 3, "hosts_per_router": 2)");
  // 4 x 3 local and 6 global cables, both directions.
  EXPECT_EQ(links_between_switches(t), 2U * (12 + 6));
  EXPECT_NEAR(bisection_Bps(t), 4 * (3 * 2 * 50e9 / 3), 100);
  EXPECT_NEAR(link_called(t, "router0->router1").bandwidth.Bps(), 2 * 2 * 50e9 / 3, 1);
  EXPECT_NEAR(link_called(t, "router0->router3").bandwidth.Bps(), 100e9, 1);
}

TEST(Dragonfly, RoutesAreLocalGlobalLocal) {
  const Topology t =
      fabric(24, R"("family": "dragonfly", "groups": 4, "routers_per_group": 3, "hosts_per_router": 2)");
  Routes r(t);
  // Router 0 has the cable to group 1 (router 3 there), router 1 to group 2 (router 6), router 2 to group 3.
  EXPECT_THAT(r.path("h0.nic0", "h2.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->router0", "router0->router1", "router1->h2.nic0"));
  EXPECT_THAT(r.path("h0.nic0", "h6.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->router0", "router0->router3", "router3->h6.nic0"));
  // To group 3 by way of router 2, though two global cables (0-3, 3-..) would be no longer.
  EXPECT_THAT(r.path("h0.nic0", "h23.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->router0", "router0->router2", "router2->router9", "router9->router11",
                          "router11->h23.nic0"));
}

TEST(Dragonfly, NoRouteCrossesAThirdGroup) {
  const Topology t =
      fabric(40, R"("family": "dragonfly", "groups": 5, "routers_per_group": 2, "hosts_per_router": 4)");
  Router router(t);
  for (std::size_t a = 0; a < 40; ++a) {
    for (std::size_t b = 0; b < 40; ++b) {
      if (a == b) continue;
      const Route route =
          router.route(t.hosts()[a].nics[0], t.hosts()[b].nics[0], RouteScope::kFabric).value();
      int globals = 0;
      for (const LinkId link : route.path) globals += t.link(link).weight > 1 ? 1 : 0;
      EXPECT_EQ(globals, a / 8 == b / 8 ? 0 : 1) << a << " to " << b;
    }
  }
}

TEST(Dragonfly, TwoGroupsAreJoinedByEveryRouter) {
  const Topology t = fabric(
      8,
      R"("family": "dragonfly", "groups": 2, "routers_per_group": 4, "hosts_per_router": 1, "link": "25 GB/s")");
  for (const char* cable : {"router0->router4", "router1->router5", "router2->router6", "router3->router7"})
    EXPECT_DOUBLE_EQ(link_called(t, cable).bandwidth.Bps(), 25e9) << cable;
}

}  // namespace
}  // namespace busbar
