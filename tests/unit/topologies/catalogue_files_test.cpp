// Every catalogue file holds what its name says.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/topologies/topology_text.h"

namespace busbar {
namespace {

constexpr const char* kFolder = BUSBAR_SOURCE_DIR "/topologies/catalogue";

struct Shipped {
  const char* file;
  std::size_t hosts;
  std::size_t gpus;        // of one host
  double nic_total;        // of one host, Gb/s; 0: no network
  std::size_t domain = 1;  // hosts in one NVLink domain
};

constexpr Shipped kCatalogue[] = {
    {"dgx1x8.json", 1, 8, 0},
    {"dgx2x8.json", 2, 8, 8 * 400},
    {"dgx4x8.json", 4, 8, 8 * 400},
    {"dgx16x8.json", 16, 8, 8 * 400},
    {"dgx2x8-a100.json", 2, 8, 8 * 200},
    {"v100-2x8.json", 2, 8, 4 * 100},
    {"dgx2x16-v100.json", 2, 16, 8 * 100},
    {"a100-board-4x4.json", 4, 4, 4 * 200},
    {"h100-board-4x4.json", 4, 4, 4 * 400},
    {"h200-2x8.json", 2, 8, 8 * 400},
    {"h800-4x8.json", 4, 8, 8 * 400},
    {"h800-128x8.json", 128, 8, 8 * 400},
    {"b200-2x8.json", 2, 8, 8 * 400},
    {"b300-2x8.json", 2, 8, 8 * 800},
    {"nvl72.json", 18, 4, 0, 18},
    {"nvl72-gb300-2.json", 36, 4, 4 * 800, 18},
    {"gh200-4x4.json", 4, 4, 4 * 200},
    {"mi250x4x8.json", 4, 8, 4 * 200},
    {"mi300x2x8.json", 2, 8, 8 * 400},
    {"l40s-2x8.json", 2, 8, 2 * 200},
    {"rtx4090-1x8.json", 1, 8, 0},
    {"h100-pcie-2x8.json", 2, 8, 2 * 200},
    {"rtx4090-1x4.json", 1, 4, 0},
    {"aws-p3dn-2.json", 2, 8, 100},
    {"aws-p4d-2.json", 2, 8, 4 * 100},
    {"aws-p4de-2.json", 2, 8, 4 * 100},
    {"aws-p5-2.json", 2, 8, 32 * 100},
    {"azure-ndv4-2.json", 2, 8, 8 * 200},
    {"azure-ndv5-2.json", 2, 8, 8 * 400},
    {"gcp-a3-mega-2.json", 2, 8, 8 * 200},
};

/// The directions of one class together, bytes/s.
double total_bandwidth(const Topology& t, std::string_view link_class) {
  double total = 0;
  for (std::size_t l = 0; l < t.links().size(); ++l) {
    if (t.link_class(LinkId::from_index(l)) == link_class) total += t.links()[l].bandwidth.Bps();
  }
  return total;
}

TEST(Catalogue, FilesHoldTheHostsAndNicBandwidthOfTheirNames) {
  for (const Shipped& shipped : kCatalogue) {
    SCOPED_TRACE(shipped.file);
    const Topology t = read_topology(JsonDocument::load(std::string(kFolder) + "/" + shipped.file), 0);
    EXPECT_EQ(t.hosts().size(), shipped.hosts);
    EXPECT_EQ(t.ranks().size(), shipped.gpus * shipped.hosts);
    for (std::size_t h = 0; h < t.hosts().size(); ++h)
      EXPECT_EQ(t.hosts()[h].domain, h / shipped.domain * shipped.domain);
    const double nics = static_cast<double>(shipped.hosts) * shipped.nic_total * 1e9 / 8;
    EXPECT_NEAR(total_bandwidth(t, "nic->leaf"), nics, 1e-9 * nics);
    if (total_bandwidth(t, "leaf->spine") > 0) {
      EXPECT_NEAR(total_bandwidth(t, "leaf->spine"), nics, 1e-9 * nics) << "non-blocking";
    }
    EXPECT_FALSE(t.name().empty());
    EXPECT_FALSE(t.source().empty());
  }
}

TEST(Catalogue, EveryFileStandsInTheTableAbove) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    // fabric-*.json show fabrics, whose counts are tested with them.
    files += entry.path().extension() == ".json" && !entry.path().filename().string().starts_with("fabric-")
                 ? 1U
                 : 0U;
  EXPECT_EQ(files, std::size(kCatalogue));
}

}  // namespace
}  // namespace busbar
