// The command line of `calibrate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/raw_table.h"
#include "sim/cli/nccl_inputs.h"

namespace busbar {

struct CalibrateLine {
  std::vector<std::string> from;        // measured files
  std::string topology, output;         // -o
  ImportHints hints;                    // --collective, --ranks
  std::string calibration = "default";  // that the fit starts from
  std::string show, compare;            // profiles
  bool check = false;                   // --check: health
  double tolerance = 0.15;              // of --check
  bool cross_validate = true;
  NcclFiles nccl;            // --env, --tuner, --nccl-log, --nccl-version
  std::int64_t threads = 0;  // 0: one per core
  std::string name;          // of the profile
  std::string json, html, csv, markdown;
  std::uint64_t seed = 0;
  bool quiet = false;
};

/// nullopt when the line was answered (--help, --version); exit code in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values, combinations that make no sense.
[[nodiscard]] std::optional<CalibrateLine> parse_calibrate(int argc, const char* const* argv, int& exit_code);

}  // namespace busbar
