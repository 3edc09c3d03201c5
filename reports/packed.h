// The long lists of a step, small enough for a page.
#pragma once

#include <string>

#include "sim/result/run_result.h"

namespace busbar {

/// Timeline and critical path as compressed JSON in base64. Per rank class the names stand once and the
/// entries in columns of integers; times are picoseconds, from the end of the stream's previous entry to the
/// arrival ("gap"), to the start ("wait"), to the end ("length"). reports/web/src/packed.js reads it.
[[nodiscard]] std::string packed_lists(const RunResult& result);

}  // namespace busbar
