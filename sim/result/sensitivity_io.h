// "sensitivity" of busbar.result/1 and busbar.study-result/1.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/result/run_result.h"

namespace busbar {

/// Only where there are any.
void add_sensitivity(nlohmann::ordered_json& j, const std::vector<SensitivityRecord>& records);

}  // namespace busbar
