// The command line of `validate --solve`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/raw_table.h"
#include "sim/base/units.h"

namespace busbar {

struct SolveOptions {
  std::vector<std::string> parameters;  // at least one; "all": whatever single change closes the gap
  std::string topology, workload;
  std::vector<std::string> sets;           // "key.path=value"
  std::vector<std::string> measured;       // files; or one of the next two
  ImportHints hints;                       // for files that do not say
  std::optional<Time> step_time;           // of one step
  std::optional<double> tokens_per_s_gpu;  // the same as a rate
  double tolerance = 0.02;                 // of a measurement without percentiles
  std::string calibration = "default";
  std::string output;  // profile
  std::string json;
  std::uint64_t seed = 1;
  bool quiet = false;
};

/// Whether the line has --solve: it is a program of its own.
[[nodiscard]] bool solve_asked(int argc, const char* const* argv);

/// nullopt when the line was answered (--help, --version); exit code in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values, combinations that make no sense.
[[nodiscard]] std::optional<SolveOptions> parse_solve(int argc, const char* const* argv, int& exit_code);

}  // namespace busbar
