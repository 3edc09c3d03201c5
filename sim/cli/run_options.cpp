#include "sim/cli/run_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/unit_text.h"
#include "sim/cli/program.h"
#include "sim/cli/simulate_options.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  mpirun -n 4 calibrate --run mpi -o measured.json\n"
    "  calibrate --run nccl --budget 10m -o measured.json            (all GPUs of this host)\n"
    "  srun -N 4 --ntasks-per-node 8 calibrate --run nccl -o measured.json\n"
    "  mpirun -n 16 calibrate --run mpi --collective all_reduce,all_gather --groups hosts,all --resume";

constexpr std::string_view kLibraries[] = {"mpi", "nccl"};
constexpr std::int64_t kMostRepetitions = 1001, kMostProcesses = 1 << 16;

struct RawRun {
  std::vector<std::string> operations, groups;
  std::string sizes = "1K:64M:2", budget, timeout;
  bool not_isolated = false, no_kernels = false;
};

void declare_what(CLI::App& app, RunOptions& o, RawRun& raw) {
  app.add_option("--run", o.library, "measure here with: mpi, nccl")->required();
  app.add_option("--collective", raw.operations, "operations (default: all)")->delimiter(',');
  app.add_option("--groups", raw.groups,
                 "all, hosts (one rank of each), hosts:K, host:K (K ranks of a host), each-host, neighbours "
                 "(default: all,hosts,hosts:2,host:2,host:4,host:8)")
      ->delimiter(',');
  app.add_option("--sizes", raw.sizes, "FROM:TO:FACTOR; K, M, G are powers of 1024")->capture_default_str();
  app.add_option(
         "--algorithm", o.settings.algorithms,
         "force these, each in turn; own: the library's choice (default: own and all that can be forced)")
      ->delimiter(',');
  app.add_option("--protocol", o.settings.protocols, "force these: LL, LL128, Simple (NCCL)")->delimiter(',');
  app.add_flag("--in-place", o.settings.in_place, "in-place times as well");
  app.add_flag("--no-isolated", raw.not_isolated, "back-to-back times only");
  app.add_flag("--no-kernels", raw.no_kernels, "no copies, products and launches of single devices");
  app.add_flag("--cuda-graph", o.cuda_graph, "launch batches as CUDA graphs (NCCL)");
}

void declare_how(CLI::App& app, RunOptions& o, RawRun& raw) {
  app.add_option("-o,--output", o.output, "busbar.measured/1 to write; its journal lies beside it")
      ->capture_default_str();
  app.add_flag("--resume", o.resume, "go on from the journal of an earlier run");
  app.add_option("--budget", raw.budget, "stop by the clock, such as 10m or \"2 h\"");
  app.add_option("--timeout", raw.timeout, "a batch that takes longer is a hang (default 60s)");
  app.add_option("--repetitions", o.settings.repetitions, "batches whose median counts")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, kMostRepetitions));
  app.add_option("--gpus-per-process", o.gpus, "GPUs that one process drives (NCCL)")
      ->check(CLI::Range(1, 64));
  app.add_option(
      "--rendezvous", o.rendezvous,
      "where processes meet that no MPI joins: HOST:PORT of process 0, or a folder that all share");
  app.add_option("--token", o.token, "a word of this run, the same for all, with --rendezvous");
  app.add_option("--interface", o.interface, "network interface on which process 0 listens");
  app.add_flag("--quiet", o.quiet, "no progress and no summary");
}

// "10m", "90s" or "2 h": the unit "m" is minutes here.
double seconds_of(const char* option, const std::string& text) {
  const std::string spelled = text.ends_with('m') ? text + "in" : text;
  const Parsed<Time> parsed = parse_time(spelled);
  if (std::holds_alternative<UnitError>(parsed))
    throw Error({.where = option, .expected = "a time such as 10m, 90s or 2h", .given = quoted(text)});
  const double seconds = std::get<Time>(parsed).seconds();
  if (seconds <= 0) throw Error({.where = option, .expected = "a time above 0", .given = quoted(text)});
  return seconds;
}

