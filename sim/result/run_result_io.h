// busbar.result/1 and busbar.sweep/1.
#pragma once

#include <string>

#include "sim/base/json_reader.h"
#include "sim/result/run_result.h"
#include "sim/result/sweep.h"

namespace busbar {

/// Base units in every key (`_s`, `_bytes`, `_Bps`, `_flops`). Identical for identical input, but for
/// "engine".
[[nodiscard]] std::string write_result(const RunResult& result);
[[nodiscard]] std::string write_sweep(const Sweep& sweep);

/// What a comparison needs of an older file. Either form is accepted; keys that this version does not know
/// are skipped, so that results of later versions can be compared too.
struct OldResult {
  std::string name;  // of the file
  std::string cluster;
  std::vector<std::pair<std::string, double>> times_s;  // of a step: step_time_s, compute_s, ...
  std::string operation;                                // of a sweep
  std::vector<ComparedSweep::Row> rows;
  [[nodiscard]] bool is_sweep() const { return !rows.empty(); }
  /// "8 x DGX A100 (old.json)".
  [[nodiscard]] std::string title() const { return cluster.empty() ? name : cluster + " (" + name + ")"; }
};
[[nodiscard]] OldResult read_old_result(const JsonDocument& document);

/// The parts of a step in the order and under the names of the file: step_time_s, compute_s, exposed_..., ...
[[nodiscard]] std::vector<std::pair<std::string, double>> times_of(const RunResult& result);

}  // namespace busbar
