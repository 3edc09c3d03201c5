#include "sim/cli/validate_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

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
    "  validate --solve all --help        (the value that explains a measurement)\n"
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
  std::string suite, tolerance, collective;
  std::int64_t ranks = 0;
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
      "exit with 1 when the step time (without a step: the median of all rows) is further off, such as 10%");
}

void declare(CLI::App& app, ValidateOptions& o, RawValidate& raw) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  declare_measured(app, o, raw);
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

void check_measured(const ValidateOptions& o, const RawValidate& raw) {
  if (o.topology.empty())
    throw Error({.where = "command line", .message = "--measured needs the --topology it was measured on"});
  if (!raw.suite.empty() || !o.filters.empty() || !o.data.empty() || o.most_gpus > 0 || o.every > 1)
    throw Error({.where = "command line",
                 .message = "--suite, --filter, --data, --most-gpus and --every do not go with --measured"});
}

void check_suites(const ValidateOptions& o, const RawValidate& raw) {
  if (raw.suite.empty())
    throw Error({.where = "command line",
                 .message = "--measured FILE or --suite NAME is missing; see --help for examples"});
  if (!o.topology.empty() || !o.workload.empty() || !o.sets.empty() || !raw.tolerance.empty() ||
      !raw.collective.empty() || raw.ranks > 0)
    throw Error(
        {.where = "command line",
         .message =
             "--topology, --workload, --set, --tolerance, --collective and --ranks go with --measured"});
}

void check(const ValidateOptions& o) {
  const bool collectives = o.suites.size() == 1 && o.suites.front()->name == "collectives";
  if (o.cross_validate && (!collectives || o.calibration != "default"))
    throw Error({.where = "command line",
                 .message =
                     "--cross-validate goes with --suite collectives and the default calibration, which "
                     "those tables were fitted to"});
  if ((o.json == "-") + (o.html == "-") + (o.csv == "-") + (o.markdown == "-") > 1)
    throw Error({.where = "command line",
                 .message = "only one of --json, --html, --csv and --md can go to standard output"});
}

}  // namespace

std::optional<ValidateOptions> parse_validate(int argc, const char* const* argv, int& exit_code) {
  ValidateOptions options;
  RawValidate raw;
  CLI::App app("Predicts what you or others measured, and says how far off the predictions are.", "validate");
  declare(app, options, raw);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  if (options.measured.empty()) {
    check_suites(options, raw);
    read_suites(options, raw.suite);
  } else {
    check_measured(options, raw);
    read_hints(options, raw);
  }
  read_tolerance(options, raw.tolerance);
  for (const Suite* asked : options.suites)
    for (const std::string& filter : options.filters) static_cast<void>(parse_filter(filter, *asked));
  check(options);
  return options;
}

}  // namespace busbar
