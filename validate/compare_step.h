// A measured step beside the predicted one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/result/measured_step.h"
#include "sim/result/run_result.h"
#include "sim/result/validation.h"
#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

/// What is predicted, and for which settings.
struct PredictedStep {
  RunResult result;
  std::vector<std::pair<CollectiveKind, Bytes>> calls;  // of rank 0, as it issues them
  std::map<std::string, std::int64_t> settings;  // "gpus", "batch.global", ... as far as the input has them
};

/// The collectives of the program of rank 0 in order, `repeat` left out.
[[nodiscard]] std::vector<std::pair<CollectiveKind, Bytes>> calls_of(const StepTrace& trace);
/// In the words of MeasuredSetting.
[[nodiscard]] std::map<std::string, std::int64_t> settings_of(const Workload& workload);

/// Parts of a step below this share of it are shown and not compared: their relative error says nothing.
inline constexpr double kSmallestPart = 0.01;
/// Sizes of one collective that differ by less are taken for the same: padding of buckets and shards.
inline constexpr double kSameSize = 0.01;

/// Rows: step time, compute, communication, exposed communication and that of each group, waiting, bubble,
/// idle, each class of collectives by size. Where the measurement does not tell waiting from transfer,
/// exposed communication is compared together with waiting and bubble on both sides. Parts are means over the
/// ranks that were measured where `rank_splits` has them, else of the rank that ends last. What one side
/// lacks is listed. Settings that contradict the workload are noted. A measurement of tokens/s is turned into
/// a step time by the workload's tokens. Errors (Error, kInput): neither a time nor a rate that the workload
/// can turn into one.
[[nodiscard]] Validation compare_step(const MeasuredStep& measured, const PredictedStep& predicted);

}  // namespace busbar
