// The same call on several ranks: what of it was waiting, and what all calls of a kind take.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/result/measured_step.h"
#include "validate/import/trace_accounting.h"
#include "validate/import/trace_events.h"

namespace busbar {

struct MatchedCalls {
  std::vector<std::vector<TimedCommunication>> timed;  // by rank, sorted by beginning, in the steps asked for
  std::vector<MeasuredGroup> groups;                   // `exposed` is left to the caller
  std::vector<MeasuredCollective> collectives;         // those that take longest in all first
  bool separated = false;                              // each call was found on several ranks
  std::vector<std::size_t> differing;                  // steps in which the ranks' calls differ in number
  std::vector<std::string> notes;
};

/// Requires: resolve_calls of each trace; every trace has each of the steps.
[[nodiscard]] MatchedCalls match_calls(std::span<const RankTrace> traces,
                                       std::span<const std::int64_t> steps);

}  // namespace busbar
