// The two files that say what runs where, with --set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/json_reader.h"
#include "sim/study/load_step.h"
#include "topologies/topology.h"

namespace busbar {

struct JobInputs {
  JsonDocument topology;
  std::optional<JsonDocument> workload;
  std::string topology_path, workload_path;
};

/// Reads the files, found here or in the catalogues, and applies "key.path=value": the first key says which
/// file is meant; "topology." or "workload." before it settles a tie. `workload` may be "". Errors (Error,
/// kInput): a file that is in neither place, no key of either file, what the reader says.
[[nodiscard]] JobInputs load_job(const std::string& topology, const std::string& workload,
                                 const std::vector<std::string>& sets);

/// Requires: inputs.workload. Errors (Error, kInput): what the readers and expand() say.
[[nodiscard]] LoadedStep load_step(const JobInputs& inputs, const Topology& topology, std::uint64_t seed);

/// Errors (Error, kInput): `where`, a measured step, has no workload that it is of.
void require_workload(const JobInputs& inputs, const std::string& where);

}  // namespace busbar
