#include "sim/cost/nccl_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/cost/nccl_constants.h"
#include "tests/support/seeded.h"
#include "tests/unit/cost/nccl_groups.h"

namespace busbar {
namespace {

void expect_graph(const NcclGraph& graph, std::int64_t channels, double intra, double inter) {
  EXPECT_EQ(graph.channels, channels);
  EXPECT_DOUBLE_EQ(graph.intra_GBps, intra);
  EXPECT_DOUBLE_EQ(graph.inter_GBps, inter);
}

// 240 GB/s: 6 x 40, split into 12 x 20, each used twice.
TEST(NcclGraphs, FindsTwelveRingsInAnA100Host) {
  const NcclGraphs graphs = nccl_graphs(a100_hosts(1, 8), {});
  expect_graph(graphs.ring, 12, 20, 20);
  expect_graph(graphs.tree, 12, 20, 20);
  EXPECT_EQ(graphs.channels, 24);
  EXPECT_EQ(graphs.nvls.channels, 0);
  EXPECT_EQ(graphs.nvls_channels, 0);
}

// 370.8 GB/s: 6 x 60, split into 12 x 30. NVLS: 370.8 / 9 = 41.2, so 40 per head.
TEST(NcclGraphs, FindsTwelveRingsAndEightHeadsInAnH100Host) {
  const NcclGraphs graphs = nccl_graphs(h100_hosts(1, 8), {});
  expect_graph(graphs.ring, 12, 30, 30);
  expect_graph(graphs.nvls, 8, 40, 60);
  EXPECT_EQ(graphs.channels, 24);
  EXPECT_EQ(graphs.nvls_channels, 16);
  EXPECT_EQ(graphs.p2p_channels, 32);           // the power of two from 24
  EXPECT_EQ(graphs.p2p_channels_per_peer, 32);  // two per NVLink are 36: all
}

// 721.8 GB/s: 8 x 90, split into 16 x 45. NVLS: 721.8 / 9 = 80.2, so 80.
TEST(NcclGraphs, FindsSixteenRingsInAB200Host) {
  const NcclGraphs graphs = nccl_graphs(b200_hosts(1, 8), {});
  expect_graph(graphs.ring, 16, 45, 45);
  expect_graph(graphs.nvls, 8, 80, 90);
  EXPECT_EQ(graphs.channels, 32);
  EXPECT_EQ(graphs.nvls_channels, 24);
  EXPECT_EQ(nccl_graphs(b200_hosts(2, 8), {}).nvls_channels, 32);
}

// A head's link carries its own channel twice and the others' once: speed <= 721.8 / 33 with 32 heads.
TEST(NcclGraphs, CapsTheHeadsOfARack) {
  expect_graph(nccl_graphs(switched_group(100, 900, 1, 72), {}).nvls, 32, 20, 90);
}

// Eight NICs of 50 GB/s, but each GPU's 370.8 GB/s carry all eight channels: 46.35 each, so 45.
TEST(NcclGraphs, TakesOneChannelPerNicWithinTheGpusLinks) {
  const NcclGraphs h100 = nccl_graphs(h100_hosts(4, 8), {});
  expect_graph(h100.ring, 8, 45, 45);
  expect_graph(h100.tree, 8, 45, 45);
  expect_graph(h100.nvls, 8, 40, 45);  // raised on the network as far as the ring
  EXPECT_EQ(h100.channels, 16);
  const NcclGraphs a100 = nccl_graphs(a100_hosts(4, 8), {});
  expect_graph(a100.ring, 8, 24, 24);
  EXPECT_EQ(a100.channels, 16);
}

// Two hosts: the tree's speed inside is min(2 x network, link / channels).
TEST(NcclGraphs, RaisesATreeInsideTwoHosts) {
  expect_graph(nccl_graphs(a100_hosts(2, 8), {}).tree, 8, 30, 24);              // 240 / 8
  expect_graph(nccl_graphs(a100_hosts(2, 1), {}).tree, 1, 48, 24);              // nothing inside limits it
  EXPECT_NEAR(nccl_graphs(h100_hosts(2, 8), {}).tree.intra_GBps, 46.35, 1e-9);  // 370.8 / 8
}

// Four NICs: 4 x 48, few enough to be split into 8 x 24.
TEST(NcclGraphs, SplitsFewFastChannelsOnHopper) {
  const NcclGraphs graphs = nccl_graphs(with_nics(h100_hosts(2, 8), 4, 50), {});
  expect_graph(graphs.ring, 8, 24, 24);
  EXPECT_EQ(graphs.channels, 16);
}

// Six NICs: 6 x 48, more than four and slower than 50, so they stay; 12 channels in the communicator are few
// for rings above 45 GB/s and double once more.
TEST(NcclGraphs, DoublesFewFastChannelsBetweenHopperHostsOnceMore) {
  const NcclGraphs graphs = nccl_graphs(with_nics(h100_hosts(2, 8), 6, 50), {});
  expect_graph(graphs.ring, 6, 48, 48);
  EXPECT_EQ(graphs.channels, 24);
}

// Eight NICs of 100 GB/s: 2 channels of 45.1 on each, 16 x 45.1 = 721.6 of the GPU's 721.8.
TEST(NcclGraphs, TakesTwoChannelsPerFastNic) {
  expect_graph(nccl_graphs(with_nics(b200_hosts(4, 8), 8, 100), {}).ring, 16, 45.1, 45.1);
}

// 32 NICs of 12.5 GB/s: 12 each, of which 370.8 / 12 = 30 fit into a GPU's links.
TEST(NcclGraphs, BoundsManySlowNicsByTheGpusLinks) {
  expect_graph(nccl_graphs(with_nics(h100_hosts(2, 8), 32, 12.5), {}).ring, 30, 12, 12);
}

// One GPU per host: 1 x 48 of 50, split into 2 x 24, four in the communicator.
TEST(NcclGraphs, NeedsNoLinksInsideForOneGpuPerHost) {
  const NcclGraphs graphs = nccl_graphs(h100_hosts(4, 1), {});
  expect_graph(graphs.ring, 2, 24, 24);
  EXPECT_TRUE(graphs.ring.same_channels);
  EXPECT_EQ(graphs.channels, 4);
}

// Six rings of one link of 25 GB/s nominal, 20 for NCCL, too slow to be split.
TEST(NcclGraphs, TakesTheRingsOfADirectMesh) {
  GroupFacts facts = switched_group(70, 150, 1, 8);
  facts.nvswitch = false;
  facts.intra_rings = 6;
  facts.intra_ring = Bandwidth::gigabytes_per_second(25);
  const NcclGraphs graphs = nccl_graphs(facts, {});
  expect_graph(graphs.ring, 6, 20, 20);
  EXPECT_FALSE(graphs.ring.same_channels);
  EXPECT_EQ(graphs.channels, 12);
}

// NCCL reckons 12, 24, 48 GB/s for PCIe Gen3, 4, 5 x16; through an Intel CPU 6/5 of the bytes travel, and
// between sockets the link's 10 (Skylake), 22 (Sapphire Rapids) or 16 GB/s (AMD) bound the ring.
TEST(NcclGraphs, TakesOneSlowRingOverPcie) {
  const auto ring = [](PathType path, CpuVendor cpu, double GBps) {
    return nccl_graphs(pcie_host(path, cpu, GBps, 4), {}).ring;
  };
  expect_graph(ring(PathType::kPxb, CpuVendor::kIntel, 15.75), 1, 12, 12);
  expect_graph(ring(PathType::kPxb, CpuVendor::kAmd, 31.5), 2, 12, 12);  // 24: 1 x 20 < 2 x 12
  expect_graph(ring(PathType::kPhb, CpuVendor::kIntel, 31.5), 1, 20, 20);
  expect_graph(ring(PathType::kPhb, CpuVendor::kIntel, 15.75), 1, 10, 10);
  expect_graph(ring(PathType::kSys, CpuVendor::kAmd, 31.5), 1, 15, 15);
  expect_graph(ring(PathType::kSys, CpuVendor::kIntel, 31.5), 1, 18, 18);  // 22 / 1.2 = 18.3
  expect_graph(ring(PathType::kSys, CpuVendor::kIntel, 15.75), 2, 4, 4);   // 10 / 1.2 = 8.3: 1 x 7 < 2 x 4
  expect_graph(ring(PathType::kSys, CpuVendor::kArm, 31.5), 1, 6, 6);
  EXPECT_EQ(nccl_graphs(pcie_host(PathType::kPhb, CpuVendor::kAmd, 31.5, 4), {}).p2p_channels_per_peer, 2);
}

TEST(NcclGraphs, GivesOneRankOneChannel) {
  const NcclGraphs graphs = nccl_graphs(h100_hosts(1, 1), {});
  EXPECT_EQ(graphs.ring.channels, 1);
  EXPECT_EQ(graphs.channels, 1);
}

TEST(NcclGraphs, FallsBackToOneSlowChannelWhereNothingFits) {
  expect_graph(nccl_graphs(with_nics(h100_hosts(2, 8), 1, .01), {}).ring, 1, .1, .1);
}

TEST(NcclGraphs, TakesFewerChannelsPerNetworkPeerInLargeGroups) {
  // 16 channels: 2n > 4 x 16 from 33 ranks.
  EXPECT_EQ(nccl_graphs(h100_hosts(4, 8), {}).p2p_channels_per_peer, 2);
  EXPECT_EQ(nccl_graphs(h100_hosts(5, 8), {}).p2p_channels_per_peer, 1);
  // Four NICs per GPU.
  EXPECT_EQ(nccl_graphs(with_nics(h100_hosts(5, 8), 32, 12.5), {}).p2p_channels_per_peer, 4);
  NcclSettings settings;
  settings.channels_per_net_peer = 8;
  EXPECT_EQ(nccl_graphs(h100_hosts(5, 8), settings).p2p_channels_per_peer, 8);
}

TEST(NcclGraphs, ObeysTheChannelSettings) {
  NcclSettings settings;
  settings.max_channels = 10;
  settings.max_p2p_channels = 4;
  settings.nvls_channels = 6;
  const NcclGraphs graphs = nccl_graphs(h100_hosts(1, 8), settings);
  EXPECT_EQ(graphs.channels, 10);
  EXPECT_EQ(graphs.nvls_channels, 6);
  EXPECT_EQ(graphs.p2p_channels, 4);
  EXPECT_EQ(graphs.p2p_channels_per_peer, 4);
  expect_graph(graphs.ring, 12, 30, 30);  // the search does not know them
  settings.min_channels = 32;
  EXPECT_EQ(nccl_graphs(h100_hosts(1, 8), settings).channels, 32);
}

TEST(NcclGraphs, AddsHalfTheChannelsForCollNet) {
  GroupFacts facts = h100_hosts(2, 8);
  facts.in_network_reduction = true;
  NcclSettings settings;
  settings.collnet = true;
  EXPECT_EQ(nccl_graphs(facts, settings).channels, 24);
}

TEST(NcclGraphs, TakesChannelCountsFromALogOfTheSameGroup) {
  NcclSettings settings;
  settings.log = NcclLog{.version = {},
                         .ranks = 8,
                         .hosts = 1,
                         .channels = 20,
                         .nvls_channels = 12,
                         .p2p_channels = 16,
                         .p2p_channels_per_peer = 8,
                         .tables = {},
                         .calls = {}};
  const NcclGraphs graphs = nccl_graphs(h100_hosts(1, 8), settings);
  EXPECT_EQ(graphs.channels, 20);
  EXPECT_EQ(graphs.nvls_channels, 12);
  EXPECT_EQ(graphs.p2p_channels, 16);
  EXPECT_EQ(graphs.p2p_channels_per_peer, 8);
  EXPECT_EQ(nccl_graphs(h100_hosts(1, 4), settings).channels, 24);  // another group
}

// Whatever the machine: the ring fits, and no speed of the table gives more, unless it is out of NCCL's
// sight.
TEST(NcclGraphs, FindsTheLargestRingThatFits) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Seeded random(seed);
    const int ccs[] = {70, 80, 90, 100};
    const int cc = ccs[random.index(0, 3)];
    const double link = random.whole(20, 600), nic = random.whole(1, 100);
    const auto nics = static_cast<std::uint32_t>(random.integer(1, 16));
    const auto hosts = static_cast<std::uint32_t>(random.integer(1, 4));
    const GroupFacts facts = with_nics(switched_group(cc, link, hosts, 8), nics, nic);
    const NcclGraph ring = nccl_graphs(facts, {}).ring;
    const double total = static_cast<double>(ring.channels) * ring.intra_GBps;
    const double nccl_link = link * nccl_nvlink_share(cc);
    if (ring.intra_GBps > .1) {
      EXPECT_LE(total, nccl_link * (1 + 1e-9));
      EXPECT_LE(total, hosts > 1 ? nics * nic * (1 + 1e-9) : total);
    }
    for (const double speed : hosts > 1 ? nccl_inter_speeds(cc) : nccl_intra_speeds(cc)) {
      double channels = std::min(32.0, std::floor(nccl_link / speed + 1e-9));
      if (hosts > 1) channels = std::min(channels, nics * std::floor(nic / speed + 1e-9));
      if (speed > ring.intra_GBps && ring.channels < 32) {
        EXPECT_LE(channels * speed, total * (1 + 1e-9)) << speed;
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace busbar
