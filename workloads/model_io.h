// The `model` key of busbar.workload/1.
#pragma once

#include "sim/base/json_reader.h"
#include "workloads/model_spec.h"

namespace busbar {

/// A preset, a transformer by its dimensions, or a list of parameters.
/// Errors: dimensions that do not fit each other; more than 2^63 parameters; what is not modelled yet
/// (hf_config, experts, latent attention, windows), by name.
[[nodiscard]] ModelSpec read_model(const JsonValue& value);

}  // namespace busbar
