// A list of which only some entries are here, in JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "sim/result/excerpt.h"

namespace busbar {

/// `name`_excerpt: { "of", "numbers" }, where there is one.
void add_excerpt(nlohmann::ordered_json& j, std::string_view name, const std::optional<Excerpt>& excerpt);

}  // namespace busbar
