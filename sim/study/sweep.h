// Points of a grid of inputs, and what grows along them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/base/json_reader.h"
#include "sim/result/study.h"

namespace busbar {

using SweepAxis = std::pair<std::string, std::vector<std::string>>;  // key, values as in --set

/// "fabric.oversubscription=1,2,4". Errors (Error, kInput): no '=', no value.
[[nodiscard]] SweepAxis parse_sweep(const std::string& text);

struct StudyPoint {
  std::string name;  // "fabric.oversubscription=2"; "" without axes
  JsonDocument study;
};
/// Every combination, the last axis fastest. A key that begins with "fabric" or "hosts" is one of every
/// cluster's topology, one that begins with a key of busbar.workload/1 one of the workload; others are the
/// study's own. Errors (Error, kInput): more than 10^6 points.
[[nodiscard]] std::vector<StudyPoint> sweep_points(const JsonDocument& study,
                                                   const std::vector<SweepAxis>& axes);

/// `study` with one key set, by the rule above.
[[nodiscard]] JsonDocument with_key(const JsonDocument& study, const std::string& key,
                                    const std::string& value);

/// Throughput over GPUs by cluster, variant and scaling; clusters of one size have none. The knee is the last
/// count up to which every step brought at least half of what its GPUs could at the efficiency of the
/// smallest.
[[nodiscard]] std::vector<ScalingCurve> scaling_curves(const std::vector<ClusterRecord>& clusters);

}  // namespace busbar
