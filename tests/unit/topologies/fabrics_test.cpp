#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/topologies/topology_text.h"
#include "topologies/fabric.h"

namespace busbar {
namespace {

using ::testing::ElementsAre;
using testing::link_called;
using testing::rails;
using testing::topology_of;

bool has_device(const Topology& t, std::string_view id) {
  for (std::size_t d = 0; d < t.devices().size(); ++d) {
    if (t.name_of(DeviceId::from_index(d)) == id) return true;
  }
  return false;
}

std::vector<std::string> switches_of(const Topology& t) {
  std::vector<std::string> ids;
  for (std::size_t d = 0; d < t.devices().size(); ++d) {
    const DeviceId id = DeviceId::from_index(d);
    if (t.kind(id) == DeviceKind::kSwitch) ids.push_back(t.name_of(id));
  }
  return ids;
}

TEST(Fabrics, RowsHaveNamesHelpAndKeys) {
  std::set<std::string_view> names;
  for (const FabricFamily& family : fabric_families()) {
    EXPECT_TRUE(names.insert(family.name).second);
    EXPECT_FALSE(family.help.empty());
    EXPECT_FALSE(family.keys.empty());
  }
}

TEST(NoFabric, LeavesNicsWithoutANetwork) {
  const Topology t =
      topology_of(R"("hosts": {"count": 1, "type": "dgx-h100"}, "fabric": {"family": "none"})");
  EXPECT_TRUE(t.hosts()[0].nics.empty());
  EXPECT_TRUE(switches_of(t).empty());
}

TEST(RailOptimized, PutsNicROfEachHostOnLeafROfItsPod) {
  // 3 hosts, 2 per leaf: pod 0 has leaves 0-7 and hosts 0 and 1, pod 1 has leaves 8-15 and host 2.
  const Topology t = rails(3, "dgx-h100", R"(, "hosts_per_leaf": 2)");
  EXPECT_EQ(switches_of(t).size(), 2U * 8 + 1);
  for (const char* cable :
       {"h0.nic0->leaf0", "h0.nic7->leaf7", "h1.nic7->leaf7", "h2.nic0->leaf8", "h2.nic7->leaf15"}) {
    EXPECT_EQ(link_called(t, cable).bandwidth, Bandwidth::gigabits_per_second(400)) << cable;
    EXPECT_EQ(link_called(t, cable).type, LinkType::kRdma);
  }
}

TEST(RailOptimized, UpLinksCarryWhatTheLeafsNicsSendOverTheOversubscription) {
  const Topology t = rails(3, "dgx-h100", R"(, "hosts_per_leaf": 2, "oversubscription": 4)");
  EXPECT_DOUBLE_EQ(link_called(t, "leaf0->spine").bandwidth.Bps(), 2 * 50e9 / 4);
  EXPECT_DOUBLE_EQ(link_called(t, "spine->leaf0").bandwidth.Bps(), 2 * 50e9 / 4);
  EXPECT_DOUBLE_EQ(link_called(t, "leaf8->spine").bandwidth.Bps(), 1 * 50e9 / 4) << "half filled";
}

TEST(RailOptimized, NeedsNoSpineForOneLeaf) {
  const Topology t = topology_of(
      R"("hosts": {"count": 2, "type": "dgx-h100", "nics": 1}, "fabric": {"family": "rail-optimized"})");
  EXPECT_THAT(switches_of(t), ElementsAre("leaf0"));
}

TEST(RailOptimized, GivesEachNicItsOwnRate) {
  // "nic" of a group before "nic" of the fabric before the type's.
  const Topology t = topology_of(R"("hosts": [{"count": 1, "type": "dgx-h100", "nic": "100 Gb/s"},
                                              {"count": 1, "type": "dgx-a100"}],
                                    "fabric": {"family": "rail-optimized", "nic": "300 Gb/s", "wire": "efa"})");
  EXPECT_DOUBLE_EQ(link_called(t, "h0.nic0->leaf0").bandwidth.Bps(), 12.5e9);
  EXPECT_DOUBLE_EQ(link_called(t, "h1.nic0->leaf0").bandwidth.Bps(), 37.5e9);
  EXPECT_DOUBLE_EQ(link_called(t, "leaf0->spine").bandwidth.Bps(), 12.5e9 + 37.5e9);
  EXPECT_EQ(link_called(t, "leaf0->spine").type, LinkType::kEfa);
  EXPECT_EQ(link_called(t, "h1.nic0->leaf0").type, LinkType::kEfa);
}

TEST(RailOptimized, LeavesOutLeavesThatNoNicWouldUse) {
  // Pod 0 has hosts of 2 NICs, pod 1 of 8: numbers still run as pod x rails + rail.
  const Topology t = topology_of(R"("hosts": [{"count": 2, "type": "dgx-h100", "nics": 2},
                                              {"count": 2, "type": "dgx-h100"}],
                                    "fabric": {"family": "rail-optimized", "hosts_per_leaf": 2})");
  EXPECT_TRUE(has_device(t, "leaf1"));
  EXPECT_FALSE(has_device(t, "leaf2"));
  EXPECT_TRUE(has_device(t, "leaf8"));
  EXPECT_TRUE(has_device(t, "leaf15"));
}

TEST(RailOptimized, BuildsTwoThousandHosts) {
  const Topology t = rails(2048, "dgx-h100");
  // 64 pods of 32 hosts: 512 leaves and the spine; 27 devices and 33 links per host, as host_types_test
  // counts them.
  EXPECT_EQ(t.devices().size(), 2048U * 27 + 512 + 1);
  EXPECT_EQ(t.links().size(), 2U * (2048 * 33 + 2048 * 8 + 512));
}

}  // namespace
}  // namespace busbar
