// What placement does on an oversubscribed fabric, and what NICs do for part of a host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/inline.h"

namespace busbar {
namespace {

/// 32 hosts on 4 leaf blocks of 8.
Topology cluster(int gpus, const std::string& fabric, const std::string& order = "") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t",
    "hosts": {{"count": 32, "type": "dgx-h100", "gpus": {}, "nics": {}}},
    "fabric": {{"hosts_per_leaf": 8, {}}}{}}})",
      gpus, gpus, fabric, order.empty() ? "" : R"(, "rank_order": ")" + order + "\""));
}

// The laws below are about what rings cross; trees and NVLS cross other links.
const Overrides kRing{.algorithm = "ring"};

double busbw(const Topology& t, const Profile& profile, std::vector<std::uint32_t> ranks = {}) {
  return sweep(t, {.operation = CollectiveKind::kAllReduce, .ranks = std::move(ranks), .sizes = {4_GiB}},
               profile, {.overrides = kRing})
      .rows.at(0)
      .busbw_Bps;
}

/// How full the fullest link from a leaf to a spine gets.
double fullest_uplink(const Topology& t, int ranks, const Profile& profile) {
  const StepTrace trace = trace_from(one_program(
      ranks, R"({"id": "r", "op": "all_reduce", "stream": "dp", "group": "all", "bytes": "4 GB"})"));
  double fullest = 0;
  for (const LinkRecord& link : simulate(t, trace, profile, {.overrides = kRing}).links) {
    if (link.link_class == "leaf->spine") fullest = std::max(fullest, link.peak_fraction);
  }
  return fullest;
}

// A ring that visits leaf after leaf crosses each up-link once: 1 flow of 4 NICs' rate. Round-robin crosses
// it 8 times: 8 r <= 4 B, so r = B / 2.
TEST(PlacementOrder, DecidesTheBandwidthOfAnOversubscribedTree) {
  const std::string tree = R"("family": "fat-tree", "oversubscription": )";
  const double best = busbw(cluster(1, tree + "1"), ideal_profile());
  EXPECT_NEAR(best, 50e9, 50e9 * 1e-6);
  EXPECT_GE(busbw(cluster(1, tree + "2", "by-leaf"), ideal_profile()) / best, 0.95);
  EXPECT_NEAR(busbw(cluster(1, tree + "2", "round-robin"), ideal_profile()) / best, 0.5, 1e-3);
  EXPECT_LT(fullest_uplink(cluster(1, tree + "2", "by-leaf"), 32, ideal_profile()), 0.3);
  EXPECT_NEAR(fullest_uplink(cluster(1, tree + "2", "round-robin"), 32, ideal_profile()), 1, 1e-3);
}

TEST(PlacementOrder, DecidesItForHostsOfEightGpusToo) {
  for (const std::string family : {"rail-optimized", "fat-tree"}) {
    const std::string tree = R"("family": ")" + family + R"(", "oversubscription": )";
    const double best = busbw(cluster(8, tree + "1"), default_profile());
    EXPECT_GE(busbw(cluster(8, tree + "2", "by-leaf"), default_profile()) / best, 0.95) << family;
    const double spread = busbw(cluster(8, tree + "2", "round-robin"), default_profile()) / best;
    EXPECT_GE(spread, 0.45) << family;
    EXPECT_LE(spread, 0.60) << family;
    EXPECT_LT(fullest_uplink(cluster(8, tree + "2", "by-leaf"), 256, default_profile()), 0.3);
    EXPECT_GT(fullest_uplink(cluster(8, tree + "2", "round-robin"), 256, default_profile()), 0.99);
  }
}

