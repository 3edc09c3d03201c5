// The command line of `validate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/raw_table.h"
#include "sim/base/units.h"
#include "validate/run_suites.h"

namespace busbar {

struct ValidateOptions {
  std::vector<const Suite*> suites;        // at least one, or else `own_suite`, `measured` or `solve`
  std::string own_suite;                   // a user's busbar.suite/1 file
  std::vector<std::string> measured;       // files
  std::string topology, workload;          // with `measured` and `solve`
  std::vector<std::string> sets;           // "key.path=value"
  ImportHints hints;                       // what measured tables do not say
  std::optional<double> tolerance;         // of an error, or of a measurement without percentiles: 0.1
  std::vector<std::string> solve;          // parameters; "all": whatever single change closes the gap
  std::optional<Time> step_time;           // of one step, with `solve` in place of `measured`
  std::optional<double> tokens_per_s_gpu;  // the same as a rate
  std::string output;                      // with `solve`: a profile
  std::uint64_t seed = 1;                  // with `solve`
  std::string calibration = "default";
  std::vector<std::string> filters;       // "column=value", each a column of every suite here
  std::string json, html, csv, markdown;  // files
  std::string data;                       // folder of the suites' tables; "": the installed one
  std::int64_t threads = 0, most_gpus = 0, every = 1, worst = 20;
  bool cross_validate = false;
  bool quiet = false;
};

/// nullopt when the line was answered (--help, --version); exit code in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values, combinations that make no sense.
[[nodiscard]] std::optional<ValidateOptions> parse_validate(int argc, const char* const* argv,
                                                            int& exit_code);

}  // namespace busbar
