// Which links never bind, on clusters where it can be told by hand; and that leaving them out changes no
// rate.
#include "sim/replay/implied_links.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "sim/engine/max_min.h"
#include "sim/replay/placement.h"
#include "tests/unit/topologies/topology_text.h"

namespace busbar {
namespace {

using testing::link_called;
using testing::topology_of;

std::vector<double> nominal(const Topology& t) {
  std::vector<double> capacity;
  for (const Link& link : t.links()) capacity.push_back(link.bandwidth.Bps());
  return capacity;
}

std::set<std::string> implied_names(const Topology& t) {
  const std::vector<bool> implied = implied_links(t, nominal(t));
  std::set<std::string> names;
  for (std::size_t l = 0; l < implied.size(); ++l)
    if (implied[l]) names.insert(t.link_name(LinkId::from_index(l)));
  return names;
}

// Two hosts a leaf, 50 GB/s a NIC: 100 GB/s come in from below.
Topology two_tiers(const std::string& oversubscription, const std::string& faults = "") {
  return topology_of(R"("hosts": {"count": 4, "type": "dgx-h100"},
    "fabric": {"family": "rail-optimized", "hosts_per_leaf": 2, "oversubscription": )" +
                     oversubscription + "}" + faults);
}

TEST(ImpliedLinks, AreUpAndDownLinksWithoutOversubscription) {
  const auto names = implied_names(two_tiers("1.0"));
  EXPECT_TRUE(names.contains("leaf0->spine"));
  EXPECT_TRUE(names.contains("spine->leaf0"));
  const auto narrower = implied_names(two_tiers("2.0"));
  EXPECT_FALSE(narrower.contains("leaf0->spine"));
  EXPECT_FALSE(narrower.contains("spine->leaf0"));
}

TEST(ImpliedLinks, AreNeverTheCablesOfNics) {
  for (const std::string& name : implied_names(two_tiers("1.0")))
    EXPECT_FALSE(name.starts_with("leaf") && name.find("nic") != name.npos) << name;
}

// 64 GB/s of PCIe to a NIC of 50 GB/s follow from its cable; from a GPU to the switch they do not, as other
// ways lead on from there.
TEST(ImpliedLinks, ArePcieLinksToSlowerNics) {
  const auto names = implied_names(two_tiers("1.0"));
  EXPECT_TRUE(names.contains("h0.pcie0->h0.nic0"));
  EXPECT_TRUE(names.contains("h0.nic0->h0.pcie0"));
  EXPECT_FALSE(names.contains("h0.gpu0->h0.pcie0"));
  EXPECT_FALSE(names.contains("h0.gpu0->h0.nvs"));
}

TEST(ImpliedLinks, AreNotThoseThatAFaultMadeNarrow) {
  const auto names = implied_names(two_tiers(
      "1.0",
      R"(, "faults": [{"link": "leaf1->spine", "bandwidth": "99%"}, {"link": "h0.pcie2->h0.nic2", "bandwidth": "50%"}])"));
  EXPECT_FALSE(names.contains("leaf1->spine"));
  EXPECT_TRUE(names.contains("spine->leaf1")) << "the other direction is whole";
  EXPECT_FALSE(names.contains("h0.pcie2->h0.nic2"));
}

TEST(ImpliedLinks, LeaveEveryRateAsItIs) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Topology t = two_tiers(random() % 2 == 0 ? "1.0" : "3.0", R"(, "faults": [{"link": "leaf)" +
                                                                        std::to_string(random() % 8) +
                                                                        R"(->spine", "bandwidth": "60%"}])");
    const Profile profile = ideal_profile();
    Placement placement(t, profile);
    const std::vector<bool> implied = implied_links(t, placement.capacities());
    EXPECT_EQ(implied_links(t, placement.capacities(), placement.shapes()), implied);
    std::vector<PairRoute> routes;
    for (int i = 0; i < 30; ++i) {
      const std::uint32_t from = random() % 32, to = (from + 1 + random() % 31) % 32;
      routes.push_back(placement.pair(from, to));
    }
    std::vector<std::vector<ResourceUse>> binding;
    std::vector<MaxMinEntry> all, fewer;
    for (const PairRoute& route : routes) {
      std::vector<ResourceUse>& left = binding.emplace_back();
      for (const ResourceUse& use : route.usage)
        if (!implied[use.resource.index()]) left.push_back(use);
      ASSERT_LT(left.size(), route.usage.size() + 1);
    }
    for (std::size_t i = 0; i < routes.size(); ++i) {
      all.push_back({routes[i].usage, 1, 1e12, 0});
      fewer.push_back({binding[i], 1, 1e12, 0});
    }
    MaxMinSolver solver(placement.capacities());
    solver.solve(all);
    solver.solve(fewer);
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_NEAR(all[i].rate, fewer[i].rate, 1e-9 * all[i].rate) << "transfer " << i;
  }
}

// All pairs at once, counted by cables, against pair by pair.
TEST(Exchange, OfGpusWithoutNicsLoadsLinksAsItsPairsDo) {
  std::string devices, links;
  for (int i = 0; i < 6; ++i) {
    const std::string g = "g" + std::to_string(i);
    devices += R"({"id": ")" + g + R"(", "kind": "gpu", "host": "h)" + std::to_string(i) + R"("}, )";
    links += R"({"from": ")" + g + R"(", "to": ")" + (i < 4 ? "x" : "y") + R"(", "bandwidth": ")" +
             (i == 1 ? "25" : "50") + R"( GB/s", "latency": "1 us", "type": "rdma"}, )";
  }
  const Topology t =
      topology_of(R"("devices": [)" + devices +
                  R"({"id": "x", "kind": "switch"}, {"id": "y", "kind": "switch"}], "links": [)" + links +
                  R"({"from": "x", "to": "y", "bandwidth": "75 GB/s", "type": "rdma"}])");
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  std::map<std::uint32_t, std::int64_t> expected, found;
  std::vector<std::uint32_t> members;
  for (std::uint32_t a = 0; a < 6; ++a) {
    members.push_back(a);
    for (std::uint32_t b = 0; b < 6; ++b) {
      if (a == b) continue;
      for (const ResourceUse& use : placement.pair(a, b).usage) expected[use.resource.value()] += use.flows;
    }
  }
  const std::vector<Round> all{{.all_pairs = true, .share = 1}};
  const std::vector<RoundRoutes> routes = placement.rounds(members, all);
  for (const ResourceUse& use : routes[0].usage) found[use.resource.value()] += use.flows;
  EXPECT_EQ(found, expected);
  ASSERT_EQ(routes[0].hops.size(), 1U) << "both switches join cables of 1 us";
  EXPECT_EQ(routes[0].hops[0].latency, Time::from_seconds(2e-6));
}

}  // namespace
}  // namespace busbar
