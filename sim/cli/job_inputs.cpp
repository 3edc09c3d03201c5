#include "sim/cli/job_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sim/base/error.h"
#include "sim/cli/files.h"
#include "topologies/topology_io.h"
#include "workloads/trace_io.h"
#include "workloads/workload_io.h"

namespace busbar {

namespace {

bool has(std::span<const std::string_view> keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void apply_set(JobInputs& inputs, const std::string& set) {
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error({.where = "--set", .expected = "key.path=value", .given = quoted(set)});
  std::string path = set.substr(0, equals);
  const std::string value = set.substr(equals + 1);
  const auto take = [&](std::string_view prefix) {
    if (!path.starts_with(prefix)) return false;
    path.erase(0, prefix.size());
    return true;
  };
  const bool forced_topology = take("topology.");
  const bool forced_workload = !forced_topology && take("workload.");
  const std::string first = path.substr(0, path.find('.'));
  const auto workload = !inputs.workload             ? std::span<const std::string_view>{}
                        : is_trace(*inputs.workload) ? trace_keys()
                                                     : workload_keys();
  const bool in_topology = forced_topology || (!forced_workload && has(topology_keys(), first));
  const bool in_workload = forced_workload || (!forced_topology && has(workload, first));
  if (in_topology && in_workload)
    throw Error({.where = "--set",
                 .message = fmt::format("both files have {}; write topology.{} or workload.{}", quoted(first),
                                        path, path)});
  if (in_topology) {
    inputs.topology = inputs.topology.with(path, value);
  } else if (in_workload && inputs.workload) {
    inputs.workload = inputs.workload->with(path, value);
  } else {
    std::vector<std::string_view> known(topology_keys().begin(), topology_keys().end());
    known.insert(known.end(), workload.begin(), workload.end());
    throw Error({.where = "--set",
                 .message = fmt::format("no input has a key {}", quoted(first)),
                 .suggestion = did_you_mean(first, known)});
  }
}

}  // namespace

JobInputs load_job(const std::string& topology, const std::string& workload,
                   const std::vector<std::string>& sets) {
  JobInputs inputs;
  inputs.topology_path = find_input(topology, "topologies");
  inputs.topology = JsonDocument::load(inputs.topology_path);
  if (!workload.empty()) {
    inputs.workload_path = find_input(workload, "workloads");
    inputs.workload = JsonDocument::load(inputs.workload_path);
  }
  for (const std::string& set : sets) apply_set(inputs, set);
  return inputs;
}

LoadedStep load_step(const JobInputs& inputs, const Topology& topology, std::uint64_t seed) {
  return load_step(*inputs.workload, topology, seed);
}

void require_workload(const JobInputs& inputs, const std::string& where) {
  if (!inputs.workload)
    throw Error({.where = where,
                 .message = "a measured step needs the workload that it is of",
                 .suggestion = "give --workload FILE"});
}

}  // namespace busbar
