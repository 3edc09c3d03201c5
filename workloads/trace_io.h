// busbar.trace/1 in and out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/base/json_reader.h"
#include "workloads/trace.h"

namespace busbar {

/// A peer may also stand directly in `to` and `from` (3, "+1"): a slot bound to itself.
/// Errors (Error, kInput): everything the format forbids, each with its place: unknown stream names are fine
/// (they make a stream); unknown groups, slots, peers, programs; `after` naming a later or unknown operation;
/// ids twice; a rank bound twice or not at all, or outside its group; a member listed twice; sizes that do
/// not divide by the group; peers beyond the ranks. Not read yet: send_bytes and recv_bytes of a binding.
[[nodiscard]] StepTrace read_trace(const JsonDocument& document);
/// One operation a line. read_trace(write_trace(t)) equals t, assumptions and warnings included.
[[nodiscard]] std::string write_trace(const StepTrace& trace);
[[nodiscard]] std::span<const std::string_view> trace_keys();

}  // namespace busbar
