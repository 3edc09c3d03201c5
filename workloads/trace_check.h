// What the parts of a trace must be to each other, once each is read.
#pragma once

#include "sim/base/json_reader.h"
#include "workloads/trace.h"

namespace busbar {

/// Sets trace.ranks. Errors, with their place in `root`: no rank; a rank bound twice or not at all.
void check_coverage(StepTrace& trace, const JsonValue& root);

/// Errors, with their place in `root`: a slowed rank that is not bound, or is slowed twice. Requires:
/// check_coverage.
void check_slowdowns(const StepTrace& trace, const JsonValue& root);

/// Errors, with their place in `root`: members beyond the ranks or listed twice; more than 16 x kMaxRanks
/// members in all; a rank that uses a group outside it; peers beyond the ranks, or a rank as its own peer;
/// sizes that do not divide by elements and members; roots beyond the members. Requires: check_coverage.
/// Cost: linear in ranks, members and operations x group sizes.
void check_trace(const StepTrace& trace, const JsonValue& root);

}  // namespace busbar
