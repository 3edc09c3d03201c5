// The command line of `plan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace busbar {

struct PlanOptions {
  std::string study;  // file; "": the short form below
  std::string model, host_type, gpus, fabric, price, power, tokens;
  std::int64_t global_batch = 0, sequence = 0;
  std::vector<std::string> sets;    // key=value of the study
  std::vector<std::string> sweeps;  // key=list
  std::string goal;                 // time=30d,budget=5e6USD
  std::string calibration = "default";
  std::string database;              // SQLite file; "": none
  std::vector<std::string> outputs;  // -o: .html, .md, .csv or .json by the name's end
  std::string html, json, markdown, csv;
  std::string list;
  std::int64_t threads = 0, simulate = 0, top = 10;
  std::uint64_t seed = 1;
  bool init = false, quiet = false;
};

/// nullopt when the line was answered (--help, --version); exit code in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values, neither a study nor a whole short form.
[[nodiscard]] std::optional<PlanOptions> parse_plan(int argc, const char* const* argv, int& exit_code);

}  // namespace busbar
