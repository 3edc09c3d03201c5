// "explanations" of busbar.result/1 and busbar.sweep/1.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/result/explanation.h"

namespace busbar {

/// Only where explanations were asked for.
void add_explanations(nlohmann::ordered_json& j, const std::vector<Explanation>& explanations);

}  // namespace busbar
