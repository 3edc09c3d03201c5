// Measured collectives beside predicted ones: those of a step, and tables of their own.
#pragma once

#include <optional>
#include <string>

#include "sim/cost/profile.h"
#include "sim/result/measured_step.h"
#include "sim/result/measurement.h"
#include "sim/result/validation.h"
#include "topologies/topology.h"
#include "validate/compare_step.h"

namespace busbar {

/// The kind of the model's groups that a measured group is one of: by its name, else the only kind there is,
/// else the only kind with as many ranks; "": cannot be told.
[[nodiscard]] std::string group_kind_of(const std::string& name, std::int64_t ranks,
                                        const RunResult& predicted);

/// Adds a row for each class of collectives of the same operation, size and group on both sides, and lists
/// what one side has alone. Calls whose size the measurement lacks take it from the predicted calls of their
/// operation, by position, where both sides make as many.
void compare_classes(Validation& validation, const MeasuredStep& measured, const PredictedStep& predicted);

/// Root mean square of ln(predicted / measured) over those classes; none where waiting is not told from
/// transfer, or no class is on both sides.
[[nodiscard]] std::optional<double> classes_error(const MeasuredStep& measured,
                                                  const PredictedStep& predicted);

/// Rows: each size from 1 KiB on of each table, predicted as the table was measured (type, calls, NCCL's
/// version where said). The tolerance is of the median of absolute errors. Errors (Error, kInput): a table
/// without ranks, or on more than the topology has.
[[nodiscard]] Validation compare_tables(const Measurement& measured, const Topology& topology,
                                        const Profile& profile);

}  // namespace busbar
