// busbar.workload/1: model, batch, layout, precision.
#pragma once

#include "sim/base/json_reader.h"
#include "workloads/workload.h"

namespace busbar {

[[nodiscard]] Workload read_workload(const JsonDocument& document);
[[nodiscard]] std::span<const std::string_view> workload_keys();

}  // namespace busbar
