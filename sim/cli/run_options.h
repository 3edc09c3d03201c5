// The command line of `calibrate --run`.
#pragma once

#include <optional>
#include <string>

#include "calibrate/run/run_settings.h"

namespace busbar {

struct RunOptions {
  std::string library;  // "nccl" or "mpi"
  RunSettings settings;
  std::string output = "measured.json";
  bool resume = false, quiet = false;
  double timeout_s = 60;       // of one batch
  std::string interface;       // of the network for what is said beside MPI and NCCL; "": the first
  std::string rendezvous;      // "HOST:PORT" or a folder, for processes without MPI; "": MPI, or alone
  std::string token;           // what all processes of one rendezvous were given
  std::int64_t processes = 1;  // at the rendezvous
  std::int64_t process = 0;
  std::int64_t gpus = 0;  // per process; 0: all visible ones alone, one with several processes
  bool cuda_graph = false;
};

/// nullopt when the line was answered (--help, --version); exit code in `exit_code`.
/// Errors (Error, kInput): unknown options, bad values.
[[nodiscard]] std::optional<RunOptions> parse_run(int argc, const char* const* argv, int& exit_code);

/// The value of --run where the line has one: the program that carries it out is another one.
[[nodiscard]] std::optional<std::string> run_asked(int argc, const char* const* argv);

/// Becomes calibrate-mpi or calibrate-nccl, which lies beside this program, with the same line: only they
/// link these libraries. Errors: no such library (kInput); built without it (kSystem).
[[noreturn]] void become_runner(const std::string& library, int argc, char** argv);

/// This process's number as the launcher gives it (Open MPI, PMI, PMIx, Slurm), and how many there are.
/// Source: the variables' own names in Open MPI's, MPICH's and Slurm's documentation.
struct LaunchedAs {
  std::int64_t process = 0, processes = 1;
};
[[nodiscard]] LaunchedAs launched_as();

}  // namespace busbar
