// busbar.trace/1 in and out.
#pragma once

#include <string>
#include <string_view>

#include "sim/base/json_reader.h"
#include "workloads/trace.h"

namespace busbar {

/// Errors (Error, kInput): everything the format forbids, each with its place: unknown stream names are fine (they make
/// a stream); unknown groups, slots, peers, programs; `after` naming a later or unknown operation; ids twice; a rank
/// bound twice or not at all, or outside its group; a member listed twice; sizes that do not divide by the group.
[[nodiscard]] StepTrace read_trace(const JsonDocument& document);
[[nodiscard]] std::string write_trace(const StepTrace& trace);
[[nodiscard]] std::span<const std::string_view> trace_keys();

}  // namespace busbar
