// The command line of `simulate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/units.h"
#include "sim/cost/cost_model.h"

namespace busbar {

struct SimulateOptions {
  std::string topology, workload;
  std::string calibration = "default";
  std::vector<std::string> sets;  // "key.path=value"
  std::optional<CollectiveKind> collective;
  std::vector<Bytes> sizes;
  std::optional<std::string> ranks;  // as given; read against the topology
  DataType type = DataType::kFp32;
  Reduction reduction = Reduction::kSum;
  Overrides overrides;
  std::vector<std::string> compare;  // earlier results
  std::string json, html, csv, markdown, dump_trace, dump_topology;
  std::string trace;                       // timeline file
  std::optional<std::string> trace_ranks;  // as given; read against the step
  bool explain = false;
  bool no_symmetry = false;
  bool no_interval = false;
  bool sensitivity = false;
  std::string list;
  bool quiet = false;
  std::uint64_t seed = 1;
  std::uint32_t root = 0;
  bool chunks = false;                         // --detail chunk
  std::string env, tuner, nccl_log, measured;  // files
  std::optional<NcclVersion> nccl_version;     // absent: the log's, else the newest
  CallStyle calls;
  bool registered_buffers = false;
  bool isolated = false;
  bool sizes_given = false;  // else they may be those of --measured
};

/// nullopt when the line was answered (--help, --version); exit code in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values, combinations that make no sense.
[[nodiscard]] std::optional<SimulateOptions> parse_simulate(int argc, const char* const* argv,
                                                            int& exit_code);

/// "8:8G:2" (from, to, factor above 1), "1G", or a comma list of these. K, M, G are powers of 1024, as in
/// nccl-tests. Errors (Error, kInput): factor not above 1, from above to, over 10^6 sizes in all.
[[nodiscard]] std::vector<Bytes> parse_sizes(std::string_view text);

/// "0-7", "0-15:2", "3", or a comma list of these, in that order.
/// Errors (Error, kInput): not ranks; a rank of `available` or more; a rank twice.
[[nodiscard]] std::vector<std::uint32_t> parse_ranks(std::string_view text, std::uint32_t available,
                                                     const std::string& option = "--ranks");

}  // namespace busbar
