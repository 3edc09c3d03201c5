// The searches that a study consists of.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/replay/host_ranks.h"
#include "sim/result/version.h"
#include "sim/study/study.h"
#include "sim/study/sweep.h"
#include "topologies/topology_io.h"

namespace busbar {

namespace {

constexpr std::int64_t kFinest = 64;       // parts of a listed size that those up to the next differ by
constexpr std::int64_t kMostSizes = 1024;  // of a cluster

std::string with_hosts(const std::string& topology, std::int64_t hosts) {
  auto json = nlohmann::ordered_json::parse(topology);
  json["hosts"]["count"] = hosts;
  return json.dump();
}

/// What all cells of one point of the sweeps share.
struct Point {
  const StudySpec& spec;
  const std::string& name;
  const Profile& profile;
  const std::string& profile_key;
};

Cell cell_of(const Point& point, const ClusterSpec& cluster, std::int64_t gpus, bool weak) {
  const StudySpec& spec = point.spec;
  Cell cell;
  cell.name = cluster.name;
  cell.variant = point.name;
  cell.scaling = weak ? "weak" : "strong";
  cell.topology_text = with_hosts(cluster.topology, gpus / cluster.gpus_per_host);
  cell.constraints = spec.constraints;
  cell.simulate = spec.simulate;
  cell.topology = std::make_unique<Topology>(
      read_topology(JsonDocument::parse(cell.topology_text, cluster.name + " (topology)"), spec.seed));
  SearchProblem& p = cell.problem;
  p.topology = cell.topology.get();
  p.profile = &point.profile;
  p.base = spec.base;
  p.base.seed = spec.seed;
  p.base.parallel.host_ranks = host_ranks_of(*cell.topology);
  if (weak) p.base.batch.global = spec.base.batch.global * gpus / cluster.gpus.front();
  p.space = spec.space;
  cell.inputs = {.size = size_of(*cell.topology),
                 .prices = cluster.prices,
                 .failures = spec.failures,
                 .tokens = spec.tokens,
                 .parameters = static_cast<double>(parameter_count(spec.base.model)),
                 .seed = spec.seed};
  cell.key = fmt::format("{}|{}|{}|{}|{}|{}", kModelVersion, point.profile_key, cell.topology_text,
                         spec.workload, p.base.batch.global, spec.seed);
  return cell;
}

// Whole hosts between the smallest and the largest listed size, and the listed ones.
std::vector<std::int64_t> sizes_of(const StudySpec& spec, const ClusterSpec& cluster, bool weak) {
  if (weak || !spec.constraints.given()) return cluster.gpus;
  std::vector<std::int64_t> sizes;
  const std::int64_t unit = cluster.gpus_per_host;
  for (std::size_t i = 0; i < cluster.gpus.size(); ++i) {
    sizes.push_back(cluster.gpus[i]);
    if (i + 1 == cluster.gpus.size()) break;
    const std::int64_t step = std::max<std::int64_t>(1, cluster.gpus[i] / unit / kFinest) * unit;
    for (std::int64_t gpus = cluster.gpus[i] + step; gpus < cluster.gpus[i + 1]; gpus += step)
      if (std::ssize(sizes) < kMostSizes && divides_evenly(spec.base, spec.space, gpus))
        sizes.push_back(gpus);
  }
  return sizes;
}

bool is_listed(const ClusterSpec& cluster, std::int64_t gpus) {
  return std::find(cluster.gpus.begin(), cluster.gpus.end(), gpus) != cluster.gpus.end();
}

}  // namespace

std::vector<Cell> cells_of(const JsonDocument& study, const StudySpec& whole, const Profile& profile,
                           const std::string& profile_key) {
  std::vector<Cell> cells;
  const std::vector<StudyPoint> points = sweep_points(study, whole.sweeps);
  for (const StudyPoint& point : points) {
    StudySpec spec = read_study(point.study);
    spec.seed = whole.seed;
    const Point shared{spec, point.name, profile, profile_key};
    for (const ClusterSpec& cluster : spec.clusters)
      for (const bool weak : {false, true})
        for (const std::int64_t gpus : sizes_of(spec, cluster, weak))
          if ((weak && spec.weak && cluster.gpus.size() > 1) || (!weak && spec.strong)) {
            cells.push_back(cell_of(shared, cluster, gpus, weak));
            cells.back().between = !is_listed(cluster, gpus);
          }
  }
  return cells;
}

}  // namespace busbar
