// Suites of measured collectives: published tables, each with the machine and the call that it was measured
// on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"
#include "sim/cost/cost_model.h"

namespace busbar {

struct SuiteRow {
  Bytes size;
  double time_s = 0;
};

/// One table of a suite (validate/data/collectives/README.md says what each key of its file means).
struct SuiteTable {
  std::string file;           // "a100x8_sb_all_reduce.csv"
  std::string name;           // the file without ".csv", and what was selected from it
  std::string system;         // one machine or cluster: what cross-validation leaves out
  std::string machine_class;  // "nvswitch-host"
  CollectiveKind operation = CollectiveKind::kAllReduce;
  DataType type = DataType::kFp32;
  std::optional<std::string> topology;  // path; none: not documented
  std::vector<std::uint32_t> ranks;     // empty: all of the topology
  std::int64_t members = 0;
  Overrides overrides;
  CallStyle calls;
  bool launches_known = false;  // the file says how many GPUs a process drives
  bool registered_buffers = false;
  bool in_model = false;
  std::string why_not;
  bool duplicate = false;      // of a table that is already there, in another type
  std::vector<SuiteRow> rows;  // out of place (in place where only that was published), growing sizes
};

/// Errors (Error, kInput): unknown keys, missing files, tables without rows.
[[nodiscard]] std::vector<SuiteTable> read_suite(const std::string& index_path);

}  // namespace busbar
