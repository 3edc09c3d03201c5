#include "sim/cli/validate_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/unit_text.h"
#include "sim/cli/program.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  validate --topology dgx2x8.json --workload fsdp7b.json --measured rank*.json.gz --tolerance 10%\n"
    "  validate --topology dgx2x8.json --workload fsdp7b.json --measured train.log --calibration "
    "profile.json\n"
    "  validate --topology dgx1x8.json --measured nccl-tests.log\n"
    "  validate --topology dgx2x8.json --workload fsdp7b.json --solve nic-bandwidth --step-time \"600 ms\"\n"
    "  validate --topology dgx2x8.json --workload fsdp7b.json --measured run.json --solve all\n"
    "  validate --topology dgx1x8.json --workload w.json --tokens-per-gpu 5762 --solve compute-efficiency "
    "-o profile.json\n"
    "  validate --suite steps --threads 8\n"
    "  validate --suite steps --filter source=torchtitan --worst 5\n"
    "  validate --suite steps --most-gpus 64 --every 10 --csv rows.csv\n"
    "  validate --suite collectives --cross-validate\n"
    "  validate --suite mine.json --html mine.html\n"
    "  validate --suite memory --json memory.json --quiet\n"
    "  validate --suite all --md errors.md";

constexpr std::int64_t kMost = std::int64_t{1} << 24;

// "steps: source, framework, ...", a line for each suite.
std::string filter_help() {
  std::string text = "only rows with column=value (repeatable):";
  for (const Suite& suite : suites())
    text += fmt::format("\n{}: {}", suite.name, fmt::join(suite.filters, ", "));
  return text;
}

struct RawValidate {
  std::string suite, tolerance, collective, step_time;
  std::int64_t ranks = 0, seed = 1;
};

void declare_measured(CLI::App& app, ValidateOptions& o, RawValidate& raw) {
  app.add_option(
      "--measured", o.measured,
      "what you measured: traces of PyTorch's profiler (a file for each rank), a log of Megatron-LM, Primus, "
      "torchtitan, NeMo, DLLogger or MLPerf, busbar.measured/1; collectives of nccl-tests, OSU, CSV; .gz "
      "too");
  app.add_option("--topology", o.topology, "with --measured: the cluster");
  app.add_option("--workload", o.workload, "with measured steps: the job");
  app.add_option("--set", o.sets, "change an input key: key.path=value (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--collective", raw.collective, "with --measured: the operation of tables that do not say");
  app.add_option("--ranks", raw.ranks, "with --measured: the number of ranks of tables that do not say")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option(
      "--tolerance", raw.tolerance,
      "exit with 1 when the step time (without a step: the median of all rows) is further off, such as 10%; "
      "with --solve: of a measurement without percentiles, for the interval (default 2%)");
}

void declare_solve(CLI::App& app, ValidateOptions& o, RawValidate& raw) {
  app.add_option("--solve", o.solve,
                 "the parameter whose value explains the measurement: nic-bandwidth, nvlink-bandwidth, "
                 "compute-efficiency, launch-cost, any other of simulate --sensitivity, or all (several: "
                 "with commas, each by itself)")
      ->delimiter(',');
  app.add_option("--step-time", raw.step_time, "with --solve: the measured step instead, such as \"412 ms\"");
  app.add_option("--tokens-per-gpu", o.tokens_per_s_gpu,
                 "with --solve: the measured step instead, as tokens/s of one GPU")
      ->check(CLI::PositiveNumber);
  app.add_option("-o,--output", o.output,
                 "with --solve compute-efficiency: write the profile with it, for --calibration");
  app.add_option("--seed", raw.seed, "with --solve: seed of everything random in the input")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
}

void declare(CLI::App& app, ValidateOptions& o, RawValidate& raw) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  declare_measured(app, o, raw);
  declare_solve(app, o, raw);
  app.add_option(
      "--suite", raw.suite,
      fmt::format("published measurements to predict: {}, all; or a busbar.suite/1 file of your own",
                  fmt::join(names_of(suites()), ", ")));
  app.add_flag(
      "--cross-validate", o.cross_validate,
      "with --suite collectives: predict each system by a fit to all others, beside the plain figures");
  app.add_option("--calibration", o.calibration, "default, ideal or a profile of calibrate")
      ->capture_default_str();
  app.add_option("--filter", o.filters, filter_help())->allow_extra_args(false);
  app.add_option("--most-gpus", o.most_gpus, "leave larger jobs out")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option("--every", o.every, "only each n-th row of what is left")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option("--worst", o.worst, "rows to list, those furthest off first")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, kMost));
  app.add_option("--threads", o.threads, "threads (default: one per core)")->check(CLI::Range(1, 1024));
  app.add_option("--data", o.data, "folder of the suites' tables (default: the installed one)");
  app.add_option("--json", o.json, "write all rows as busbar.validation/1 (-: standard output, and no text)");
  app.add_option("--html", o.html, "write a page with charts, in one file (-: standard output, and no text)");
  app.add_option("--csv", o.csv, "write all rows as CSV (-: standard output, and no text)");
  app.add_option("--md", o.markdown, "write the tables as Markdown (-: standard output, and no text)");
  app.add_flag("--quiet", o.quiet, "no text on standard output");
}

