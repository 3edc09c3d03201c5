// The `model` key of busbar.workload/1.
#pragma once

#include <string>

#include "sim/base/json_reader.h"
#include "workloads/model_spec.h"

namespace busbar {

/// A preset or a Hugging Face config, each with any dimension beside it that replaces its own; a transformer
/// by its dimensions; or a list of parameters. `folder`: of the workload's file, where a config is looked
/// for;
/// "" for a workload that is not a file's.
/// Errors: dimensions that do not fit each other; more than 2^63 parameters; what is not modelled yet, by
/// name.
[[nodiscard]] ModelSpec read_model(const JsonValue& value, const std::string& folder = "");

}  // namespace busbar
