// Rings where GPUs have direct links, share NICs, or hang at two sockets.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/replay/placement.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

Topology hosts(int count, const std::string& type, const std::string& more = "") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "{}"{}}},
          "fabric": {{"family": "{}"}}}})",
      count, type, more, count == 1 ? "none" : "rail-optimized"));
}

std::vector<std::uint32_t> all(const Topology& t) {
  std::vector<std::uint32_t> ranks(t.ranks().size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

GroupRoutes group(const Topology& t, const std::vector<std::uint32_t>& members) {
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  return placement.group(members);
}

/// Whole flows of all channels per link.
std::map<std::string, double> flows(const Topology& t, const std::vector<RingChannel>& channels) {
  std::map<std::string, double> result;
  for (const RingChannel& channel : channels)
    for (const ResourceUse& use : channel.usage)
      result[t.link_name(LinkId(use.resource.value()))] +=
          static_cast<double>(use.flows) / static_cast<double>(kOneFlow);
  return result;
}

double busbw(const Topology& t, std::vector<std::uint32_t> ranks = {},
             CollectiveKind kind = CollectiveKind::kAllReduce) {
  return sweep(t, {.operation = kind, .ranks = std::move(ranks), .sizes = {4_GiB}}, ideal_profile(), {})
      .rows.at(0)
      .busbw_Bps;
}

// n - 1 links per GPU of 64 GB/s.
TEST(MeshRings, CarryAnAllReduceOverAllLinks) {
  const Topology t = hosts(1, "mi300x");
  EXPECT_NEAR(busbw(t), 7 * 64e9, 1e3);
  EXPECT_NEAR(busbw(t, {0, 3, 5}), 2 * 64e9, 1e3);
  EXPECT_NEAR(busbw(t, {1, 2, 4, 7}), 3 * 64e9, 1e3);
  EXPECT_NEAR(busbw(t, {0, 6}), 64e9, 1e3);
  EXPECT_NEAR(busbw(hosts(1, "dgx-1-v100")), 6 * 25e9, 1e3);
  EXPECT_NEAR(busbw(hosts(1, "mi250x")), 4 * 50e9, 1e3);
  EXPECT_NEAR(busbw(hosts(1, "hgx-h100-4")), 450e9, 1e3);
}

TEST(MeshRings, AreChannelsOfTheGroup) {
  const Topology t = hosts(1, "mi300x");
  const GroupRoutes routes = group(t, all(t));
  ASSERT_EQ(routes.rings.size(), 7U);
  EXPECT_EQ(routes.rings[2].name, "ring 2");
  const auto f = flows(t, routes.rings);
  EXPECT_EQ(f.size(), 56U);
  for (const auto& [link, count] : f) EXPECT_EQ(count, 1) << link;
  for (const RingChannel& ring : routes.rings) EXPECT_EQ(ring.lone_rate.Bps(), 64e9);
}

TEST(MeshRings, StartAndEndAtTheRootAsChains) {
  const Topology t = hosts(1, "mi300x");
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const std::vector<RingChannel> out = placement.chains(all(t), 3, false);
  ASSERT_EQ(out.size(), 7U);
  for (const RingChannel& chain : out) EXPECT_EQ(chain.order.front(), 3U);
  for (const RingChannel& chain : placement.chains(all(t), 3, true)) EXPECT_EQ(chain.order.back(), 3U);
}

// The library does not see a slow link, and its slowest channel ends last: 7 x 32 GB/s.
TEST(MeshRings, StayWhereALinkIsSlow) {
  const Topology whole = hosts(1, "mi300x");
  const Topology slow = topology_from(
      R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 1, "type": "mi300x"},
          "fabric": {"family": "none"}, "faults": [{"link": "h0.gpu2--h0.gpu5", "bandwidth": "50%"}]})");
  const GroupRoutes a = group(whole, all(whole)), b = group(slow, all(slow));
  ASSERT_EQ(a.rings.size(), b.rings.size());
  for (std::size_t r = 0; r < a.rings.size(); ++r) EXPECT_EQ(a.rings[r].order, b.rings[r].order);
  EXPECT_NEAR(busbw(slow), 7 * 32e9, 1e3);
}

// 8 rails over 7 rings: with k channels a rail gets min(50, 64 k / ceil(8 k / 7)) GB/s: 32, 42.7, 48, 50 for
// k = 1..4, so four channels per rail and the NICs bind.
TEST(MeshRings, LoadTheLinksEvenlyBetweenHosts) {
  const Topology t = hosts(2, "mi300x");
  const GroupRoutes routes = group(t, all(t));
  ASSERT_EQ(routes.rings.size(), 32U);
  EXPECT_EQ(routes.rings[9].name, "rail 1 ring 1");
  for (const auto& [link, count] : flows(t, routes.rings)) {
    const bool direct = link.find("gpu") != link.rfind("gpu");
    if (!direct) continue;
    EXPECT_EQ(count, std::clamp(count, 4.0, 5.0)) << link;
  }
  EXPECT_NEAR(busbw(t), 8 * 50e9, 1e3);
}

