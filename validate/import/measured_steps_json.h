// The training steps of busbar.measured/1.
#pragma once

#include <vector>

#include "sim/base/json_reader.h"
#include "sim/result/measured_step.h"

namespace busbar {

/// The list `steps`: {"step_time_s", optional "p10_s", "p90_s", "settings", and all or none of "compute_s",
/// "communication_s", "exposed_communication_s", "straggler_wait_s", "bubble_s", "idle_s"}. Empty without
/// such a list. Settings are whole numbers: "gpus", "batch.global", ... Errors (Error, kInput) with the JSON
/// pointer.
[[nodiscard]] std::vector<MeasuredStep> read_measured_steps(const JsonDocument& document);

}  // namespace busbar
