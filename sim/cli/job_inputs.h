// The two files that say what runs where, with --set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/json_reader.h"

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

/// Whether it is a busbar.trace/1. Errors (Error, kInput): nor a busbar.workload/1.
[[nodiscard]] bool is_trace(const JsonDocument& document);

}  // namespace busbar
