// What NCCL's choice of algorithm is told of each host type, and how data gets from GPU to GPU there.
#include <gtest/gtest.h>

#include <numeric>

#include "sim/replay/placement.h"
#include "tests/support/inline.h"
#include "topologies/host_type.h"

namespace busbar {
namespace {

using enum PathType;
using enum CpuVendor;

Topology two_hosts(std::string_view type, const std::string& fabric = R"("family": "rail-optimized")") {
  std::string more;
  if (type.starts_with("pcie-")) more = R"(, "gpu": "L40S-48GB")";
  if (type.ends_with("nvl72")) more = R"(, "nvlink_domain": 1)";
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": 2, "type": "{}"{}}}, "fabric": {{{}}}}})",
      type, more, fabric));
}

std::vector<std::uint32_t> all(const Topology& t) {
  std::vector<std::uint32_t> ranks(t.ranks().size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

GroupRoutes group(const Topology& t, std::vector<std::uint32_t> members = {}) {
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  return placement.group(members.empty() ? all(t) : members);
}

/// GB/s throughout.
struct Row {
  std::string_view type;
  std::uint32_t gpus;
  int cc;
  PathType intra_path;
  double intra;
  bool nvswitch;
  std::uint32_t rings;
  double ring;
  Transport inside;
  PathType inter_path;
  std::uint32_t nics;
  double nic;
  Transport network;
  bool at_cpu;
  CpuVendor cpu;
};

// From the rows of the host table: rates are those of its links; rings as in RingSearch's tests.
constexpr Transport kNv = Transport::kNvlink;
constexpr Transport kIb = Transport::kRdma;
constexpr Row kRows[] = {
    {"dgx-1-v100", 8, 70, kNvl, 150, false, 6, 25, kNv, kPix, 4, 12.5, kIb, false, kIntel},
    {"dgx-2", 16, 70, kNvl, 150, true, 0, 0, kNv, kPix, 8, 12.5, kIb, false, kIntel},
    {"dgx-a100", 8, 80, kNvl, 300, true, 0, 0, kNv, kPix, 8, 25, kIb, false, kAmd},
    {"hgx-a100-4", 4, 80, kNvl, 300, false, 6, 50, kNv, kPix, 4, 25, kIb, false, kAmd},
    {"dgx-h100", 8, 90, kNvl, 450, true, 0, 0, kNv, kPix, 8, 50, kIb, false, kIntel},
    {"hgx-h100-4", 4, 90, kNvl, 450, false, 6, 75, kNv, kPix, 4, 50, kIb, false, kIntel},
    {"hgx-h200", 8, 90, kNvl, 450, true, 0, 0, kNv, kPix, 8, 50, kIb, false, kIntel},
    {"h800", 8, 90, kNvl, 200, true, 0, 0, kNv, kPix, 8, 50, kIb, false, kIntel},
    {"hgx-b200", 8, 100, kNvl, 900, true, 0, 0, kNv, kPix, 8, 50, kIb, false, kIntel},
    {"hgx-b300", 8, 103, kNvl, 900, true, 0, 0, kNv, kPix, 8, 100, kIb, false, kIntel},
    {"gb200-nvl72", 4, 100, kNvl, 900, true, 0, 0, kNv, kP2c, 4, 50, kIb, true, kArm},
    {"gb300-nvl72", 4, 103, kNvl, 900, true, 0, 0, kNv, kPix, 4, 100, kIb, false, kArm},
    {"gh200-4", 4, 90, kNvl, 450, false, 6, 75, kNv, kP2c, 4, 25, kIb, true, kArm},
    {"mi250x", 8, 90, kNvl, 350, false, 4, 50, Transport::kXgmi, kPix, 4, 25, Transport::kSlingshot, false,
     kAmd},
    {"mi300x", 8, 94, kNvl, 448, false, 7, 64, Transport::kXgmi, kPix, 8, 50, kIb, false, kAmd},
    // Two switches at one CPU: a ring crosses it. Without switches and between sockets likewise.
    {"pcie-8", 8, 89, kPhb, 31.508, false, 0, 0, Transport::kHostMemory, kPix, 2, 25, kIb, false, kAmd},
    {"pcie-8-dual", 8, 89, kSys, 31.508, false, 0, 0, Transport::kHostMemory, kPhb, 2, 25, kIb, true, kAmd},
    {"pcie-4", 4, 89, kPhb, 31.508, false, 0, 0, Transport::kHostMemory, kPhb, 1, 12.5, kIb, true, kAmd},
    // The NIC at CPU 0: over NVLink and a GPU of that socket, then through the CPU.
    {"aws-p3dn", 8, 70, kNvl, 150, false, 6, 25, kNv, kPhb, 1, 12.5, Transport::kEfa, true, kIntel},
    {"aws-p4d", 8, 80, kNvl, 300, true, 0, 0, kNv, kPix, 4, 12.5, Transport::kEfa, false, kIntel},
    {"aws-p4de", 8, 80, kNvl, 300, true, 0, 0, kNv, kPix, 4, 12.5, Transport::kEfa, false, kIntel},
    {"aws-p5", 8, 90, kNvl, 450, true, 0, 0, kNv, kPix, 8, 50, Transport::kEfa, false, kAmd},
    {"azure-ndv4", 8, 80, kNvl, 300, true, 0, 0, kNv, kPix, 8, 25, kIb, false, kAmd},
    {"azure-ndv5", 8, 90, kNvl, 450, true, 0, 0, kNv, kPix, 8, 50, kIb, false, kIntel},
    {"gcp-a3-mega", 8, 90, kNvl, 450, true, 0, 0, kNv, kPix, 8, 25, Transport::kTcp, false, kIntel},
};

TEST(GroupFacts, AreThoseOfEachHostType) {
  ASSERT_EQ(std::size(kRows), host_types().size());
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.type);
    const GroupRoutes routes = group(two_hosts(row.type));
    const GroupFacts& f = routes.facts;
    EXPECT_EQ(f.ranks, 2 * row.gpus);
    EXPECT_EQ(f.hosts, 2U);
    EXPECT_EQ(f.local_least, row.gpus);
    EXPECT_EQ(f.local_most, row.gpus);
    EXPECT_EQ(f.cc_least, row.cc);
    EXPECT_EQ(f.cc_most, row.cc);
    EXPECT_EQ(f.intra_path, row.intra_path) << name_of(f.intra_path);
    EXPECT_EQ(f.inter_path, row.inter_path) << name_of(f.inter_path);
    EXPECT_NEAR(f.intra.Bps() / 1e9, row.intra, 1e-3);
    EXPECT_EQ(f.nvswitch, row.nvswitch);
    EXPECT_EQ(f.intra_rings, row.rings);
    EXPECT_NEAR(f.intra_ring.Bps() / 1e9, row.ring, 1e-9);
    EXPECT_EQ(f.nics, row.nics);
    EXPECT_NEAR(f.nic.Bps() / 1e9, row.nic, 1e-9);
    EXPECT_EQ(f.network, row.network) << name_of(f.network);
    EXPECT_EQ(f.nics_at_cpu_bridge, row.at_cpu);
    EXPECT_EQ(f.cpu, row.cpu);
    EXPECT_FALSE(f.in_network_reduction);
    EXPECT_EQ(routes.intra_transport, row.inside) << name_of(routes.intra_transport);
    EXPECT_EQ(routes.inter_transport, row.network);
  }
}

