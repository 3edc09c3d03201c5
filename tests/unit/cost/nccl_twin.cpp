#include "tests/unit/cost/nccl_twin.h"

#include <cmath>
#include <vector>

namespace busbar::twin {

namespace {

using Row = std::vector<double>;
using Rows = std::map<std::string, Row>;

constexpr double kNever = 1e30;

bool before(const NcclSettings& s, int minor, int patch = 0) {
  return s.version < NcclVersion{2, minor, patch};
}

int column(const std::string& protocol) { return protocol == "LL" ? 0 : protocol == "LL128" ? 1 : 2; }

// Latencies of 2.28 by row name, then what each older release had instead.
Rows latencies(const NcclSettings& s) {
  Rows t = {{"base tree", {6.8, 14, 8.4}},
            {"base ring", {6.6, 14, 8.4}},
            {"base pat", {8, 8, 8}},
            {"base collnet-direct", {0, 0, 0}},
            {"base collnet-chain", {0, 0, 0}},
            {"base nvls", {0, 0, 0}},
            {"base nvls-tree", {0, 0, 0}},
            {"nvl tree", {.6, 1.25, 4}},
            {"pci tree", {1, 1.9, 4}},
            {"net tree", {5, 8.5, 14}},
            {"nvl ring", {.6, 1.9, 3.4}},
            {"pci ring", {1, 2.5, 5.7}},
            {"net ring", {2.7, 4, 14}},
            {"nvl collnet-direct", {0, 0, 3.7}},
            {"pci collnet-direct", {0, 0, 3.7}},
            {"net collnet-direct", {0, 0, 31}},
            {"nvl collnet-chain", {0, 0, 2.8}},
            {"pci collnet-chain", {0, 0, 2.8}},
            {"net collnet-chain", {0, 0, 30}},
            {"nvl nvls", {0, 0, 25}},
            {"pci nvls", {0, 0, 0}},
            {"net nvls", {0, 0, 18}},
            {"nvl nvls-tree", {0, 0, 25}},
            {"pci nvls-tree", {0, 0, 0}},
            {"net nvls-tree", {0, 0, 20.9}},
            {"nvl pat", {0, 0, 4}},
            {"pci pat", {0, 0, 4}},
            {"net pat", {0, 0, 14}}};
  if (before(s, 28)) t["net nvls-tree"] = {0, 0, 14};
  if (before(s, 23)) t["base tree"] = {6.8, 14, 0};
  if (before(s, 23)) t["nvl tree"][2] = t["pci tree"][2] = t["net tree"][2] = 28;
  if (before(s, 21)) t["nvl nvls"][2] = t["nvl nvls-tree"][2] = 23;
  if (before(s, 19)) {
    t["nvl tree"][2] = 4, t["pci tree"][2] = 6, t["net tree"][2] = 14;
    t["base nvls"][2] = t["base nvls-tree"][2] = 23;
    t["nvl nvls"][2] = t["nvl nvls-tree"][2] = 0;
    t["net nvls"][2] = 18, t["net nvls-tree"][2] = 19;
    t["nvl collnet-direct"][2] = t["pci collnet-direct"][2] = 8, t["net collnet-direct"][2] = 10.7;
    t["nvl collnet-chain"][2] = 4.75, t["pci collnet-chain"][2] = 8, t["net collnet-chain"][2] = 14;
  }
  if (before(s, 18, 2)) {
    t["nvl tree"][2] = t["pci tree"][2] = t["net tree"][2] = 28;
    t["net nvls"][2] = t["net nvls-tree"][2] = 0;
  }
  if (before(s, 18)) {
    t["base tree"] = {4.4, 4.4, 0};
    t["base ring"] = {3.6, 10, 8.4};
    t["nvl ring"][0] = .47;
    t["net ring"][2] = 9.6;
  }
  return t;
}

// Ceilings in GB/s for one, two and more hosts, by name and generation letter.
double ceiling(const std::string& name, const GroupFacts& f, const NcclSettings& s) {
  Rows t = {{"ring LL128 V", {20, 20, 20}},       {"ring LL128 A", {20, 20, 20}},
            {"ring LL128 H", {36.7, 36.7, 36.7}}, {"ring LL128 B", {73.4, 34.6, 73.4}},
            {"tree LL128 V", {20, 20, 20}},       {"tree LL128 A", {20, 20, 20}},
            {"tree LL128 H", {36.7, 36.7, 29}},   {"tree LL128 B", {55.6, 31.67, 20}},
            {"tree V", {26.5, 18.5, 10}},         {"tree A", {24, 23.6, 17.8}},
            {"tree H", {38.7, 41.4, 36}},         {"tree B", {70, 42.8, 24}},
            {"nvls-tree V", {26.5, 18.5, 10}},    {"nvls-tree A", {24, 23.6, 17.8}},
            {"nvls-tree H", {0, 57.7, 45.5}},     {"nvls-tree B", {0, 96, 43.8}}};
  if (!before(s, 29, 7)) t["ring LL128 B"] = {40, 40, 40}, t["nvls-tree B"] = {0, 96, 80};
  if (before(s, 28)) {
    t["ring LL128 B"] = {73.4, 73.4, 73.4};
    t["tree LL128 B"] = {73.4, 73.4, 58};
    t["tree B"] = {77.4, 82.8, 72};
  }
  const std::string letter = f.cc_least < 80 ? "V" : f.cc_least < 90 ? "A" : f.cc_least < 100 ? "H" : "B";
  return t.at(name + " " + letter)[f.hosts == 1 ? 0 : f.hosts == 2 ? 1 : 2];
}

double ll_most(const GroupFacts& f) {
  if (f.hosts == 1) return f.cc_least < 80 ? 39 : f.cc_least < 90 ? 87.7 : f.cc_least < 100 ? 141 : 282;
  if (f.cpu == CpuVendor::kAmd) return f.hosts == 2 ? 22.5 : 19;
  return f.hosts == 2 ? 39 : 20.4;
}

double lg(double x) { return std::floor(std::log2(x)); }

double latency(const std::string& kind, const std::string& a, const std::string& p, const GroupFacts& f,
               const NcclSettings& s, const NcclGraphs& g) {
  Rows rows = latencies(s);
  const auto i = static_cast<std::size_t>(column(p));
  const std::string hw = f.intra_path == PathType::kNvl ? "nvl " : "pci ";
  const double n = f.ranks, N = f.hosts, ppn = std::floor(n / N);
  const double base = rows["base " + a][i], intra = rows[hw + a][i];
  const double inter = rows["net " + (f.ranks == f.hosts ? std::string("tree") : a)][i];
  double overhead = N > 1 ? (f.cpu == CpuVendor::kAmd ? 2 : 1) : 0;
  if (N > 1 && s.net_overhead_ns) overhead = *s.net_overhead_ns / 1000;
  if (p == "Simple") overhead *= 3;
  if (a == "ring" && kind == "all_reduce")
    return base + (2 * (n - 1) - 2 * (N - 1)) * std::max(intra, overhead) + 2 * (N - 1) * inter;
  if (a == "ring" && (kind == "all_gather" || kind == "reduce_scatter"))
    return base + ((n - 1) - (N - 1)) * std::max(intra, overhead) + (N - 1) * inter;
  if (a == "ring" && g.ring.same_channels) return base + rows[(N > 1 ? "net " : hw) + "ring"][i];
  if (a == "ring") return base + n * rows[(N > 1 ? "net " : hw) + (p == "Simple" ? "tree" : "ring")][i];
  if (a == "tree") return base + 2 * ((ppn - 1) * intra + lg(N) * inter);
  if (a == "collnet-direct") return base + 2 * (std::min(1.0, ppn - 1) * intra + (ppn - 1) * .4) + inter;
  if (a == "collnet-chain") return base + 2 * (ppn - 1) * intra + inter;
  if (a == "nvls") return base + intra + (N > 1 ? inter : 0);
  if (a == "nvls-tree") return base + intra + 2 * lg(N) * inter;
  return 8 + lg(N) * inter / 3.5 + 2.8 * n;
}

double nvls_bandwidth(const std::string& kind, const std::string& a, const GroupFacts& f,
                      const NcclSettings& s, const NcclGraphs& g) {
  const double n = f.ranks, N = f.hosts, ppn = n / N, C = static_cast<double>(g.nvls.channels);
  const double in = g.nvls.intra_GBps, net = g.nvls.inter_GBps;
  if (before(s, 28)) {
    if (kind != "all_reduce") return C * std::min(in * (ppn - 1) / ppn, .9 * net);
    if (a == "nvls") return C * std::min(in, net) * 5 / 6;
    return C * std::min(in, N <= 2 ? net : net / 2) * 5 / 6;
  }
  const double efficiency = f.cc_least < 90 ? 0 : f.cc_least < 100 ? .85 : .74;
  const double inside = in * efficiency * (C - 1) / C * (kind == "all_reduce" ? 2 : (ppn - 1) / ppn);
  const double between = net * (a == "nvls-tree" && N <= 2 ? 2 : 1);
  const double w =
      std::min(std::min(inside, between), a == "nvls-tree" ? ceiling("nvls-tree", f, s) : kNever);
  return kind == "all_reduce" ? C * w * n / (2 * (n - 1)) : C * w;
}

double collnet_bandwidth(const std::string& kind, const std::string& a, const GroupFacts& f,
                         const NcclGraphs& g) {
  const double ppn = static_cast<double>(f.ranks) / f.hosts;
  if (a == "collnet-chain")
    return static_cast<double>(g.collnet_chain.channels) * g.collnet_chain.intra_GBps / 2;
  const double C = static_cast<double>(g.collnet_direct.channels);
  if (kind != "all_reduce")
    return ppn * std::min(g.collnet_direct.intra_GBps, .9 * g.collnet_direct.inter_GBps);
  double factor = ppn / C;
  factor -= (factor - 1) / 2;
  return C * g.collnet_direct.intra_GBps / factor * (f.cc_least >= 90 ? .85 : 1) / 2;
}

double bandwidth(const std::string& kind, const std::string& a, const std::string& p, const GroupFacts& f,
                 const NcclSettings& s, const NcclGraphs& g) {
  if (a == "nvls" || a == "nvls-tree") return nvls_bandwidth(kind, a, f, s, g);
  if (a == "collnet-direct" || a == "collnet-chain") return collnet_bandwidth(kind, a, f, g);
  const double n = f.ranks, N = f.hosts;
  const NcclGraph& graph = a == "tree" ? g.tree : g.ring;
  const double C = static_cast<double>(graph.channels);
  double bus = C * (N <= 2 ? graph.intra_GBps : graph.inter_GBps);
  if (a == "ring" && p == "LL") bus = std::min(ll_most(f), bus / 2);
  if (a == "ring" && p == "LL128") bus = std::min(.92 * bus, C * ceiling("ring LL128", f, s));
  if (a == "tree") bus = std::min(.92 * bus, C * ceiling("tree", f, s));
  if (a == "tree" && p == "LL") bus = std::min(bus / 3.8, ll_most(f));
  if (a == "tree" && p == "LL128")
    bus = std::min(bus * (N == 1 ? 7.0 / 9 : 120.0 / 128), C * ceiling("tree LL128", f, s));
  if (a == "tree" && N > 1 && f.local_least == 1) bus *= .85;
  if (a == "tree") return bus / 2;
  if (a == "pat") return bus * (before(s, 24) ? .85 : .75);
  if (kind == "all_reduce") return bus * n / (2 * (n - 1));
  if (kind == "all_gather" || kind == "reduce_scatter") return bus * n / (n - 1);
  return bus;
}

bool has_ll128(const GroupFacts& f, const NcclSettings& s) {
  const bool new_rules = !before(s, 29, 7);
  if (f.cc_least < 70) return false;
  if (f.cc_least != f.cc_most && !(new_rules && f.cc_least >= 90)) return false;
  if (f.local_most > 1 && f.intra_path > PathType::kNvb) return false;
  if (f.hosts == 1) return true;
  if (new_rules && f.inter_path == PathType::kP2c) return false;
  return f.cc_least >= 90 ? f.inter_path <= PathType::kPxn : f.inter_path <= PathType::kPxb;
}

bool has(const std::string& kind, const std::string& a, const std::string& p, const GroupFacts& f,
         const NcclSettings& s, const NcclGraphs& g) {
  const bool ar = kind == "all_reduce", gather = kind == "all_gather" || kind == "reduce_scatter";
  const bool collnet = f.hosts > 1 && f.in_network_reduction && s.collnet.value_or(false);
  const bool nvls = f.cc_least >= 90 && f.nvswitch && f.intra_path <= PathType::kNvl && f.local_least >= 2 &&
                    s.nvls.value_or(true) && g.nvls.channels >= 2;
  const bool heads = f.local_most <= g.collnet_direct.channels;
  if (p != "Simple" && a != "ring" && a != "tree") return false;
  if (p == "LL128" && !has_ll128(f, s)) return false;
  if (a == "ring") return true;
  if (a == "tree") return ar;
  if (a == "pat") return gather && !before(s, 23) && f.ranks == f.hosts && f.cc_least >= 60;
  if (a == "nvls-tree") return ar && nvls && f.hosts > 1 && !before(s, 18);
  if (a == "nvls" && f.hosts == 1) return nvls && (ar || (gather && f.local_most <= 32));
  if (a == "nvls") return nvls && collnet && (ar || (gather && heads && f.local_most <= g.nvls.channels));
  if (a == "collnet-chain") return ar && collnet && f.local_most <= 8;
  return collnet && f.nvswitch && f.local_most <= 8 && g.collnet_direct.channels > 0 &&
         (ar || (gather && heads));
}

}  // namespace

Table table(const std::string& kind, bool fp8, const GroupFacts& f, const NcclSettings& s,
            const NcclGraphs& g) {
  Table t;
  for (const std::string a : {"tree", "ring", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat"})
    for (const std::string p : {"LL", "LL128", "Simple"}) {
      if (!has(kind, a, p, f, s, g)) continue;
      Cell cell = {latency(kind, a, p, f, s, g), bandwidth(kind, a, p, f, s, g)};
      const bool reduces = kind == "all_reduce" || kind == "reduce_scatter" || kind == "reduce";
      if (fp8 && reduces && (a == "nvls" || a == "nvls-tree")) continue;  // no 8-bit sums in the switch
      if (fp8 && reduces && f.ranks > 8 && a == "ring") cell.latency *= 1024, cell.bandwidth /= 1024;
      t[a + " " + p] = cell;
    }
  return t;
}

double time(const std::string& kind, const std::string& name, const Cell& cell, long long bytes,
            const GroupFacts& f, const NcclSettings& s, const NcclGraphs& g) {
  std::map<std::string, std::string> correction = {
      {"LL", "1 1 1 1 .9 .8 .7 .7 .7 .7 .6 .5 .4 .4 .5 .6 .7 .8 .9 1 1 1 1 1 "},
      {"LL128", "1 1 1 1 1 .9 .8 .8 .8 .7 .6 .6 .6 .6 .6 .6 .8 .9 .9 .9 .9 1 1 1 "},
      {"Simple", ".9 .9 .9 .9 .9 .9 .9 .8 .7 .6 .6 .5 .5 .5 .5 .6 .7 .8 .7 .7 .8 .9 .9 .9 "}};
  double L = cell.latency, B = cell.bandwidth;
  const bool ar = kind == "all_reduce", new_rules = !before(s, 29, 7);
  const bool x86 = f.cpu == CpuVendor::kIntel || f.cpu == CpuVendor::kAmd;
  const bool corrected =
      name.starts_with("tree ") || (name.starts_with("nvls-tree ") && new_rules && f.cc_least >= 100 && x86);
  if (ar && corrected && bytes >= 64) {
    std::string words = correction[name.substr(name.find(' ') + 1)];
    double index = lg(std::floor(static_cast<double>(bytes) / 64));
    if (index <= (new_rules ? 23 : 22)) {
      for (; index > 0; --index) words = words.substr(words.find(' ') + 1);
      B *= std::stod(words);
    }
  }
  const double per_rank = static_cast<double>(bytes) / (static_cast<double>(g.channels) * f.ranks);
  if (ar && name == "ring Simple" && f.hosts > 1 && per_rank >= 64) L *= f.cc_least < 80 ? 1.9 : 1.4;
  return L + static_cast<double>(bytes) / (1000 * B);
}

}  // namespace busbar::twin