void read_suites(ValidateOptions& o, const std::string& name) {
  std::vector<std::string_view> names = names_of(suites());
  names.emplace_back("all");
  for (const Suite& suite : suites())
    if (name == "all" || name == suite.name) o.suites.push_back(&suite);
  std::error_code ignored;
  if (o.suites.empty() && std::filesystem::is_regular_file(name, ignored)) {
    if (!o.data.empty())
      throw Error({.where = "command line", .message = "--data does not go with a suite file of your own"});
    o.own_suite = name;
    return;
  }
  if (o.suites.empty())
    throw Error({.where = "--suite",
                 .expected = one_of(names) + " (or a busbar.suite/1 file)",
                 .given = quoted(name),
                 .suggestion = did_you_mean(name, names)});
}

void read_tolerance(ValidateOptions& o, const std::string& text) {
  if (text.empty()) return;
  const Parsed<double> parsed = parse_percent(text);
  if (std::holds_alternative<UnitError>(parsed))
    throw Error({.where = "--tolerance", .expected = "a percentage such as 10%", .given = quoted(text)});
  o.tolerance = std::get<double>(parsed);
}

void read_hints(ValidateOptions& o, const RawValidate& raw) {
  if (raw.ranks > 0) o.hints.ranks = raw.ranks;
  if (!raw.collective.empty()) o.hints.operation = collective_called(raw.collective);
}

[[noreturn]] void bad_line(const char* message) {
  throw Error({.where = "command line", .message = message});
}

void read_step_time(ValidateOptions& o, const std::string& text) {
  if (text.empty()) return;
  const Parsed<Time> parsed = parse_time(text);
  if (const auto* error = std::get_if<UnitError>(&parsed))
    throw Error({.where = "--step-time",
                 .expected = error->expected,
                 .given = quoted(text),
                 .suggestion = error->suggestion});
  o.step_time = std::get<Time>(parsed);
}

void check_solve(const ValidateOptions& o, const RawValidate& raw) {
  if (o.topology.empty()) bad_line("--solve needs the --topology that was measured");
  if (!o.measured.empty() + o.step_time.has_value() + o.tokens_per_s_gpu.has_value() != 1)
    bad_line("--solve needs one of --measured, --step-time and --tokens-per-gpu");
  if (o.measured.empty() && o.workload.empty())
    bad_line("a measured step needs the --workload that it is of");
  if (!o.output.empty() && (o.solve.size() != 1 || o.solve.front() != "compute-efficiency"))
    bad_line(
        "-o goes with --solve compute-efficiency alone: links and launches are described in the topology "
        "and the workload");
  if (o.measured.empty() && (!raw.collective.empty() || raw.ranks > 0))
    bad_line("--collective and --ranks go with --measured");
  if (!o.html.empty() || !o.csv.empty() || !o.markdown.empty())
    bad_line("--solve writes text, --json and -o; no --html, --csv or --md");
  if (o.json == "-" && o.output == "-") bad_line("only one of --json and -o can go to standard output");
}

void check_not_solve(const ValidateOptions& o) {
  if (o.step_time || o.tokens_per_s_gpu || !o.output.empty())
    bad_line("--step-time, --tokens-per-gpu and -o go with --solve");
}

void check_measured(const ValidateOptions& o, const RawValidate& raw) {
  if (o.topology.empty()) bad_line("--measured needs the --topology it was measured on");
  if (!raw.suite.empty() || !o.filters.empty() || !o.data.empty() || o.most_gpus > 0 || o.every > 1)
    bad_line("--suite, --filter, --data, --most-gpus and --every do not go with --measured or --solve");
}

void check_suites(const ValidateOptions& o, const RawValidate& raw) {
  if (raw.suite.empty()) bad_line("--measured FILE or --suite NAME is missing; see --help for examples");
  if (!o.topology.empty() || !o.workload.empty() || !o.sets.empty() || !raw.tolerance.empty() ||
      !raw.collective.empty() || raw.ranks > 0)
    bad_line("--topology, --workload, --set, --tolerance, --collective and --ranks go with --measured");
}

void check(const ValidateOptions& o) {
  const bool collectives = o.suites.size() == 1 && o.suites.front()->name == "collectives";
  if (o.cross_validate && (!collectives || o.calibration != "default"))
    bad_line(
        "--cross-validate goes with --suite collectives and the default calibration, which those tables were "
        "fitted to");
  if ((o.json == "-") + (o.html == "-") + (o.csv == "-") + (o.markdown == "-") > 1)
    bad_line("only one of --json, --html, --csv and --md can go to standard output");
}

}  // namespace

std::optional<ValidateOptions> parse_validate(int argc, const char* const* argv, int& exit_code) {
  ValidateOptions options;
  RawValidate raw;
  CLI::App app("Predicts what you or others measured, and says how far off the predictions are.", "validate");
  declare(app, options, raw);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  read_step_time(options, raw.step_time);
  options.seed = static_cast<std::uint64_t>(raw.seed);
  if (!options.solve.empty()) {
    check_solve(options, raw);
  } else {
    check_not_solve(options);
  }
  if (options.measured.empty() && options.solve.empty()) {
    check_suites(options, raw);
    read_suites(options, raw.suite);
  } else {
    check_measured(options, raw);
    read_hints(options, raw);
  }
  if (!options.solve.empty() && !raw.tolerance.empty())
    options.tolerance = tolerance_called(raw.tolerance, "2%");
  else
    read_tolerance(options, raw.tolerance);
  for (const Suite* asked : options.suites)
    for (const std::string& filter : options.filters) static_cast<void>(parse_filter(filter, *asked));
  check(options);
  return options;
}

}  // namespace busbar