// The hops of the first ring: inside the host by the row's transport, at most; between hosts by the network.
TEST(GroupFacts, GiveEveryHopItsTransport) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.type);
    const GroupRoutes routes = group(two_hosts(row.type));
    Transport slowest = Transport::kNvlink;
    std::size_t across = 0;
    for (const Hop& hop : routes.rings[0].hops) {
      if ((hop.from < row.gpus) == (hop.to < row.gpus)) {
        slowest = std::max(slowest, hop.transport);
      } else {
        ++across;
        EXPECT_EQ(hop.transport, row.network);
      }
    }
    EXPECT_EQ(across, 2U);
    EXPECT_EQ(slowest, row.inside);
  }
}

// GPUs 0 and 1 hang at one PCIe switch: with peer access they reach each other there, else through memory.
TEST(GroupFacts, TellPeerAccessFromHostMemory) {
  const auto pair = [](const char* peer_access) {
    const Topology t = topology_from(fmt::format(
        R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": 1, "type": "pcie-8",
           "gpu": "L40S-48GB", "peer_access": {}}}, "fabric": {{"family": "none"}}}})",
        peer_access));
    return group(t, {0, 1});
  };
  const GroupRoutes with = pair("true");
  EXPECT_EQ(with.intra_transport, Transport::kPciePeer);
  EXPECT_EQ(with.facts.intra_path, kPix);
  EXPECT_EQ(with.rings[0].hops[0].transport, Transport::kPciePeer);
  const GroupRoutes without = pair("false");
  EXPECT_EQ(without.intra_transport, Transport::kHostMemory);
  EXPECT_EQ(without.facts.intra_path, kPhb);
}

