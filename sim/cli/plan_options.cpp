#include "sim/cli/plan_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "sim/base/error.h"
#include "sim/cli/program.h"
#include "sim/result/version.h"

namespace busbar {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  plan --model llama-3.1-70b --host-type dgx-h100 --gpus 64:4096:2 --global-batch 1024 --sequence 8192 "
    "-o report.html\n"
    "  plan --init > study.json && plan study.json --database results.sqlite -o report.md -o layouts.csv\n"
    "  plan study.json --sweep fabric.oversubscription=1,2,4\n"
    "  plan study.json --goal time=30d,budget=5e6USD\n"
    "  mpirun -n 4 plan study.json --database results.sqlite -o report.md";

constexpr std::int64_t kMost = std::int64_t{1} << 24;

void declare_study(CLI::App& app, PlanOptions& o) {
  app.add_option("study", o.study, "a busbar.study/1 file (docs/planning.md); or, for short questions:");
  app.add_option("--model", o.model, "model preset (--list models)");
  app.add_option("--host-type", o.host_type, "hosts of the cluster (--list hosts)");
  app.add_option("--gpus", o.gpus, "numbers of GPUs: 256, 256,512 or 64:4096:2 (from, to, factor)");
  app.add_option("--fabric", o.fabric, "fabric family (--list fabrics; default rail-optimized)");
  app.add_option("--global-batch", o.global_batch, "samples per step")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option("--sequence", o.sequence, "tokens per sample")->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option("--tokens", o.tokens, "of the whole training, such as \"2e12 tokens\"");
  app.add_option("--price", o.price, "such as \"2.5 USD/GPU-hour\"");
  app.add_option("--power", o.power, "such as \"10.2 kW/host\"");
}

void declare(CLI::App& app, PlanOptions& o) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  declare_study(app, o);
  app.add_option("--set", o.sets, "change a key of the study: key.path=value (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--sweep", o.sweeps, "every value of a key: key=value,value (repeatable: a grid)")
      ->allow_extra_args(false);
  app.add_option("--goal", o.goal, "the smallest cluster that keeps it: time=30d,budget=5e6USD");
  app.add_option("--simulate", o.simulate, "layouts to simulate for each cluster")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option("--calibration", o.calibration, "default, ideal or a profile of calibrate")
      ->capture_default_str();
  app.add_option("--database", o.database,
                 "SQLite file that keeps results: a study that was stopped goes on");
  app.add_option("-o,--output", o.outputs, "report: .html, .md, .csv or .json by its name (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--json", o.json,
                 "write the study as busbar.study-result/1 (-: standard output, and no text)");
  app.add_option("--html", o.html, "write a page with charts, in one file (-: standard output, and no text)");
  app.add_option("--md", o.markdown, "write the report as Markdown (-: standard output, and no text)");
  app.add_option("--csv", o.csv, "write all layouts as CSV (-: standard output, and no text)");
  app.add_option("--top", o.top, "layouts to list for each cluster")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, kMost));
  app.add_option("--threads", o.threads, "threads (default: one per core)")->check(CLI::Range(1, 1024));
  app.add_option("--seed", o.seed, "of drawn failures, and of what the inputs draw")->capture_default_str();
  app.add_option("--list", o.list, "print a table: hosts, fabrics, models, gpus, frameworks, ...");
  app.add_flag("--init", o.init, "print a commented example of a study file");
  app.add_flag("--quiet", o.quiet, "no text on standard output");
}

// Where -o writes by the end of a name.
void sort_outputs(PlanOptions& o) {
  const std::pair<std::string_view, std::string*> kinds[] = {
      {".html", &o.html}, {".md", &o.markdown}, {".csv", &o.csv}, {".json", &o.json}};
  for (const std::string& output : o.outputs) {
    const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const auto& k) { return output.ends_with(k.first); });
    if (kind == std::end(kinds))
      throw Error({.where = "-o",
                   .expected = "a name that ends in .html, .md, .csv or .json",
                   .given = quoted(output)});
    if (!kind->second->empty() && *kind->second != output)
      throw Error(
          {.where = "-o",
           .message = fmt::format("{} and {} are the same report", quoted(*kind->second), quoted(output))});
    *kind->second = output;
  }
}

void check(PlanOptions& o) {
  if (o.init || !o.list.empty()) return;
  sort_outputs(o);
  const bool short_form = !o.model.empty() || !o.host_type.empty() || !o.gpus.empty() || !o.fabric.empty() ||
                          o.global_batch > 0 || o.sequence > 0 || !o.tokens.empty() || !o.price.empty() ||
                          !o.power.empty();
  if (!o.study.empty() && short_form)
    throw Error(
        {.where = "command line",
         .message =
             "a study file excludes --model, --host-type, --gpus, --fabric, --global-batch, --sequence, "
             "--tokens, --price and --power; --set changes a study"});
  if (o.study.empty() &&
      (o.model.empty() || o.host_type.empty() || o.gpus.empty() || o.global_batch == 0 || o.sequence == 0))
    throw Error(
        {.where = "command line",
         .message =
             "a study file is missing, or all of --model, --host-type, --gpus, --global-batch, --sequence",
         .suggestion = "plan --init prints an example; see --help"});
  if ((o.json == "-") + (o.html == "-") + (o.csv == "-") + (o.markdown == "-") > 1)
    throw Error({.where = "command line",
                 .message = "only one of --json, --html, --csv and --md can go to standard output"});
}

}  // namespace

std::optional<PlanOptions> parse_plan(int argc, const char* const* argv, int& exit_code) {
  PlanOptions options;
  CLI::App app("Searches layouts and clusters for a training job by simulation, and prices them.", "plan");
  declare(app, options);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  check(options);
  return options;
}

}  // namespace busbar
