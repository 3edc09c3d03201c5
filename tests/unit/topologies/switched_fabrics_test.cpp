// Single-switch, rail-only, fat-tree and leaf-spine: counts, bisection bandwidth against its closed form, and
// a route by name. B = 50 GB/s is one NIC, N the hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/topologies/network_flow.h"
#include "tests/unit/topologies/routes_by_name.h"

namespace busbar {
namespace {

using testing::bisection_Bps;
using ::testing::ElementsAre;
using testing::link_called;
using testing::Routes;
using testing::topology_of;

constexpr double kB = 50e9;

/// Hosts of `each` GPUs and NICs.
Topology fabric(int hosts, int each, const std::string& keys) {
  return topology_of(R"("hosts": {"count": )" + std::to_string(hosts) + R"(, "type": "dgx-h100", "gpus": )" +
                     std::to_string(each) + R"(, "nics": )" + std::to_string(each) + R"(}, "fabric": {)" +
                     keys + "}");
}

struct Count {
  std::size_t switches = 0, cables = 0;
  bool operator==(const Count&) const = default;
};

Count network_of(const Topology& t) {
  Count count;
  for (const Device& device : t.devices())
    if (device.kind == DeviceKind::kSwitch) ++count.switches;
  for (const Link& link : t.links())
    if (is_network(link.type)) ++count.cables;
  count.cables /= 2;
  return count;
}

TEST(SingleSwitch, JoinsAllNics) {
  const Topology t = fabric(6, 2, R"("family": "single-switch")");
  EXPECT_EQ(network_of(t), (Count{1, 12}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 3 * 2 * kB);  // N/2 hosts
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic1", "h5.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic1->switch0", "switch0->h5.nic0"));
}

TEST(RailOptimized, HasTheBisectionOfItsSpine) {
  // N/2 hosts x 2 NICs / oversubscription.
  const Topology t =
      fabric(8, 2, R"("family": "rail-optimized", "hosts_per_leaf": 4, "oversubscription": 2)");
  EXPECT_EQ(network_of(t), (Count{4 + 1, 16 + 4}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 4 * 2 * kB / 2);
}

TEST(RailOptimized, InThreeTiersJoinsPodsByACore) {
  // 4 pods of 2 blocks of 2 hosts: 2 rails x 8 blocks of leaves, one spine per pod.
  const Topology t =
      fabric(16, 2,
             R"("family": "rail-optimized", "tiers": 3, "hosts_per_leaf": 2, "hosts_per_pod": 4,
                               "oversubscription": [2, 3])");
  EXPECT_EQ(network_of(t), (Count{16 + 4 + 1, 32 + 16 + 4}));
  EXPECT_NEAR(bisection_Bps(t), 8 * 2 * kB / 6, 10);
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic1", "h15.nic1", RouteScope::kFabric),
              ElementsAre("h0.nic1->leaf1", "leaf1->spine0", "spine0->core", "core->spine3", "spine3->leaf15",
                          "leaf15->h15.nic1"));
}

TEST(RailOnly, JoinsEachRailByItself) {
  const Topology t = fabric(4, 2, R"("family": "rail-only")");
  EXPECT_EQ(network_of(t), (Count{2, 8}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 2 * 2 * kB);
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic1", "h3.nic1", RouteScope::kFabric),
              ElementsAre("h0.nic1->leaf1", "leaf1->h3.nic1"));
  EXPECT_FALSE(r.route("h0.nic0", "h3.nic1", RouteScope::kFabric).has_value());
}

TEST(RailOnly, OfSeveralBlocksHasASpinePerRail) {
  const Topology t = fabric(4, 2, R"("family": "rail-only", "hosts_per_leaf": 2, "oversubscription": 2)");
  EXPECT_EQ(network_of(t), (Count{4 + 2, 8 + 4}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 2 * 2 * kB / 2);
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic1", "h3.nic1", RouteScope::kFabric),
              ElementsAre("h0.nic1->leaf1", "leaf1->spine1", "spine1->leaf3", "leaf3->h3.nic1"));
  EXPECT_FALSE(r.route("h0.nic0", "h3.nic1", RouteScope::kFabric).has_value());
}

TEST(FatTree, OfTwoTiersHasAllNicsOfAHostOnOneLeaf) {
  const Topology t = fabric(8, 2, R"("family": "fat-tree", "hosts_per_leaf": 2, "oversubscription": 4)");
  EXPECT_EQ(network_of(t), (Count{4 + 1, 16 + 4}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 4 * 2 * kB / 4);
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic0", "h1.nic1", RouteScope::kFabric),
              ElementsAre("h0.nic0->leaf0", "leaf0->h1.nic1"));
  EXPECT_THAT(r.path("h0.nic0", "h7.nic1", RouteScope::kFabric),
              ElementsAre("h0.nic0->leaf0", "leaf0->spine", "spine->leaf3", "leaf3->h7.nic1"));
}

TEST(FatTree, OfThreeTiersIsOversubscribedAtEach) {
  // 4 pods of 2 leaves of 2 hosts. Between halves of the pods: N/2 NICs / (2 x 1.5).
  const Topology t =
      fabric(16, 1, R"("family": "fat-tree", "tiers": 3, "hosts_per_leaf": 2, "oversubscription": [2, 1.5])");
  EXPECT_EQ(network_of(t), (Count{8 + 4 + 1, 16 + 8 + 4}));
  EXPECT_NEAR(bisection_Bps(t), 8 * kB / 3, 10);
  EXPECT_DOUBLE_EQ(link_called(t, "leaf0->spine0").bandwidth.Bps(), 2 * kB / 2);
  EXPECT_DOUBLE_EQ(link_called(t, "spine0->core").bandwidth.Bps(), 2 * kB / 1.5);
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic0", "h3.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->leaf0", "leaf0->spine0", "spine0->leaf1", "leaf1->h3.nic0"));
  EXPECT_THAT(r.path("h0.nic0", "h4.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->leaf0", "leaf0->spine0", "spine0->core", "core->spine1", "spine1->leaf2",
                          "leaf2->h4.nic0"));
}

// k pods of k/2 leaves and k/2 spines, (k/2)^2 cores, k^3/4 hosts. Source: Al-Fares et al. 2008, section 2.2.
TEST(FatTree, WithStaticRoutingIsTheKAryFatTree) {
  const Topology t =
      fabric(16, 1, R"("family": "fat-tree", "tiers": 3, "hosts_per_leaf": 2, "routing": "static")");
  EXPECT_EQ(network_of(t), (Count{8 + 8 + 4, 16 + 16 + 16}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 8 * kB);
  for (const Link& link : t.links()) {
    if (!is_network(link.type)) continue;
    EXPECT_DOUBLE_EQ(link.bandwidth.Bps(), kB);
  }
}

TEST(FatTree, OnePodNeedsNoCoreAndOneLeafNoSpine) {
  EXPECT_EQ(network_of(fabric(4, 1, R"("family": "fat-tree", "tiers": 3, "hosts_per_leaf": 2)")),
            (Count{2 + 1, 4 + 2}));
  EXPECT_EQ(network_of(fabric(2, 1, R"("family": "fat-tree", "tiers": 3, "hosts_per_leaf": 2)")),
            (Count{1, 2}));
}

TEST(FatTree, TakesHostsAndNicsOfAllKinds) {
  const Topology t = topology_of(R"("hosts": [{"count": 2, "type": "dgx-h100", "nics": 2, "gpus": 2},
      {"count": 2, "type": "dgx-a100", "nics": 1, "gpus": 4, "nic": "100 Gb/s"}],
    "fabric": {"family": "fat-tree", "hosts_per_leaf": 2})");
  EXPECT_DOUBLE_EQ(link_called(t, "leaf0->spine").bandwidth.Bps(), 4 * kB);
  EXPECT_DOUBLE_EQ(link_called(t, "leaf1->spine").bandwidth.Bps(), 2 * 12.5e9);
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 2 * 12.5e9);
}

TEST(LeafSpine, FillsThirtyTwoPortsOfALeafUnlessTold) {
  // 8 NICs per host: 4 hosts per leaf.
  const Topology t = fabric(8, 8, R"("family": "leaf-spine", "oversubscription": 2, "wire": "tcp")");
  EXPECT_EQ(network_of(t), (Count{2 + 1, 64 + 2}));
  EXPECT_DOUBLE_EQ(bisection_Bps(t), 32 * kB / 2);
  EXPECT_EQ(link_called(t, "leaf0->spine").type, LinkType::kTcp);
  Routes r(t);
  EXPECT_THAT(r.path("h0.nic0", "h4.nic0", RouteScope::kFabric),
              ElementsAre("h0.nic0->leaf0", "leaf0->spine", "spine->leaf1", "leaf1->h4.nic0"));
}

}  // namespace
}  // namespace busbar
