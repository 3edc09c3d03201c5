#include "sim/cli/solve_options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <string_view>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/cli/program.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  validate --topology dgx2x8.json --workload fsdp7b.json --measured run.json --solve nic-bandwidth\n"
    "  validate --topology dgx2x8.json --workload fsdp7b.json --step-time \"1.2 s\" --solve all\n"
    "  validate --topology dgx2x8.json --measured nccl-tests.log --solve nic-bandwidth,nvlink-bandwidth\n"
    "  validate --topology dgx1x8.json --workload w.json --tokens-per-gpu 5762 --solve compute-efficiency "
    "-o profile.json\n"
    "  simulate --topology dgx2x8.json --workload w.json --calibration profile.json";

struct RawSolve {
  std::string step_time, tolerance, collective;
  std::optional<double> tokens;
  std::optional<std::int64_t> ranks;
  std::int64_t seed = 1;
};

void declare(CLI::App& app, SolveOptions& o, RawSolve& raw) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  app.add_option("--solve", o.parameters,
                 "the parameter whose value explains the measurement: nic-bandwidth, nvlink-bandwidth, "
                 "compute-efficiency, launch-cost, any other of simulate --sensitivity, or all (several: "
                 "with commas, each by itself)")
      ->delimiter(',')
      ->required();
  app.add_option("--topology", o.topology, "the cluster (also in the catalogue)")->required();
  app.add_option("--workload", o.workload, "of a measured step: the job (also in the catalogue)");
  app.add_option("--set", o.sets, "change an input key: key.path=value (repeatable)")
      ->allow_extra_args(false);
  app.add_option(
      "--measured", o.measured,
      "steps: traces of PyTorch's profiler, training logs, busbar.measured/1; or collectives: output of "
      "nccl-tests, its JSON, OSU, CSV, "
      "busbar.measured/1");
  app.add_option("--collective", raw.collective, "with --measured: the operation of tables that do not say");
  app.add_option("--ranks", raw.ranks, "with --measured: the number of ranks of tables that do not say")
      ->check(CLI::PositiveNumber);
  app.add_option("--step-time", raw.step_time, "the measured step instead, such as \"412 ms\"");
  app.add_option("--tokens-per-gpu", raw.tokens, "the measured step instead, as tokens/s of one GPU")
      ->check(CLI::PositiveNumber);
  app.add_option("--tolerance", raw.tolerance,
                 "of a measurement without percentiles, for the interval (default 2%)");
  app.add_option("--calibration", o.calibration, "default, ideal or a profile")->capture_default_str();
  app.add_option("-o,--output", o.output,
                 "with compute-efficiency: write the profile with it, for --calibration");
  app.add_option("--json", o.json, "write what was found as JSON (-: standard output, and no text)");
  app.add_option("--seed", raw.seed, "seed of everything random in the input")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  app.add_flag("--quiet", o.quiet, "no text on standard output");
}

[[noreturn]] void bad_line(const char* message) {
  throw Error({.where = "command line", .message = message});
}

void read_raw(SolveOptions& o, const RawSolve& raw) {
  if (!raw.step_time.empty()) {
    const Parsed<Time> parsed = parse_time(raw.step_time);
    if (const auto* error = std::get_if<UnitError>(&parsed))
      throw Error({.where = "--step-time",
                   .expected = error->expected,
                   .given = quoted(raw.step_time),
                   .suggestion = error->suggestion});
    o.step_time = std::get<Time>(parsed);
  }
  if (!raw.tolerance.empty()) o.tolerance = tolerance_called(raw.tolerance, "2%");
  if (!raw.collective.empty()) o.hints.operation = collective_called(raw.collective);
  o.hints.ranks = raw.ranks;
  o.tokens_per_s_gpu = raw.tokens;
  o.seed = static_cast<std::uint64_t>(raw.seed);
}

void check(const SolveOptions& o) {
  if (!o.measured.empty() + o.step_time.has_value() + o.tokens_per_s_gpu.has_value() != 1)
    bad_line("--solve needs one of --measured, --step-time and --tokens-per-gpu");
  const bool compute = o.parameters.size() == 1 && o.parameters.front() == "compute-efficiency";
  if (o.measured.empty() && o.workload.empty())
    bad_line("a measured step needs the --workload that it is of");
  if (!o.output.empty() && !compute)
    bad_line(
        "-o goes with --solve compute-efficiency alone: links and launches are described in the topology "
        "and the workload");
  if (o.measured.empty() && (o.hints.operation || o.hints.ranks))
    bad_line("--collective and --ranks go with --measured");
  if (o.json == "-" && o.output == "-") bad_line("only one of --json and -o can go to standard output");
}

}  // namespace

bool solve_asked(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--solve" || word.starts_with("--solve=")) return true;
  }
  return false;
}

std::optional<SolveOptions> parse_solve(int argc, const char* const* argv, int& exit_code) {
  SolveOptions options;
  RawSolve raw;
  CLI::App app("Finds the value of a parameter that explains a measured step.", "validate");
  declare(app, options, raw);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  read_raw(options, raw);
  check(options);
  return options;
}

}  // namespace busbar
