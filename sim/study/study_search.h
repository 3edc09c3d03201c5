// The parts of busbar.study/1 that say what to search and what fails.
#pragma once

#include <cstddef>

#include "sim/base/json_reader.h"
#include "sim/study/figures.h"
#include "sim/study/search_space.h"

namespace busbar {

/// "search". Returns how many layouts to simulate for each cluster.
[[nodiscard]] std::size_t read_search_space(const JsonValue& value, SearchSpace& space);

/// "failures".
[[nodiscard]] FailureSpec read_failures(const JsonValue& value);

}  // namespace busbar