void take(RunOptions& o, const RawRun& raw) {
  if (std::find(std::begin(kLibraries), std::end(kLibraries), o.library) == std::end(kLibraries))
    throw Error({.where = "--run",
                 .expected = one_of(kLibraries),
                 .given = quoted(o.library),
                 .suggestion = did_you_mean(o.library, kLibraries)});
  for (const std::string& name : raw.operations) o.settings.operations.push_back(collective_called(name));
  for (const std::string& name : raw.groups) o.settings.groups.push_back(parse_run_group(name, "--groups"));
  o.settings.sizes = parse_sizes(raw.sizes);
  o.settings.isolated = !raw.not_isolated;
  o.settings.kernels = !raw.no_kernels;
  if (!raw.budget.empty()) o.settings.budget_s = seconds_of("--budget", raw.budget);
  if (!raw.timeout.empty()) o.timeout_s = seconds_of("--timeout", raw.timeout);
}

void check(const RunOptions& o) {
  constexpr std::size_t kShortestToken = 8;
  if (o.output == "-" || o.output.empty())
    throw Error(
        {.where = "--output", .expected = "a file: its journal lies beside it", .given = quoted(o.output)});
  if (!o.rendezvous.empty() && o.token.size() < kShortestToken)
    throw Error({.where = "--token",
                 .expected = fmt::format("a word of at least {} letters with --rendezvous, the same for all "
                                         "processes and new for each run",
                                         kShortestToken),
                 .given = quoted(o.token)});
  if (o.library == "mpi" && (o.cuda_graph || o.gpus != 0 || !o.rendezvous.empty()))
    throw Error({.where = "command line",
                 .message = "--cuda-graph, --gpus-per-process and --rendezvous go with --run nccl"});
}

std::optional<std::int64_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc() && *end == '\0' && value >= 0 && value < kMostProcesses ? std::optional(value)
                                                                                      : std::nullopt;
}

}  // namespace

std::optional<RunOptions> parse_run(int argc, const char* const* argv, int& exit_code) {
  RunOptions options;
  RawRun raw;
  CLI::App app("Measures collectives on the machines it is started on.", "calibrate");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  declare_what(app, options, raw);
  declare_how(app, options, raw);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  take(options, raw);
  check(options);
  const LaunchedAs launched = launched_as();
  options.process = launched.process;
  options.processes = launched.processes;
  return options;
}

std::optional<std::string> run_asked(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--run=")) return std::string(word.substr(6));
    if (word == "--run" && i + 1 < argc) return std::string(argv[i + 1]);
  }
  return std::nullopt;
}

void become_runner(const std::string& library, int argc, char** argv) {
  if (std::find(std::begin(kLibraries), std::end(kLibraries), library) == std::end(kLibraries))
    throw Error({.where = "--run",
                 .expected = one_of(kLibraries),
                 .given = quoted(library),
                 .suggestion = did_you_mean(library, kLibraries)});
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string program = (self.parent_path() / ("calibrate-" + library)).string();
  BUSBAR_CHECK(argv[argc] == nullptr);
  ::execv(program.c_str(), argv);
  const bool missing = errno == ENOENT;
  throw Error(
      {.kind = ErrorKind::kSystem,
       .where = "--run " + library,
       .message = missing ? fmt::format("this build has no {} runner ({} is missing)", library, program)
                          : fmt::format("cannot start {}: {}", program, std::strerror(errno)),
       .suggestion = missing ? fmt::format("install {} and build again",
                                           library == "mpi" ? "an MPI (libopenmpi-dev)" : "CUDA and NCCL")
                             : ""});
}

LaunchedAs launched_as() {
  struct Names {
    const char *process, *processes;
  };
  static constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {"PMI_RANK", "PMI_SIZE"},
                                         {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const Names& names : kLaunchers) {
    const auto process = number_in(names.process), processes = number_in(names.processes);
    if (process && processes && *process < *processes) return {*process, *processes};
  }
  return {};
}

}  // namespace busbar
