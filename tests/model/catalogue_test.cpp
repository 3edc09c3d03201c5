// Every file that ships runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/replay/host_ranks.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(BUSBAR_SOURCE_DIR) + "/" + folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  return files;
}

/// What a ring all_reduce of 8 GiB can reach in busbw, nominal GB/s: at most what a GPU's links in the host
/// carry or, between hosts, what the NICs of one host carry together, whichever is less. At least a share of
/// `slowest`, which is the slowest link that a ring in the order of the GPUs has to cross: where that is a
/// detour through a CPU, a ring that goes another way may do better.
struct Bound {
  const char* file;
  double slowest;
  double most;
};

constexpr double kGen4 = 31.5;  // PCIe x16

constexpr Bound kBounds[] = {
    {"dgx1x8", 450, 450},
    {"dgx2x8", 400, 400},
    {"dgx4x8", 400, 400},
    {"dgx16x8", 400, 400},
    {"dgx2x8-a100", 200, 200},
    {"v100-2x8", 25, 50},  // one NVLink between some neighbours of the ring
    {"dgx2x16-v100", 100, 100},
    {"a100-board-4x4", 100, 100},  // between two GPUs, and four NICs
    {"h100-board-4x4", 150, 200},
    {"h200-2x8", 400, 400},
    {"h800-4x8", 200, 200},    // NVLink, half of what the NICs carry
    {"h800-128x8", 160, 200},  // latencies of 1,024 ranks
    {"b200-2x8", 400, 400},
    {"b300-2x8", 800, 800},
    {"nvl72", 900, 900},
    {"nvl72-gb300-2", 600, 900},  // Hopper's LL128 stands in for a rack's
    {"gh200-4x4", 100, 100},
    {"mi250x4x8", 100, 100},
    {"mi300x2x8", 64, 400},  // one xGMI link; a GPU has seven
    {"l40s-2x8", kGen4, 50},
    {"rtx4090-1x8", kGen4 / 4, kGen4},  // four cards share the way up to the CPU
    {"h100-pcie-2x8", 16, 50},          // between the CPUs
    {"rtx4090-1x4", kGen4, kGen4},
    {"aws-p3dn-2", 12.5, 12.5},
    {"aws-p4d-2", 50, 50},
    {"aws-p4de-2", 50, 50},
    {"aws-p5-2", 400, 400},
    {"azure-ndv4-2", 200, 200},
    {"azure-ndv5-2", 400, 400},
    {"gcp-a3-mega-2", 200, 200},
    {"fabric-dragonfly", 400, 400},
    {"fabric-fat-tree", 400, 400},    // 2:1 at the top, which a ring in order of hosts does not fill
    {"fabric-leaf-spine", 200, 400},  // 2:1, and one path per flow
    {"fabric-rail-only", 400, 400},
    {"fabric-rail-optimized", 400, 400},
    {"fabric-single-switch", 400, 400},
    {"fabric-torus", 400, 400},
};

const Bound* bound_of(const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  for (const Bound& bound : kBounds)
    if (stem == bound.file) return &bound;
  return nullptr;
}

// The default profile sustains 0.79 of A100's NVLink, 0.85 of Hopper's, 0.91 of PCIe's and 0.985 of a NIC's
// nominal rate, and 8 GiB do not quite amortise the latencies of 128 GPUs: 0.65 of nominal, which leaves 0.82
// of the least of these. Copies through a CPU's memory sustain 0.4.
double sustained_share(const Sweep& explained) {
  constexpr double kAmortised = 0.65 / 0.79;
  for (const TransportUse& use : explained.explanations.back().transports)
    if (use.transport == "host memory") return kAmortised * default_profile().host_memory.efficiency;
  return 0.65;
}

TEST(Catalogue, EveryTopologyRunsACollectiveAtARateThatItsLinksAllow) {
  const auto files = files_of("topologies/catalogue");
  EXPECT_EQ(files.size(), std::size(kBounds));
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Bound* bound = bound_of(file);
    ASSERT_NE(bound, nullptr) << "every file has a bound above";
    const Topology t = read_topology(JsonDocument::load(file), 1);
    const Sweep s = sweep(t, {.operation = CollectiveKind::kAllReduce, .sizes = {1_MiB, 8_GiB}},
                          default_profile(), {.overrides = {.algorithm = "ring"}, .explain = true});
    ASSERT_EQ(s.rows.size(), 2U);
    EXPECT_GE(s.rows[1].busbw_Bps, sustained_share(s) * bound->slowest * 1e9);
    EXPECT_LE(s.rows[1].busbw_Bps, bound->most * 1e9);
  }
}

Topology shipped(const std::string& name) {
  return read_topology(
      JsonDocument::load(std::string(BUSBAR_SOURCE_DIR) + "/topologies/catalogue/" + name + ".json"), 1);
}

/// "..., for dgx16x8" at the end of a workload's name; two hosts where it has none.
std::string cluster_of(const std::string& workload) {
  constexpr std::string_view kFor = ", for ";
  const std::size_t at = workload.rfind(kFor);
  return at == std::string::npos ? "dgx2x8" : workload.substr(at + kFor.size());
}

TEST(Catalogue, EveryWorkloadRunsOnItsCluster) {
  const auto files = files_of("workloads/catalogue");
  EXPECT_GE(files.size(), 18U);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    Workload workload = read_workload(JsonDocument::load(file));
    const Topology cluster = shipped(cluster_of(workload.name));
    workload.parallel.host_ranks = host_ranks_of(cluster);
    const RunResult r = simulate(cluster, expand(workload), default_profile(), {});
    EXPECT_GT(r.step_time, Time::zero());
    EXPECT_EQ(unaccounted(r.split), Time::zero());
    EXPECT_FALSE(r.assumptions.empty());
    // No model computes faster than the chips.
    ASSERT_TRUE(r.peak_flops);
    EXPECT_LT(r.model_flops / r.ranks / r.step_time.seconds(), 0.7 * *r.peak_flops);
  }
}

}  // namespace
}  // namespace busbar