// Every fabric that does not oversubscribe carries the ring alike, bundle or spines.
TEST(PlacementOrder, DoesNotMatterWithoutOversubscription) {
  for (const std::string fabric :
       {R"("family": "fat-tree")", R"("family": "fat-tree", "spines": 8)", R"("family": "leaf-spine")",
        R"("family": "fat-tree", "tiers": 3, "hosts_per_pod": 16)", R"("family": "rail-only")"}) {
    for (const char* order : {"by-leaf", "round-robin", "random"})
      EXPECT_NEAR(busbw(cluster(1, fabric, order), ideal_profile()), 50e9, 50e3) << fabric << order;
  }
}

// The bundle of adaptive routing gives the same times as its spines one by one.
TEST(AdaptiveRouting, PredictsTheSameOverABundleAndOverSpines) {
  const std::string tree = R"("family": "rail-optimized", "oversubscription": 2)";
  for (const char* order : {"by-leaf", "round-robin", "random"}) {
    const double bundle = busbw(cluster(8, tree, order), default_profile());
    EXPECT_NEAR(busbw(cluster(8, tree + R"(, "spines": 4)", order), default_profile()), bundle,
                bundle * 1e-6);
  }
}

// By a hash some up-link has several of the eight flows that leave its leaf, and the ring runs at a fraction
// of its NICs' rate: 1/2 to 1/8 where adaptive routing gives all of it.
TEST(StaticRouting, CollidesOnUpLinks) {
  const double lone =
      busbw(cluster(1, R"("family": "fat-tree", "routing": "static")", "round-robin"), ideal_profile());
  const double share = 50e9 / lone;
  EXPECT_GE(share, 2);
  EXPECT_LE(share, 8);
  EXPECT_NEAR(share, std::round(share), 1e-3);  // a whole number of flows on the fullest cable
}

// Hosts of 8 GPUs with a NIC each: 4 of the GPUs use 4 of the NICs.
TEST(HalfTheGpus, UseHalfTheRailsWhereEachHasItsNic) {
  const Topology t = topology_from(
      R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-h100"},
    "fabric": {"family": "rail-optimized", "nic": "200 Gb/s"}})");
  const double whole = busbw(t, default_profile());
  const double half = busbw(t, default_profile(), {0, 2, 4, 6, 8, 10, 12, 14});
  // NICs of 25 GB/s hold both well below the 450 GB/s of NVLink.
  EXPECT_NEAR(half / whole, 0.5, 0.02);
}

// One NIC for two GPUs, on their PCIe switch: one GPU of each pair has them all.
TEST(HalfTheGpus, LoseNothingWhereTwoShareANic) {
  std::string devices, links;
  const auto link = [&](const std::string& a, const std::string& b, int rate) {
    links += fmt::format(R"({}{{"from": "{}", "to": "{}", "bandwidth": "{} GB/s"}})",
                         links.empty() ? "" : ", ", a, b, rate);
  };
  for (const std::string host : {"a", "b"}) {
    const auto add = [&](const std::string& id, const char* kind) {
      devices += fmt::format(R"({{"id": "{}{}", "kind": "{}", "host": "{}"}}, )", host, id, kind, host);
    };
    add(".nvs", "nvswitch");
    add(".cpu", "cpu");
    for (int pair = 0; pair < 4; ++pair) {
      const std::string p = fmt::format(".p{}", pair), n = fmt::format(".n{}", pair);
      add(p, "pcie-switch");
      add(n, "nic");
      link(host + p, host + ".cpu", 63);
      link(host + n, host + p, 63);
      link(host + n, "leaf", 50);
      for (int i = 0; i < 2; ++i) {
        const std::string g = fmt::format(".g{}", 2 * pair + i);
        add(g, "gpu");
        link(host + g, host + p, 63);
        link(host + g, host + ".nvs", 450);
      }
    }
  }
  const Topology t = topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "devices": [{}{{"id": "leaf", "kind": "switch"}}], "links": [{}]}})",
      devices, links));
  const double whole = busbw(t, default_profile());
  EXPECT_NEAR(busbw(t, default_profile(), {0, 2, 4, 6, 8, 10, 12, 14}) / whole, 1, 0.05);
}

}  // namespace
}  // namespace busbar
