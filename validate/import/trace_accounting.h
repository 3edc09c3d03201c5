// Where the time of one rank went in one step of a trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "validate/import/trace_events.h"

namespace busbar {

/// A communication with the moment from which data moved: before it, it waited for another member.
struct TimedCommunication {
  TraceSpan span;
  std::int64_t transfer = 0;  // in span
  bool for_peer = false;      // a send or receive: waiting is bubble
  std::uint32_t group = 0;    // of what the caller numbers
};

/// Nanoseconds. compute + exposed + waiting + bubble + idle are the window exactly.
struct StepAccount {
  std::int64_t compute = 0, communication = 0, exposed = 0, waiting = 0, bubble = 0, idle = 0;
  std::vector<std::int64_t> exposed_by_group;
};

/// Sorted spans that do not touch, which cover the same.
[[nodiscard]] std::vector<TraceSpan> union_of(std::vector<TraceSpan> spans);

/// By the precedence of a simulation's result: a kernel runs; a transfer is under way (the group of the
/// earliest is charged); a member is waited for; a peer is; none. Requires: kernels is a union_of,
/// communications are sorted by their beginning, groups are below `groups`.
[[nodiscard]] StepAccount account_of(TraceSpan window, std::span<const TraceSpan> kernels,
                                     std::span<const TimedCommunication> communications, std::size_t groups);

}  // namespace busbar
