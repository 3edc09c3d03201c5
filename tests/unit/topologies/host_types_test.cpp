#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "sim/base/named_table.h"
#include "tests/unit/topologies/topology_text.h"
#include "topologies/host_type.h"

namespace busbar {
namespace {

using testing::device_called;
using testing::link_called;
using testing::rails;
using testing::topology_of;

/// All directions of one class together.
double total_bandwidth(const Topology& t, std::string_view link_class) {
  double total = 0;
  for (std::size_t l = 0; l < t.links().size(); ++l) {
    if (t.link_class(LinkId::from_index(l)) == link_class) total += t.links()[l].bandwidth.Bps();
  }
  return total;
}

std::size_t count_links(const Topology& t, LinkType type) {
  std::size_t directions = 0;
  for (const Link& link : t.links()) directions += link.type == type ? 1U : 0U;
  return directions / 2;
}

/// One host of this type on rails; PCIe boxes get cards.
Topology one_host(std::string_view type) {
  const std::string card = type.starts_with("pcie-") ? R"(, "gpu": "L40S-48GB")" : "";
  return topology_of(R"("hosts": {"count": 1, "type": ")" + std::string(type) + '"' + card +
                     R"(}, "fabric": {"family": "rail-optimized"})");
}

bool is_scale_up(const Link& link) { return link.type == LinkType::kNvlink || link.type == LinkType::kXgmi; }

double scale_up_of(const Topology& t, std::string_view gpu) {
  double total = 0;
  for (const LinkId id : t.out_links(device_called(t, gpu)))
    total += is_scale_up(t.link(id)) ? t.link(id).bandwidth.Bps() : 0;
  return total;
}

/// What NVLink or xGMI carries one way from the GPUs in `half` (a bit each) to the others: all direct links,
/// and through an NVSwitch what the side with less can send to it.
double cut(const Topology& t, unsigned half) {
  std::map<DeviceId, unsigned> bit;
  for (const DeviceId gpu : t.ranks()) bit.emplace(gpu, 1U << bit.size());
  double direct = 0, into_switch[2] = {0, 0};
  for (const Link& link : t.links()) {
    if (!is_scale_up(link) || !bit.contains(link.from)) continue;
    const bool in_half = (half & bit[link.from]) != 0;
    if (!bit.contains(link.to))
      into_switch[in_half ? 1 : 0] += link.bandwidth.Bps();
    else if (in_half && (half & bit[link.to]) == 0)
      direct += link.bandwidth.Bps();
  }
  return direct + std::min(into_switch[0], into_switch[1]);
}

/// The least of all cuts into equal halves.
double bisection_of(const Topology& t) {
  const auto gpus = static_cast<int>(t.ranks().size());
  double least = std::numeric_limits<double>::infinity();
  for (unsigned half = 0; half < 1U << gpus; ++half) {
    if (std::popcount(half) == gpus / 2) least = std::min(least, cut(t, half));
  }
  return least;
}

/// What a host of each type is made of, counted by hand from the pictures in its user guide. Bandwidths are
/// one way, in GB/s (NICs: Gb/s, all together).
struct Expected {
  const char* type;
  std::size_t gpus, nics;
  std::size_t nvlink, xgmi, c2c, pcie, upi;  // full-duplex links or bundles
  double scale_up;                           // of GPU 0
  double bisection;
  double nic_total;
  LinkType wire = LinkType::kRdma;
};

// Mesh bisections: DGX-1 2 + 2 + 1 + 1 links between its quads; four GPUs 2 x 2 bundles; MI250X 2 + 2 + 1 + 1
// links; MI300X 4 x 4 links. NVSwitch: half the GPUs at full rate.
constexpr Expected kHosts[] = {
    {"dgx-1-v100", 8, 4, 16, 0, 0, 8 + 4 + 4, 1, 6 * 25, 6 * 25, 4 * 100},
    {"dgx-2", 16, 8, 16, 0, 0, 16 + 8 + 8, 1, 6 * 25, 8 * 150, 8 * 100},
    {"dgx-a100", 8, 8, 8, 0, 0, 8 + 8 + 4, 1, 12 * 25, 4 * 300, 8 * 200},
    {"hgx-a100-4", 4, 4, 6, 0, 0, 4 + 4 + 4, 1, 12 * 25, 4 * 100, 4 * 200},
    {"dgx-h100", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 18 * 25, 4 * 450, 8 * 400},
    {"hgx-h100-4", 4, 4, 6, 0, 0, 4 + 4 + 4, 1, 18 * 25, 4 * 150, 4 * 400},
    {"hgx-h200", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 18 * 25, 4 * 450, 8 * 400},
    {"h800", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 8 * 25, 4 * 200, 8 * 400},
    {"hgx-b200", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 18 * 50, 4 * 900, 8 * 400},
    {"hgx-b300", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 18 * 50, 4 * 900, 8 * 800},
    {"gb200-nvl72", 4, 4, 4, 0, 4, 4, 1, 18 * 50, 2 * 900, 4 * 400},
    {"gb300-nvl72", 4, 4, 4, 0, 4, 4 + 4 + 4, 1, 18 * 50, 2 * 900, 4 * 800},
    {"gh200-4", 4, 4, 6, 0, 4, 4, 6, 18 * 25, 4 * 150, 4 * 200},
    {"mi250x", 8, 4, 0, 12, 8, 8 + 4, 0, (4 + 2 + 1) * 50, 6 * 50, 4 * 200, LinkType::kSlingshot},
    {"mi300x", 8, 8, 0, 28, 0, 8 + 8 + 8, 1, 7 * 64, 16 * 64, 8 * 400},
    {"pcie-8", 8, 2, 0, 0, 0, 8 + 2 + 2, 0, 0, 0, 2 * 200},
    {"pcie-8-dual", 8, 2, 0, 0, 0, 8 + 2, 1, 0, 0, 2 * 200},
    {"pcie-4", 4, 1, 0, 0, 0, 4 + 1, 0, 0, 0, 100},
    {"aws-p3dn", 8, 1, 16, 0, 0, 8 + 1 + 4, 1, 6 * 25, 6 * 25, 100, LinkType::kEfa},
    {"aws-p4d", 8, 4, 8, 0, 0, 8 + 4 + 4, 1, 12 * 25, 4 * 300, 4 * 100, LinkType::kEfa},
    {"aws-p4de", 8, 4, 8, 0, 0, 8 + 4 + 4, 1, 12 * 25, 4 * 300, 4 * 100, LinkType::kEfa},
    {"aws-p5", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 18 * 25, 4 * 450, 32 * 100, LinkType::kEfa},
    {"azure-ndv4", 8, 8, 8, 0, 0, 8 + 8 + 4, 1, 12 * 25, 4 * 300, 8 * 200},
    {"azure-ndv5", 8, 8, 8, 0, 0, 8 + 8 + 8, 1, 18 * 25, 4 * 450, 8 * 400},
    {"gcp-a3-mega", 8, 8, 8, 0, 0, 8 + 8 + 4, 1, 18 * 25, 4 * 450, 8 * 200, LinkType::kTcp},
};

TEST(HostTypes, HaveTheirPartsAndRates) {
  ASSERT_EQ(std::size(kHosts), host_types().size()) << "every row of the table stands here";
  for (const Expected& host : kHosts) {
    SCOPED_TRACE(host.type);
    const Topology t = one_host(host.type);
    ASSERT_EQ(t.hosts().size(), 1U);
    EXPECT_EQ(t.hosts()[0].type, host.type);
    EXPECT_EQ(t.hosts()[0].gpus.size(), host.gpus);
    EXPECT_EQ(t.hosts()[0].nics.size(), host.nics);
    EXPECT_EQ(count_links(t, LinkType::kNvlink), host.nvlink);
    EXPECT_EQ(count_links(t, LinkType::kXgmi), host.xgmi);
    EXPECT_EQ(count_links(t, LinkType::kC2c), host.c2c);
    EXPECT_EQ(count_links(t, LinkType::kPcie), host.pcie);
    EXPECT_EQ(count_links(t, LinkType::kUpi), host.upi);
    EXPECT_DOUBLE_EQ(scale_up_of(t, "h0.gpu0"), host.scale_up * 1e9);
    EXPECT_DOUBLE_EQ(bisection_of(t), host.bisection * 1e9);
    EXPECT_DOUBLE_EQ(total_bandwidth(t, "nic->leaf"), host.nic_total * 1e9 / 8);
    EXPECT_EQ(link_called(t, "h0.nic0->leaf0").type, host.wire);
  }
}

TEST(HostTypes, HaveAFigureAndALineInTheDocuments) {
  std::ifstream file(BUSBAR_SOURCE_DIR "/docs/hosts.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const HostType& type : host_types()) {
    const std::string figure = fmt::format("hosts/{}.svg", type.name);
    EXPECT_TRUE(std::filesystem::exists(BUSBAR_SOURCE_DIR "/docs/" + figure)) << figure;
    EXPECT_NE(page.find("(" + figure + ")"), page.npos) << "docs/hosts.md shows " << figure;
    EXPECT_NE(page.find(type.source), page.npos) << "docs/hosts.md is older than " << type.name;
  }
}

TEST(HostTypes, HaveAGpuModelOfTheTableOrTakeOne) {
  for (const HostType& type : host_types()) {
    const auto has_name = [&](const GpuModel& model) { return model.name == type.gpu_model; };
    const bool known = std::any_of(gpu_models().begin(), gpu_models().end(), has_name);
    EXPECT_TRUE(known || type.gpu_model.empty()) << type.name;
  }
}

TEST(HostTypes, RowsHaveNamesHelpAndSources) {
  std::set<std::string_view> names;
  for (const HostType& type : host_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_FALSE(type.help.empty());
    EXPECT_FALSE(type.source.empty());
    EXPECT_GT(type.nic.Bps(), 0);
  }
}

// Affinities as nvidia-smi topo -m shows them on such machines (PIX, NODE, SYS).
TEST(DgxH100, EachGpuSharesAPcieSwitchWithTheNicOfItsNumber) {
  const Topology t = rails(1, "dgx-h100");
  const double gen5 = 32e9 * 16 * 128 / 130 / 8;
  for (int i = 0; i < 8; ++i) {
    const std::string pcie = "h0.pcie" + std::to_string(i);
    EXPECT_DOUBLE_EQ(link_called(t, "h0.gpu" + std::to_string(i) + "->" + pcie).bandwidth.Bps(), gen5);
    EXPECT_DOUBLE_EQ(link_called(t, pcie + "->h0.nic" + std::to_string(i)).bandwidth.Bps(), gen5);
    EXPECT_DOUBLE_EQ(link_called(t, pcie + "->h0.cpu" + std::to_string(i / 4)).bandwidth.Bps(), gen5);
  }
  EXPECT_EQ(link_called(t, "h0.cpu0->h0.cpu1").type, LinkType::kUpi);
}

TEST(DgxA100, TwoGpusAndTwoNicsShareAPcieSwitch) {
  const Topology t = rails(1, "dgx-a100");
  const double gen4 = 16e9 * 16 * 128 / 130 / 8;
  for (int i = 0; i < 8; ++i) {
    const std::string pcie = "h0.pcie" + std::to_string(i / 2);
    EXPECT_DOUBLE_EQ(link_called(t, "h0.gpu" + std::to_string(i) + "->" + pcie).bandwidth.Bps(), gen4);
    EXPECT_DOUBLE_EQ(link_called(t, pcie + "->h0.nic" + std::to_string(i)).bandwidth.Bps(), gen4);
    EXPECT_DOUBLE_EQ(link_called(t, pcie + "->h0.cpu" + std::to_string(i / 4)).bandwidth.Bps(), gen4);
  }
}

TEST(HostTypes, FewerGpusOrNicsKeepTheFirstOnes) {
  const Topology t = topology_of(
      R"("hosts": [{"count": 1, "type": "dgx-h100", "gpus": 4}, {"count": 1, "type": "dgx-a100", "nics": 3}],
         "fabric": {"family": "rail-optimized"})");
  EXPECT_EQ(t.hosts()[0].gpus.size(), 4U);
  EXPECT_EQ(t.hosts()[0].nics.size(), 8U);
  EXPECT_EQ(t.hosts()[1].gpus.size(), 8U);
  EXPECT_EQ(t.hosts()[1].nics.size(), 3U);
  EXPECT_EQ(t.name_of(t.hosts()[0].gpus.back()), "h0.gpu3");
  EXPECT_EQ(t.name_of(t.hosts()[1].nics.back()), "h1.nic2");
}

}  // namespace
}  // namespace busbar
