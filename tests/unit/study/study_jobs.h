// Small machines and jobs for tests of the planner, in the input language.
#pragma once

#include <fmt/format.h>

#include <string>

#include "sim/replay/host_ranks.h"
#include "sim/study/search.h"
#include "topologies/topology_io.h"
#include "workloads/workload_io.h"

namespace busbar {

inline Topology hosts_of(const std::string& type, int count,
                         const std::string& fabric = R"("family": "rail-optimized")") {
  const std::string text = fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "test", "hosts": {{"count": {}, "type": "{}"}}, "fabric": {{{}}}}})",
      count, type, fabric);
  return read_topology(JsonDocument::parse(text, "topology"), 1);
}

inline Workload job_of(const std::string& model, const std::string& batch, const std::string& more = "") {
  const std::string text =
      fmt::format(R"({{"schema": "busbar.workload/1", "model": {}, "batch": {}, "parallel": {{"dp": 1}}{}}})",
                  model, batch, more);
  return read_workload(JsonDocument::parse(text, "workload"));
}

/// Eight narrow blocks: many layouts, each simulated in milliseconds.
inline const std::string kSmallModel =
    R"({"layers": 8, "hidden": 1024, "ffn_hidden": 4096, "heads": 8, "kv_heads": 8, "head_dim": 128, "vocab": 32000})";
inline const std::string kSmallExperts =
    R"({"layers": 6, "hidden": 1024, "ffn_hidden": 4096, "heads": 8, "kv_heads": 8, "head_dim": 128, "vocab": 32000,
        "experts": 8, "top_k": 2, "expert_ffn_hidden": 1024, "dense_layers": 1})";

inline SearchProblem problem_of(const Topology& topology, const Profile& profile, Workload base) {
  SearchProblem problem{.topology = &topology, .profile = &profile, .base = std::move(base)};
  problem.base.parallel.host_ranks = host_ranks_of(topology);
  return problem;
}

/// Everything that this program knows to run.
inline SearchSpace whole_space() {
  SearchSpace space;
  space.sharding = {Sharding::kNone, Sharding::kZero1, Sharding::kZero2,      Sharding::kZero3,
                    Sharding::kFsdp, Sharding::kHsdp,  Sharding::kDistributed};
  space.recompute = {Recompute::kNone, Recompute::kSelective, Recompute::kFull};
  space.schedules = {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b, PipelineSchedule::kInterleaved,
                     PipelineSchedule::kZeroBubbleH1, PipelineSchedule::kZeroBubble2p};
  space.least_context_tokens = 128;
  return space;
}

}  // namespace busbar
