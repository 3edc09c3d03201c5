// Suites of measured collectives: tables, each with the machine and the call that it was measured on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/json_reader.h"
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

/// Where the files that a suite names lie.
struct SuitePlace {
  std::string folder;  // of the suite's file
  std::string system;  // of entries that name none
  /// Looks in the catalogue of a kind ("topologies", "workloads"); not set: only the folder counts.
  std::function<std::string(const std::string& name, std::string_view kind)> find;
};

/// The path of a file that an entry names: in the suite's folder, else in the catalogue. Errors (Error,
/// kInput): an absolute path, one with "..", nothing there.
[[nodiscard]] std::string named_file(const JsonValue& value, const SuitePlace& place, std::string_view kind);

/// The tables of a list of entries. What an entry leaves out is taken from its file: without an operation
/// every table of the file counts. Errors (Error, kInput): unknown keys, missing files, tables without rows.
[[nodiscard]] std::vector<SuiteTable> read_tables(const JsonValue& list, const SuitePlace& place);

/// The tables of a file of the schema busbar.suite/1. Errors: as above.
[[nodiscard]] std::vector<SuiteTable> read_suite(const std::string& index_path);

}  // namespace busbar
