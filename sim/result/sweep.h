// Single collectives over sizes, with nccl-tests' columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"
#include "sim/result/excerpt.h"
#include "sim/result/run_result.h"

namespace busbar {

/// What was measured at the size of a row: the median, where the source has it several times.
struct MeasuredPoint {
  Time time;
  double error = 0;    // predicted / measured - 1
  std::string choice;  // "ring/Simple/16" as far as the source says; may be empty
  bool agrees = true;  // with the row's algorithm, protocol and channels, as far as the source says
};

struct SweepRow {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  Bytes size;
  std::int64_t count = 0;  // elements as nccl-tests counts them: per rank for gathers and scatters
  Time time;
  std::optional<std::pair<Time, Time>> interval;  // 95 %, of a profile that has draws
  double algbw_Bps = 0, busbw_Bps = 0;
  std::string algorithm, protocol;
  std::int64_t channels = 0;
  std::string limit;  // the resource that bounds the rate, or what else does
  std::optional<MeasuredPoint> measured;
};

/// Errors over rows; those below `kSmallestCounted` are compared, but left out of all but `small`.
struct ErrorSummary {
  static constexpr Bytes kSmallestCounted{1024};
  std::size_t rows = 0, small = 0;
  double median_abs = 0, mean_abs = 0;
  double bias = 0;   // median with its sign
  double worst = 0;  // with its sign
  Bytes worst_size;
  std::size_t choices = 0, agreeing = 0;  // rows whose source names a choice
};

/// A sweep beside a table of measurements.
struct SweepComparison {
  std::string source;
  ErrorSummary summary;
};

/// What hardware carries at most by its datasheet: a line to hold busbw against.
struct LineRate {
  std::string what;  // "the NICs of a host"
  double rate_Bps = 0;
};

/// An earlier sweep of the same operation, of this or another system.
struct ComparedSweep {
  struct Row {
    Bytes size;
    double time_s = 0, busbw_Bps = 0;
    std::string algorithm, protocol;  // empty: not said
  };
  std::string name;
  std::vector<Row> rows;
};

struct Sweep {
  InputRecord inputs;
  std::string cluster_name;
  std::uint32_t ranks = 0, hosts = 0;
  DataType type = DataType::kFp32;
  Reduction reduction = Reduction::kSum;
  std::int32_t root = -1;
  std::vector<SweepRow> rows;
  std::optional<Excerpt> rows_excerpt;  // where these are not all
  std::vector<LineRate> line_rates;
  std::vector<ComparedSweep> compared;
  std::optional<Bytes> half_bandwidth_size;  // the smallest size that reaches half of the best busbw
  std::vector<ParameterRecord> parameters;
  std::optional<SweepComparison> comparison;
  std::vector<std::string> notes;  // what a reader of the figures should know
  std::vector<Warning> warnings;
  std::vector<Explanation> explanations;  // if asked for; by row
};

}  // namespace busbar
