#include "sim/cli/calibrate_options.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/rank_range.h"
#include "sim/base/unit_text.h"
#include "sim/cli/program.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  calibrate --from log.txt --topology dgx1x8.json -o profile.json\n"
    "  calibrate --from all_reduce.csv --collective all_reduce --ranks 8 --topology dgx1x8.json -o p.json\n"
    "  simulate --topology dgx1x8.json --collective all_gather --calibration profile.json\n"
    "  calibrate --from *.log --env nccl.env --nccl-log debug.log --topology dgx2x8.json -o profile.json\n"
    "  calibrate --show profile.json\n"
    "  calibrate --show after-upgrade.json --compare profile.json\n"
    "  calibrate --check --from pairs.json --topology dgx2x8.json\n"
    "  mpirun -n 4 calibrate --run mpi -o measured.json          (measure here: calibrate --run mpi --help)";

struct RawLine {
  std::string collective, tolerance, nccl_version;
  std::int64_t ranks = 0, seed = 0;
  bool no_cross_validation = false;
};

void declare_nccl(CLI::App& app, CalibrateLine& o, RawLine& raw) {
  app.add_option("--env", o.nccl.env,
                 "NCCL_* variables that the measured jobs ran with, as lines NAME=value");
  app.add_option("--tuner", o.nccl.tuner, "rules of NCCL's example tuner plugin that they ran with (CSV)");
  app.add_option("--nccl-log", o.nccl.log,
                 "what NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,TUNING printed: its channels, table and "
                 "choices for groups of as many ranks and hosts");
  app.add_option("--nccl-version", raw.nccl_version,
                 "the release that chose (default: the log's, else the tables')");
}

void declare(CLI::App& app, CalibrateLine& o, RawLine& raw) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  app.add_option("--from", o.from,
                 "measurements: output of nccl-tests, rccl-tests or OSU, NCCL inspector lines, CSV, "
                 "busbar.measured/1");
  app.add_option("--topology", o.topology, "the cluster that they were made on (also in the catalogue)");
  app.add_option("-o,--output", o.output, "write the profile (-: standard output, and no text)");
  app.add_option("--collective", raw.collective, "the operation of tables that do not say");
  app.add_option("--ranks", raw.ranks, "the number of ranks of tables that do not say")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{kMaxRanks}));
  app.add_option("--calibration", o.calibration, "the profile that numbers start from and fall back to")
      ->capture_default_str();
  declare_nccl(app, o, raw);
  app.add_option("--threads", o.threads, "threads (default: one per core); the result is the same")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  app.add_option("--name", o.name, "of the profile (default: the topology's)");
  app.add_flag("--no-cross-validation", raw.no_cross_validation, "do not fit again without each table");
  app.add_option("--show", o.show, "print a profile");
  app.add_option(
      "--compare", o.compare,
      "an older profile beside --show: what changed beyond its interval (exit code 1 if something)");
  app.add_flag("--check", o.check, "compare links, NICs, GPUs and hosts with their peers and the datasheet");
  app.add_option("--tolerance", raw.tolerance, "of --check: how far below its peers is slow (default 15%)");
  app.add_option("--json", o.json, "write the report as JSON (-: standard output, and no text)");
  app.add_option("--html", o.html, "write a page with charts, in one file (-: standard output, and no text)");
  app.add_option("--csv", o.csv, "write its main table as CSV (-: standard output, and no text)");
  app.add_option("--md", o.markdown, "write its tables as Markdown (-: standard output, and no text)");
  app.add_option("--seed", raw.seed, "of the bootstrap")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  app.add_flag("--quiet", o.quiet, "no text on standard output");
}

[[noreturn]] void bad_line(const char* message) {
  throw Error({.where = "command line", .message = message});
}

void check_combination(const CalibrateLine& o) {
  const bool nccl = !o.nccl.env.empty() || !o.nccl.tuner.empty() || !o.nccl.log.empty() || o.nccl.version;
  if (nccl && (!o.show.empty() || o.check))
    bad_line("--env, --tuner, --nccl-log and --nccl-version belong to a fit");
  if (!o.show.empty()) {
    if (!o.from.empty() || o.check || !o.output.empty()) bad_line("--show takes no --from, --check or -o");
  } else {
    if (!o.compare.empty()) bad_line("--compare belongs to --show");
    if (o.from.empty()) bad_line("--from FILE or --show PROFILE is missing; see --help for examples");
    if (o.topology.empty()) bad_line("--topology FILE is missing: the cluster that was measured");
    if (o.check && !o.output.empty()) bad_line("--check writes no profile: leave out -o");
  }
  if ((o.json == "-") + (o.html == "-") + (o.csv == "-") + (o.markdown == "-") + (o.output == "-") > 1)
    bad_line("only one of --json, --html, --csv, --md and -o can go to standard output");
}

void read_raw(CalibrateLine& o, const RawLine& raw) {
  if (!raw.collective.empty()) o.hints.operation = collective_called(raw.collective);
  if (raw.ranks > 0) o.hints.ranks = raw.ranks;
  if (!raw.nccl_version.empty()) o.nccl.version = nccl_version_called(raw.nccl_version);
  if (!raw.tolerance.empty()) o.tolerance = tolerance_called(raw.tolerance, "15%");
  o.seed = static_cast<std::uint64_t>(raw.seed);
  o.cross_validate = !raw.no_cross_validation;
}

}  // namespace

std::optional<CalibrateLine> parse_calibrate(int argc, const char* const* argv, int& exit_code) {
  CalibrateLine line;
  RawLine raw;
  CLI::App app("Turns measurements of a cluster into a profile with error bars, and checks its health.",
               "calibrate");
  declare(app, line, raw);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  read_raw(line, raw);
  check_combination(line);
  return line;
}

}  // namespace busbar
