// What a file of a training step describes.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/json_reader.h"
#include "topologies/topology.h"
#include "workloads/workload.h"

namespace busbar {

/// A trace, or a workload and what it expands into.
struct LoadedStep {
  StepTrace trace;
  std::optional<Workload> workload;
};
/// Errors (Error, kInput): what the readers and expand() say.
[[nodiscard]] LoadedStep load_step(const JsonDocument& document, const Topology& topology,
                                   std::uint64_t seed);

/// Whether it is a busbar.trace/1. Errors (Error, kInput): nor a busbar.workload/1.
[[nodiscard]] bool is_trace(const JsonDocument& document);

}  // namespace busbar
