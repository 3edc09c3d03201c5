#include "sim/cli/validate_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/cli/program.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  validate --suite steps --threads 8\n"
    "  validate --suite steps --filter source=torchtitan --worst 5\n"
    "  validate --suite steps --most-gpus 64 --every 10 --csv rows.csv\n"
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

void declare(CLI::App& app, ValidateOptions& o, std::string& suite) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  app.add_option(
      "--suite", suite,
      fmt::format("published measurements to predict: {}, all", fmt::join(names_of(suites()), ", ")));
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
  if (name.empty())
    throw Error({.where = "command line", .message = "--suite NAME is missing; see --help for examples"});
  for (const Suite& suite : suites())
    if (name == "all" || name == suite.name) o.suites.push_back(&suite);
  if (o.suites.empty())
    throw Error({.where = "--suite",
                 .expected = one_of(names),
                 .given = quoted(name),
                 .suggestion = did_you_mean(name, names)});
}

void check(const ValidateOptions& o) {
  if ((o.json == "-") + (o.html == "-") + (o.csv == "-") + (o.markdown == "-") > 1)
    throw Error({.where = "command line",
                 .message = "only one of --json, --html, --csv and --md can go to standard output"});
}

}  // namespace

std::optional<ValidateOptions> parse_validate(int argc, const char* const* argv, int& exit_code) {
  ValidateOptions options;
  std::string suite;
  CLI::App app("Predicts published measurements, and says how far off the predictions are.", "validate");
  declare(app, options, suite);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  read_suites(options, suite);
  for (const Suite* asked : options.suites)
    for (const std::string& filter : options.filters) static_cast<void>(parse_filter(filter, *asked));
  check(options);
  return options;
}

}  // namespace busbar