// 4 rails of 25 GB/s, 6 rings of 50: a ring of its own for each.
TEST(MeshRings, GiveEachRailItsOwn) {
  const Topology t = hosts(2, "hgx-a100-4");
  const GroupRoutes routes = group(t, all(t));
  ASSERT_EQ(routes.rings.size(), 4U);
  EXPECT_EQ(routes.rings[1].name, "rail 1");
  for (const auto& [link, count] : flows(t, routes.rings)) EXPECT_LE(count, 2) << link;
  EXPECT_NEAR(busbw(t), 4 * 25e9, 1e3);
  EXPECT_NEAR(busbw(hosts(2, "dgx-1-v100")), 4 * 12.5e9, 1e3);
}

// Every channel enters a host at the GPU beside its NIC and visits each member once.
TEST(MeshRings, EnterHostsBesideTheirNic) {
  const Topology t = hosts(2, "mi300x");
  const GroupRoutes routes = group(t, all(t));
  for (std::size_t c = 0; c < routes.rings.size(); ++c) {
    EXPECT_EQ(routes.rings[c].order[0], c % 8);
    EXPECT_EQ(routes.rings[c].order[8], 8 + c % 8);
    std::vector<std::uint32_t> sorted = routes.rings[c].order;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, all(t));
  }
}

// Trees have a channel per ring too. Between two hosts both trees are one edge, so each of the 8 NICs carries
// an eighth of S each way, whatever the number of rings.
TEST(MeshRings, CarryTreesOnEveryRail) {
  const Topology t = hosts(2, "mi300x");
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const std::vector<PipelineChannel> trees = placement.trees(all(t));
  EXPECT_EQ(trees.size(), 2 * placement.group(all(t)).rings.size());
  double share = 0;
  std::map<std::string, double> carried;
  for (const PipelineChannel& tree : trees) {
    share += tree.share;
    for (const ResourceUse& use : tree.usage)
      if (const LinkId id(use.resource.value()); t.link_class(id) == "nic->leaf")
        carried[t.link_name(id)] +=
            tree.share * static_cast<double>(use.flows) / static_cast<double>(kOneFlow);
  }
  EXPECT_NEAR(share, 1, 1e-12);
  EXPECT_EQ(carried.size(), 16U);
  for (const auto& [link, part] : carried) EXPECT_NEAR(part, 1.0 / 8, 1e-12) << link;
}

// Members that alternate between two sockets: the ring still crosses between them once each way.
TEST(PcieRings, CrossTheSocketLinkOnceEachWay) {
  const Topology t = hosts(1, "pcie-8-dual", R"(, "gpu": "L40S-48GB")");
  const GroupRoutes routes = group(t, {0, 4, 1, 5, 2, 6});
  ASSERT_EQ(routes.rings.size(), 1U);
  EXPECT_EQ(routes.rings[0].order, (std::vector<std::uint32_t>{0, 2, 4, 1, 3, 5}));
  const auto f = flows(t, routes.rings);
  EXPECT_EQ(f.at("h0.cpu0->h0.cpu1"), 1);
  EXPECT_EQ(f.at("h0.cpu1->h0.cpu0"), 1);
}

TEST(PcieRings, KeepMembersOfOneSwitchTogether) {
  const Topology t = hosts(1, "pcie-8", R"(, "gpu": "L40S-48GB")");
  EXPECT_EQ(group(t, {7, 0, 6, 1}).rings[0].order, (std::vector<std::uint32_t>{0, 2, 1, 3}));
  EXPECT_EQ(group(t, all(t)).rings[0].order, all(t));
}

// Two GPUs share each of four NICs of 12.5 GB/s: four rails, and per NIC an all_to_all of 16 ranks sends 2 x
// 8 blocks of S / 16: busbw = (15 / 16) S / t with t = S / 12.5 GB/s.
TEST(SharedNics, CarryTwoGpusEach) {
  const Topology t = hosts(2, "aws-p4d");
  EXPECT_EQ(group(t, all(t)).rings.size(), 4U);
  EXPECT_NEAR(busbw(t), 4 * 12.5e9, 1e3);
  EXPECT_NEAR(busbw(t, {}, CollectiveKind::kAllToAll), 12.5e9 * 15 / 16, 1e4);
}

// One GPU of each pair has the NIC to itself, also where the hosts' GPUs are others.
TEST(SharedNics, GoToThePartOfTheHostThatIsThere) {
  const Topology t = hosts(2, "aws-p4d");
  EXPECT_EQ(group(t, {0, 2, 8, 10}).rings.size(), 2U);
  EXPECT_EQ(group(t, {0, 1, 8, 9}).rings.size(), 1U);
  EXPECT_NEAR(busbw(t, {0, 2, 8, 10}), 2 * 12.5e9, 1e3);
  EXPECT_NEAR(busbw(t, {1, 3, 12, 14}), 2 * 12.5e9, 1e3);
}

}  // namespace
}  // namespace busbar
