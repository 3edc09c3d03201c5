// The searches that a study consists of.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/replay/host_ranks.h"
#include "sim/result/version.h"
#include "sim/study/study.h"
#include "sim/study/sweep.h"
#include "topologies/topology_io.h"

namespace busbar {

namespace {

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
        for (const std::int64_t gpus : cluster.gpus)
          if ((weak && spec.weak && cluster.gpus.size() > 1) || (!weak && spec.strong))
            cells.push_back(cell_of(shared, cluster, gpus, weak));
  }
  return cells;
}

}  // namespace busbar
