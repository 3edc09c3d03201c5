// busbar.workload/1: model, batch, layout, precision.
#pragma once

#include <span>
#include <string_view>

#include "sim/base/json_reader.h"
#include "workloads/workload.h"

namespace busbar {

/// Errors (Error, kInput): everything the format forbids, with its place; what this version does not model
/// yet, by name (tensor parallelism, recomputation, ...): never ignored.
[[nodiscard]] Workload read_workload(const JsonDocument& document);
[[nodiscard]] std::span<const std::string_view> workload_keys();

}  // namespace busbar
