#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/base/named_table.h"
#include "tests/unit/topologies/topology_text.h"
#include "topologies/host_type.h"

namespace busbar {
namespace {

using testing::link_called;
using testing::rails;
using testing::topology_of;

std::size_t count_kind(const Topology& t, DeviceKind kind) {
  std::size_t count = 0;
  for (const Device& device : t.devices()) count += device.kind == kind ? 1U : 0U;
  return count;
}

/// All directions of one class together.
double total_bandwidth(const Topology& t, std::string_view link_class) {
  double total = 0;
  for (std::size_t l = 0; l < t.links().size(); ++l) {
    if (t.link_class(LinkId::from_index(l)) == link_class) total += t.links()[l].bandwidth.Bps();
  }
  return total;
}

/// What a host of each type is made of, counted by hand from the pictures in its user guide.
struct Expected {
  const char* type;
  std::size_t devices;  // GPUs + NICs + NVSwitch + PCIe switches + CPUs
  std::size_t links;    // full duplex: NVLink + GPU, NIC and switch PCIe + between the CPUs
  double nic_Bps;
  double nvlink_Bps;
};

constexpr Expected kHosts[] = {
    {"dgx-h100", 8 + 8 + 1 + 8 + 2, 8 + 8 + 8 + 8 + 1, 50e9, 18 * 25e9},
    {"dgx-a100", 8 + 8 + 1 + 4 + 2, 8 + 8 + 8 + 4 + 1, 25e9, 12 * 25e9},
};

TEST(HostTypes, HaveTheirPartsAndRates) {
  ASSERT_EQ(std::size(kHosts), host_types().size()) << "every row of the table stands here";
  for (const Expected& host : kHosts) {
    SCOPED_TRACE(host.type);
    const Topology t = rails(2, host.type);
    EXPECT_EQ(count_kind(t, DeviceKind::kGpu), 2U * 8);
    EXPECT_EQ(count_kind(t, DeviceKind::kNic), 2U * 8);
    EXPECT_EQ(t.devices().size(), 2 * host.devices + 8 + 1) << "8 leaves and the spine";
    EXPECT_EQ(t.links().size(), 2 * (2 * host.links + 2 * 8 + 8)) << "16 cables to leaves, 8 to the spine";
    EXPECT_DOUBLE_EQ(total_bandwidth(t, "nic->leaf"), 2 * 8 * host.nic_Bps);
    EXPECT_DOUBLE_EQ(total_bandwidth(t, "leaf->nic"), 2 * 8 * host.nic_Bps);
    EXPECT_DOUBLE_EQ(link_called(t, "h1.gpu7->h1.nvs").bandwidth.Bps(), host.nvlink_Bps);
    EXPECT_EQ(t.hosts()[1].type, host.type);
    EXPECT_EQ(t.hosts()[1].gpus.size(), 8U);
    EXPECT_EQ(t.hosts()[1].nics.size(), 8U);
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
  EXPECT_EQ(t.device(t.hosts()[0].gpus.back()).id, "h0.gpu3");
  EXPECT_EQ(t.device(t.hosts()[1].nics.back()).id, "h1.nic2");
}

TEST(GpuModels, HoldTheDatasheetFigures) {
  const auto find = [](std::string_view name) -> const GpuModel& {
    for (const GpuModel& model : gpu_models()) {
      if (model.name == name) return model;
    }
    ADD_FAILURE() << name;
    return gpu_models()[0];
  };
  const auto tflops = [](const GpuModel& m, DataType type) { return m.peak.at(type).flops() / 1e12; };
  const GpuModel& h100 = find("H100-SXM5-80GB");
  EXPECT_DOUBLE_EQ(tflops(h100, DataType::kBf16), 989);
  EXPECT_DOUBLE_EQ(tflops(h100, DataType::kTf32), 495);
  EXPECT_DOUBLE_EQ(tflops(h100, DataType::kFp8), 1979);
  EXPECT_EQ(h100.memory, 80_GB);
  EXPECT_DOUBLE_EQ(h100.memory_bandwidth.Bps(), 3.35e12);
  EXPECT_EQ(h100.sms, 132);
  const GpuModel& a100 = find("A100-SXM4-80GB");
  EXPECT_DOUBLE_EQ(tflops(a100, DataType::kFp16), 312);
  EXPECT_DOUBLE_EQ(tflops(a100, DataType::kFp32), 19.5);
  EXPECT_DOUBLE_EQ(tflops(a100, DataType::kInt8), 624);
  EXPECT_DOUBLE_EQ(a100.memory_bandwidth.Bps(), 2.039e12);
  EXPECT_EQ(a100.sms, 108);
  EXPECT_DOUBLE_EQ(find("A100-SXM4-40GB").memory_bandwidth.Bps(), 1.555e12);
  EXPECT_EQ(find("A100-SXM4-40GB").memory, 40_GB);
  EXPECT_DOUBLE_EQ(find("H200-SXM-141GB").memory_bandwidth.Bps(), 4.8e12);
  EXPECT_EQ(find("H200-SXM-141GB").memory, 141_GB);
}

TEST(GpuModels, RowsHaveOneNameAndASource) {
  std::set<std::string_view> names;
  for (const GpuModel& model : gpu_models()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_TRUE(model.peak.contains(DataType::kBf16)) << model.name;
  }
}

struct Shipped {
  const char* file;
  std::size_t hosts;
  std::size_t leaves;
  double nic_Bps;
};

constexpr Shipped kCatalogue[] = {
    {"dgx1x8.json", 1, 0, 0},      {"dgx2x8.json", 2, 8, 50e9},      {"dgx4x8.json", 4, 8, 50e9},
    {"dgx16x8.json", 16, 8, 50e9}, {"dgx2x8-a100.json", 2, 8, 25e9},
};

TEST(Catalogue, FilesHoldTheHostsAndNicBandwidthOfTheirNames) {
  for (const Shipped& shipped : kCatalogue) {
    SCOPED_TRACE(shipped.file);
    const std::string path = std::string(BUSBAR_SOURCE_DIR "/topologies/catalogue/") + shipped.file;
    const Topology t = read_topology(JsonDocument::load(path), 0);
    EXPECT_EQ(t.hosts().size(), shipped.hosts);
    EXPECT_EQ(t.ranks().size(), 8 * shipped.hosts);
    EXPECT_EQ(count_kind(t, DeviceKind::kNic), 8 * shipped.hosts);
    EXPECT_EQ(count_kind(t, DeviceKind::kSwitch), shipped.leaves == 0 ? 0 : shipped.leaves + 1);
    EXPECT_DOUBLE_EQ(total_bandwidth(t, "nic->leaf"),
                     8 * static_cast<double>(shipped.hosts) * shipped.nic_Bps);
    EXPECT_DOUBLE_EQ(total_bandwidth(t, "leaf->spine"), total_bandwidth(t, "nic->leaf")) << "non-blocking";
    EXPECT_FALSE(t.name().empty());
    EXPECT_FALSE(t.source().empty());
  }
}

}  // namespace
}  // namespace busbar