// 0 and 5 of a DGX-1 have no link to each other: a GPU passes it on.
TEST(GroupFacts, NameTheRelayBetweenGpusWithoutALink) {
  const Topology t = two_hosts("dgx-1-v100");
  EXPECT_EQ(group(t, {0, 5}).facts.intra_path, kNvb);
  EXPECT_EQ(group(t, {0, 3}).facts.intra_path, kNvl);
  EXPECT_DOUBLE_EQ(group(t, {0, 3}).facts.intra.Bps(), 50e9);
}

// GPUs 4 to 7 of a host whose NICs are all at the first two switches reach them over NVLink.
TEST(GroupFacts, NamePxnWhereTheNicIsAtAnotherGpusSwitch) {
  const Topology t = topology_from(
      R"({"schema": "busbar.topology/1", "name": "t", "hosts": {"count": 2, "type": "dgx-a100", "nics": 2},
          "fabric": {"family": "rail-optimized"}})");
  // Four switches of two GPUs; the NICs are at the first and the third.
  EXPECT_EQ(group(t, {0, 1, 8, 9}).facts.inter_path, kPix);
  EXPECT_EQ(group(t, {0, 2, 8, 10}).facts.inter_path, kPxn);
}

TEST(GroupFacts, CountOnlyTheMembersAndTheirNics) {
  const GroupFacts f = group(two_hosts("dgx-h100"), {0, 1, 2, 8, 9}).facts;
  EXPECT_EQ(f.ranks, 5U);
  EXPECT_EQ(f.local_least, 2U);
  EXPECT_EQ(f.local_most, 3U);
  EXPECT_EQ(f.nics, 2U);
}

TEST(GroupFacts, KnowTheOldestAndNewestGpuAndMixedCpus) {
  const Topology t = topology_from(
      R"({"schema": "busbar.topology/1", "name": "t",
          "hosts": [{"count": 1, "type": "dgx-h100"}, {"count": 1, "type": "dgx-a100"}],
          "fabric": {"family": "single-switch", "sharp": true}})");
  const GroupFacts f = group(t).facts;
  EXPECT_EQ(f.cc_least, 80);
  EXPECT_EQ(f.cc_most, 90);
  EXPECT_EQ(f.cpu, kAmd);
  EXPECT_DOUBLE_EQ(f.intra.Bps(), 300e9);
  EXPECT_DOUBLE_EQ(f.nic.Bps(), 25e9);
  EXPECT_TRUE(f.in_network_reduction);
}

// Inside one host the network is no matter.
TEST(GroupFacts, NameNoNicForOneHost) {
  const GroupFacts f =
      group(two_hosts("dgx-h100", R"("family": "single-switch", "sharp": true)"), {0, 1}).facts;
  EXPECT_EQ(f.hosts, 1U);
  EXPECT_EQ(f.nics, 0U);
  EXPECT_FALSE(f.in_network_reduction);
}

TEST(GroupFacts, ComeWithTheOutlineToo) {
  const Topology t = two_hosts("mi300x");
  const Profile profile = ideal_profile();
  Placement placement(t, profile);
  const GroupRoutes outline = placement.outline(std::vector<std::uint32_t>{0, 8});
  EXPECT_TRUE(outline.rings.empty());
  EXPECT_EQ(outline.facts.nics, 1U);
  EXPECT_EQ(outline.facts.cc_most, 94);
}

}  // namespace
}  // namespace busbar
