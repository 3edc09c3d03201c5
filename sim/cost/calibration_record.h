// What a calibration leaves in a profile beside its numbers: intervals, draws, and what was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"

namespace busbar {

/// How a number came to be, and where it may lie. `name` is that of `parameters(Profile&)`.
struct CalibratedValue {
  std::string name;
  double low = 0, high = 0;  // 95 % interval, in the unit of the number; equal: not known
  std::string origin;  // "fitted": from times of operations; "measured": by itself; "derived": follows a
                       // fitted one; "default": kept, and then the interval is the one that fits start from
  std::int64_t rows = 0;  // measurements that it depends on
};

/// Sizes of one operation that were measured on groups of one shape.
struct CalibratedRange {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  std::int64_t ranks = 0, hosts = 1;
  std::string links;  // the transports inside a host and between hosts: "nvlink", "nvlink+rdma", "rdma"
  Bytes least, most;
};

/// Of a profile that `calibrate` wrote; all empty in the built-in ones.
struct CalibrationRecord {
  std::string source;
  std::vector<std::string> created_from;   // "log.txt 0123456789abcdef": files and digests
  std::vector<CalibratedValue> values;     // every other number is a default of which nothing was measured
  std::vector<std::vector<double>> draws;  // bootstrap: per draw a number for each of `values`
  std::vector<CalibratedRange> ranges;
  /// GPUs of the step that kernels inside a step were measured by (validate --solve compute-efficiency);
  /// none: no step was. On more of them the slowest is slower (slowest_gpu.h).
  std::optional<std::int64_t> step_gpus;
  std::optional<double> fit_median, cross_validated_median;  // of |predicted / measured - 1|; none: not known
  [[nodiscard]] bool empty() const { return values.empty() && ranges.empty(); }
};

}  // namespace busbar
