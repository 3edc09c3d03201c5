#include "sim/cost/nccl_constants.h"

#include <algorithm>

#include "sim/base/error.h"

namespace busbar {

namespace {

constexpr std::size_t at(NcclAlgorithm algorithm) { return static_cast<std::size_t>(algorithm); }
constexpr std::size_t at(NcclHop hop) { return static_cast<std::size_t>(hop); }
constexpr std::size_t at(NcclGeneration generation) { return static_cast<std::size_t>(generation); }
constexpr std::size_t kSimple = static_cast<std::size_t>(Protocol::kSimple);

// Rows: tree, ring, collnet-direct, collnet-chain, nvls, nvls-tree, pat. Columns: LL, LL128, Simple.
// Source: NVIDIA/nccl src/graph/tuning.cc v2.28.9.
constexpr NcclLatencies kBase = {
    {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8, 8, 8}}};
constexpr NcclLatencies kNvlinkHop = {
    {{.6, 1.25, 4}, {.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4}}};
constexpr NcclLatencies kPciHop = {
    {{1, 1.9, 4}, {1, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4}}};
constexpr NcclLatencies kNetHop = {
    {{5, 8.5, 14}, {2.7, 4, 14}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}};

// Rows: Volta, Ampere, Hopper, Blackwell. Columns: 1, 2, more hosts.
// Source: NVIDIA/nccl src/graph/tuning.cc v2.28.9.
constexpr NcclCeiling kRingLl128 = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}}};
constexpr NcclCeiling kTreeLl128 = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr NcclCeiling kTree = {{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr NcclCeiling kNvlsTree = {{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}}};

// Source: NVIDIA/nccl src/graph/tuning.cc v2.28.9.
constexpr double kLlOneHost[kNcclGenerations] = {39.0, 87.7, 141.0, 282.0};
constexpr double kLlIntel[] = {39.0, 20.4}, kLlAmd[] = {22.5, 19.0};  // on 2, more hosts
constexpr double kNvlsEfficiency[kNcclGenerations] = {0, 0, .85, .74};

// 64 B x 2^index. Source: NVIDIA/nccl src/graph/tuning.cc v2.28.9; the last column v2.30.7.
constexpr double kTreeCorrection[kNcclProtocols][kNcclSizes] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

constexpr NcclConstants release_2_28() {
  return {.since = {2, 28, 0},
          .base = kBase,
          .hops = {kNvlinkHop, kPciHop, kNetHop},
          .ring_ll128 = kRingLl128,
          .tree_ll128 = kTreeLl128,
          .tree = kTree,
          .nvls_tree = kNvlsTree,
          .pat_share = .75,
          .corrected_sizes = 23};
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.30.7; the rules on LL128 came with 2.29.7.
constexpr NcclConstants release_2_30() {
  NcclConstants c = release_2_28();
  c.since = {2, 29, 7};
  c.ring_ll128[at(NcclGeneration::kBlackwell)] = {40, 40, 40};
  c.nvls_tree[at(NcclGeneration::kBlackwell)] = {0, 96, 80};
  c.ll128_over_c2c_to_nic = false;
  c.ll128_on_mixed_hopper = true;
  c.corrected_sizes = kNcclSizes;
  c.corrects_nvls_tree = true;
  return c;
}

constexpr void double_hopper(NcclCeiling& table) {
  for (std::size_t hosts = 0; hosts < 3; ++hosts)
    table[at(NcclGeneration::kBlackwell)][hosts] = 2 * table[at(NcclGeneration::kHopper)][hosts];
}

// Simple's latency per hop of one algorithm.
constexpr void set_hops(NcclConstants& c, NcclAlgorithm algorithm, const std::array<double, kNcclHops>& us) {
  for (std::size_t hop = 0; hop < kNcclHops; ++hop) c.hops[hop][at(algorithm)][kSimple] = us[hop];
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.24 to v2.27.7.
constexpr NcclConstants release_2_24() {
  NcclConstants c = release_2_28();
  c.since = {2, 24, 0};
  set_hops(c, NcclAlgorithm::kNvlsTree, {25, 0, 14});
  for (NcclCeiling* table : {&c.ring_ll128, &c.tree_ll128, &c.tree}) double_hopper(*table);
  c.nvls_by_efficiency = false;
  return c;
}

// PAT's first release. Source: NVIDIA/nccl src/graph/tuning.cc v2.23.
constexpr NcclConstants release_2_23() {
  NcclConstants c = release_2_24();
  c.since = {2, 23, 0};
  c.pat_share = .85;
  return c;
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.21, v2.22.
constexpr NcclConstants release_2_21() {
  NcclConstants c = release_2_23();
  c.since = {2, 21, 0};
  c.base[at(NcclAlgorithm::kTree)][kSimple] = 0;
  set_hops(c, NcclAlgorithm::kTree, {28, 28, 28});
  c.pat_share = 0;
  return c;
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.19, v2.20.
constexpr NcclConstants release_2_19() {
  NcclConstants c = release_2_21();
  c.since = {2, 19, 0};
  set_hops(c, NcclAlgorithm::kNvls, {23, 0, 18});
  set_hops(c, NcclAlgorithm::kNvlsTree, {23, 0, 14});
  return c;
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.18.3, v2.18.5.
constexpr NcclConstants release_2_18_3() {
  NcclConstants c = release_2_19();
  c.since = {2, 18, 2};
  c.base[at(NcclAlgorithm::kNvls)][kSimple] = 23;
  c.base[at(NcclAlgorithm::kNvlsTree)][kSimple] = 23;
  set_hops(c, NcclAlgorithm::kTree, {4, 6, 14});
  set_hops(c, NcclAlgorithm::kCollNetDirect, {8, 8, 10.7});
  set_hops(c, NcclAlgorithm::kCollNetChain, {4.75, 8, 14});
  set_hops(c, NcclAlgorithm::kNvls, {0, 0, 18});
  set_hops(c, NcclAlgorithm::kNvlsTree, {0, 0, 19});
  return c;
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.18.1.
constexpr NcclConstants release_2_18_1() {
  NcclConstants c = release_2_18_3();
  c.since = {2, 18, 0};
  set_hops(c, NcclAlgorithm::kTree, {28, 28, 28});
  set_hops(c, NcclAlgorithm::kNvls, {0, 0, 0});
  set_hops(c, NcclAlgorithm::kNvlsTree, {0, 0, 0});
  return c;
}

// Source: NVIDIA/nccl src/graph/tuning.cc v2.17; NVLSTree is in the release notes of 2.18.
constexpr NcclConstants release_2_17() {
  NcclConstants c = release_2_18_1();
  c.since = {2, 17, 0};
  c.base[at(NcclAlgorithm::kTree)] = {4.4, 4.4, 0};
  c.base[at(NcclAlgorithm::kRing)] = {3.6, 10, 8.4};
  c.hops[at(NcclHop::kNvlink)][at(NcclAlgorithm::kRing)] = {.47, 1.9, 3.4};
  c.hops[at(NcclHop::kNet)][at(NcclAlgorithm::kRing)][kSimple] = 9.6;
  c.has_nvls_tree = false;
  return c;
}

constexpr NcclConstants kReleases[] = {release_2_17(), release_2_18_1(), release_2_18_3(),
                                       release_2_19(), release_2_21(),   release_2_23(),
                                       release_2_24(), release_2_28(),   release_2_30()};

// Source: NVIDIA/nccl src/graph/search.cc v2.28.9.
constexpr double kIntraAmpere[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kInterAmpere[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12};
constexpr double kIntraHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kInterHopper[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12};
constexpr double kIntraBlackwell[] = {90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18};
constexpr double kInterBlackwell[] = {96,   48, 45.1, 42, 40, 30,  24,  22,  20,
                                      17.5, 15, 12,   6,  3,  2.4, 1.2, .24, .12};

// What one link carries nominally and what NCCL reckons with, GB/s per direction.
// Source of NCCL's figures: NVIDIA/nccl src/graph/topo.h v2.28.9. Nominal: NVIDIA's data sheets.
struct NvlinkRate {
  int from_capability;
  double nominal, nccl;
};
constexpr NvlinkRate kNvlinks[] = {{0, 20, 18},       {70, 25, 20},   {80, 25, 20},
                                   {86, 14.0625, 12}, {90, 25, 20.6}, {100, 50, 40.1}};

const NvlinkRate& nvlink_rate(int compute_capability) {
  const NvlinkRate* found = &kNvlinks[0];
  for (const NvlinkRate& rate : kNvlinks)
    if (rate.from_capability <= compute_capability) found = &rate;
  return *found;
}

}  // namespace

NcclGeneration nccl_generation(int compute_capability) {
  if (compute_capability < 80) return NcclGeneration::kVolta;
  if (compute_capability < 90) return NcclGeneration::kAmpere;
  return compute_capability < 100 ? NcclGeneration::kHopper : NcclGeneration::kBlackwell;
}

const NcclConstants& nccl_constants(const NcclVersion& version) {
  const NcclConstants* found = &kReleases[0];
  for (const NcclConstants& release : kReleases)
    if (release.since <= version) found = &release;
  return *found;
}

double nccl_ll_ceiling(NcclGeneration generation, bool amd_cpu, std::uint32_t hosts) {
  BUSBAR_CHECK(hosts >= 1);
  if (hosts == 1) return kLlOneHost[at(generation)];
  return (amd_cpu ? kLlAmd : kLlIntel)[hosts == 2 ? 0 : 1];
}

double nccl_nvls_efficiency(NcclGeneration generation) { return kNvlsEfficiency[at(generation)]; }

double nccl_tree_correction(Protocol protocol, std::size_t index) {
  BUSBAR_CHECK(protocol != Protocol::kIdeal && index < kNcclSizes);
  return kTreeCorrection[static_cast<std::size_t>(protocol)][index];
}

std::span<const double> nccl_intra_speeds(int compute_capability) {
  if (compute_capability < 90) return kIntraAmpere;
  return compute_capability < 100 ? std::span<const double>(kIntraHopper) : kIntraBlackwell;
}

std::span<const double> nccl_inter_speeds(int compute_capability) {
  if (compute_capability < 90) return kInterAmpere;
  return compute_capability < 100 ? std::span<const double>(kInterHopper) : kInterBlackwell;
}

double nccl_nvlink_share(int compute_capability) {
  const NvlinkRate& rate = nvlink_rate(compute_capability);
  return rate.nccl / rate.nominal;
}

// Lanes of 8, 16, 32 GT/s: .984, 1.969, 3.938 GB/s nominal, .75, 1.5, 3 for NCCL.
double nccl_pcie_share() { return 24 / 31.5; }

double nccl_nvlink_GBps(int compute_capability) { return nvlink_rate(compute_capability).nccl; }

}  // namespace busbar
