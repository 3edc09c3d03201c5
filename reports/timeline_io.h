// A timeline in Chrome's trace event format, which ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <string>

#include "sim/result/timeline.h"

namespace busbar {

/// {"traceEvents": [...]}. One process per rank shown, one thread per stream; an operation is a complete
/// event with what is known of it as arguments, the time from its arrival to its start one called "wait"
/// before it; messages are flows; the load of the busiest link of each class is a counter of the process
/// "links". Times are in us with all digits of the picosecond, so that durations add up exactly. Source:
/// "Trace Event Format", Google, 2016.
[[nodiscard]] std::string write_timeline(const Timeline& timeline);

}  // namespace busbar
