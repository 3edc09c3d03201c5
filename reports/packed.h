// The long lists of a step, small enough for a page.
#pragma once

#include <string>

#include "sim/result/run_result.h"

namespace busbar {

/// Entries of all timelines together that a page takes: about 10 bytes each, so that 3 MB hold them.
inline constexpr std::size_t kMostEntries = 300000;

/// Timeline and critical path as compressed JSON in base64. Per rank class the names stand once and the
/// entries in columns of integers; times are picoseconds, from the end of the stream's previous entry to the
/// arrival ("gap"), to the start ("wait"), to the end ("length"). reports/web/src/packed.js reads it.
/// Of more than `most` entries whole rank classes are left out, spread evenly, the first and last kept; "of"
/// is how many classes there are.
[[nodiscard]] std::string packed_lists(const RunResult& result, std::size_t most = kMostEntries);

}  // namespace busbar
