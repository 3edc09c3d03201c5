// The files that say how NCCL is set up, and what was measured with it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli/simulate_options.h"
#include "sim/result/measurement.h"
#include "sim/result/run_result.h"

namespace busbar {

/// Of any program: the files that say how NCCL is set up; "": not given.
struct NcclFiles {
  std::string env, tuner, log;
  std::optional<NcclVersion> version;
  bool registered_buffers = false;  // which rules of the tuner's file match
};

/// --env, --tuner, --nccl-log and --nccl-version, read.
struct NcclInputs {
  Overrides overrides;                                        // the command line's, with NCCL's settings
  std::vector<std::pair<std::string, std::string>> settings;  // for the result: values, files and digests
  std::vector<Warning> warnings;
};

/// `start` with what the files say. Errors (Error, kInput): a file that cannot be read, or what its reader
/// says.
[[nodiscard]] NcclInputs load_nccl_files(const NcclFiles& files, const Overrides& start);

/// The files of a simulation, and what else its options warn of. Errors: as above.
[[nodiscard]] NcclInputs load_nccl_inputs(const SimulateOptions& options);

/// What --measured has for a group.
struct MeasuredSweep {
  MeasuredTable table;
  std::string digest;
};

/// The table of --collective on `ranks` ranks; of several, the first of --type, else the first.
/// Errors (Error, kInput): none is there (the message says what is); as above.
[[nodiscard]] MeasuredSweep load_measured(const SimulateOptions& options, std::size_t ranks);

/// The sizes of its rows, rising, each once.
[[nodiscard]] std::vector<Bytes> sizes_of(const MeasuredTable& table);

}  // namespace busbar
