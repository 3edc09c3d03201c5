// Single collectives over sizes, with nccl-tests' columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"
#include "sim/result/run_result.h"

namespace busbar {

struct SweepRow {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  Bytes size;
  std::int64_t count = 0;  // elements as nccl-tests counts them: per rank for gathers and scatters
  Time time;
  double algbw_Bps = 0, busbw_Bps = 0;
  std::string algorithm, protocol;
  std::int64_t channels = 0;
  std::string limit;  // the resource that bounds the rate, or what else does
};

struct Sweep {
  InputRecord inputs;
  std::string cluster_name;
  std::uint32_t ranks = 0, hosts = 0;
  DataType type = DataType::kFp32;
  Reduction reduction = Reduction::kSum;
  std::int32_t root = -1;
  std::vector<SweepRow> rows;
  std::optional<Bytes> half_bandwidth_size;  // the smallest size that reaches half of the best busbw
  std::vector<ParameterRecord> parameters;
  std::vector<Warning> warnings;
  std::vector<Explanation> explanations;  // if asked for; by row
};

}  // namespace busbar
