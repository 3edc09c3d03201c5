// Rings on a real graph: who follows whom, through which NICs, and how often each link is crossed.
#include "sim/replay/placement.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/support/inline.h"

namespace busbar {
namespace {

Topology dgx(int hosts) {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "dgx-h100"}},
    "fabric": {{"family": "rail-optimized", "nic": "400 Gb/s"}}}})",
      hosts));
}

std::vector<std::uint32_t> all(const Topology& t) {
  std::vector<std::uint32_t> ranks(t.ranks().size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

// Flows per link name, in whole flows.
std::map<std::string, double> flows(const Topology& t, const RingChannel& ring) {
  std::map<std::string, double> result;
  for (const ResourceUse& use : ring.usage)
    result[t.link_name(LinkId(use.resource.value()))] =
        static_cast<double>(use.flows) / static_cast<double>(kOneFlow);
  return result;
}

TEST(Placement, MakesOneRingPerRailBetweenHosts) {
  const Topology t = dgx(2);
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const GroupRoutes routes = placement.group(all(t));
  EXPECT_EQ(routes.hosts, 2U);
  EXPECT_EQ(routes.ranks, 16U);
  ASSERT_EQ(routes.rings.size(), 8U);
  EXPECT_EQ(routes.inter.Bps(), 8 * 50e9);
  EXPECT_EQ(routes.intra.Bps(), 450e9);
  // Rail 3 enters each host at GPU 3 and leaves it after GPU 2.
  const std::vector<std::uint32_t> order = {3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10};
  EXPECT_EQ(routes.rings[3].order, order);
  const auto f = flows(t, routes.rings[3]);
  EXPECT_EQ(f.at("h0.nic3->leaf3"), 1);
  EXPECT_EQ(f.at("leaf3->h1.nic3"), 1);
  EXPECT_EQ(f.count("h0.nic2->leaf2"), 0U);
  // GPU 2 reaches NIC 3 over NVLink and GPU 3: every GPU sends once and receives once over NVLink.
  for (int g = 0; g < 8; ++g) {
    EXPECT_EQ(f.at(fmt::format("h0.gpu{}->h0.nvs", g)), 1) << g;
    EXPECT_EQ(f.at(fmt::format("h0.nvs->h0.gpu{}", g)), 1) << g;
  }
}

TEST(Placement, UsesOnlyTheNicsOfTheMembersThatTakePart) {
  const Topology t = dgx(2);
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const std::vector<std::uint32_t> half = {0, 1, 2, 3, 8, 9, 10, 11};
  const GroupRoutes routes = placement.group(half);
  EXPECT_EQ(routes.rings.size(), 4U);
  EXPECT_EQ(routes.inter.Bps(), 4 * 50e9);
}

TEST(Placement, KeepsAGroupOfOneHostOffTheNetwork) {
  const Topology t = dgx(2);
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const std::vector<std::uint32_t> members = {8, 9, 10, 11, 12, 13, 14, 15};
  const GroupRoutes routes = placement.group(members);
  EXPECT_EQ(routes.hosts, 1U);
  ASSERT_EQ(routes.rings.size(), 1U);
  EXPECT_EQ(routes.rings[0].usage.size(), 16U);  // eight GPUs, up and down
  for (const Hop& hop : routes.rings[0].hops) EXPECT_EQ(hop.link, LinkType::kNvlink);
}

// nccl-tests' sendrecv: rank 7 to rank 8 crosses hosts on the receiver's rail.
TEST(Placement, SendsBetweenHostsOnTheReceiversRail) {
  const Topology t = dgx(2);
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const PairRoute route = placement.pair(7, 8);
  EXPECT_EQ(route.hop.link, LinkType::kRdma);
  bool on_rail_0 = false;
  for (const ResourceUse& use : route.usage)
    on_rail_0 = on_rail_0 || t.link_name(LinkId(use.resource.value())) == "h0.nic0->leaf0";
  EXPECT_TRUE(on_rail_0);
}

// GPUs 0-3 of h0 with 4-7 of h1 where nothing joins rails: h0 leaves by NIC 4, which GPU 3 reaches over
// NVLink and GPU 4.
TEST(Placement, ChangesRailInsideTheHostWhereNothingElseJoinsRails) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
    "fabric": {"family": "rail-only"}})");
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const std::vector<std::uint32_t> members = {0, 1, 2, 3, 12, 13, 14, 15};
  const GroupRoutes routes = placement.group(members);
  ASSERT_EQ(routes.rings.size(), 4U);
  const auto f = flows(t, routes.rings[0]);
  for (const char* link : {"h0.nvs->h0.gpu4", "h0.gpu4->h0.pcie4", "h0.nic4->leaf4", "leaf4->h1.nic4",
                           "h1.nvs->h1.gpu0", "h1.nic0->leaf0", "leaf0->h0.nic0"})
    EXPECT_EQ(f.count(link), 1U) << link;
  EXPECT_EQ(f.count("h0.nic0->leaf0"), 0U);
}

// 16 ranks, ideal: NICs bind at 8 x 50 GB/s, so busbw is 400 GB/s.
TEST(Placement, GivesAnIdealRingTheSumOfTheNics) {
  const Topology t = dgx(2);
  const StepTrace trace = trace_from(one_program(
      16, R"({"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "16 GB"})"));
  EXPECT_NEAR(simulate_ideal(t, trace).collectives[0].busbw_Bps, 400e9, 1e3);
}

// DGX A100: two NICs share a PCIe switch with two GPUs; each GPU's port carries one rail, so the NICs bind: 8
// x 25 GB/s.
TEST(Placement, LoadsSharedPcieSwitchesEvenly) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-a100"},
                                       "fabric": {"family": "rail-optimized"}})");
  const StepTrace trace = trace_from(one_program(
      16, R"({"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "16 GB"})"));
  EXPECT_NEAR(simulate_ideal(t, trace).collectives[0].busbw_Bps, 200e9, 1e3);
}

// One slow NIC slows its own rail, and the operation ends with its slowest channel: half of one NIC, half of
// all.
TEST(Placement, LetsASlowNicHoldTheOperation) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
    "fabric": {"family": "rail-optimized", "nic": "400 Gb/s"}, "faults": [{"link": "h0.nic3--leaf3", "bandwidth": "50%"}]})");
  const StepTrace trace = trace_from(one_program(
      16, R"({"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "16 GB"})"));
  const RunResult r = simulate_ideal(t, trace);
  EXPECT_NEAR(r.collectives[0].busbw_Bps, 200e9, 1e3);
  EXPECT_EQ(r.links.front().name.substr(0, 7), "h0.nic3");
}

// A GPU at half speed makes everybody wait: 4 ms become 8.
TEST(Placement, LetsASlowGpuHoldItsGroup) {
  const Topology t =
      topology_from(R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 1, "type": "dgx-h100"},
    "fabric": {"family": "none"}, "faults": [{"device": "h0.gpu5", "compute": "50%"}]})");
  const StepTrace trace =
      trace_from(one_program(8, R"({"id": "c", "op": "compute", "stream": "main", "duration": "4 ms"},
      {"id": "r", "op": "barrier", "stream": "main", "group": "all"})"));
  EXPECT_EQ(simulate_ideal(t, trace).step_time, Time::from_seconds(0.008));
}

}  // namespace
}  // namespace busbar
