// A sweep beside measurements.
#pragma once

#include <span>

#include "sim/result/measurement.h"
#include "sim/result/sweep.h"

namespace busbar {

/// predicted / measured - 1 at one size.
struct SizedError {
  Bytes size;
  double error = 0;
};

/// Median, mean, bias and worst of the errors at sizes of 1 KiB and more; the smaller ones are counted. The
/// median of an even number is the mean of the middle two. Ties of the worst: the first.
[[nodiscard]] ErrorSummary summary_of(std::span<const SizedError> errors);

/// Puts what `table` measured beside the rows of its sizes (both rounded down to whole elements per rank, as
/// the sweep does), and says in notes where it was measured otherwise than predicted.
/// Errors (Error, kInput): no size in common.
void compare_with(Sweep& sweep, const MeasuredTable& table);

}  // namespace busbar
