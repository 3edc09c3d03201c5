#include "sim/cli/run_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "reports/html.h"
#include "reports/plan_report.h"
#include "sim/base/error.h"
#include "sim/cli/files.h"
#include "sim/cli/listing.h"
#include "sim/cli/program.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_options.h"
#include "sim/result/study_result_io.h"
#include "sim/study/database.h"
#include "sim/study/study.h"
#include "sim/study/study_quantities.h"
#include "sim/study/sweep.h"

namespace busbar {

namespace {

// The study of the short form. Values are set one by one, so that they are escaped as JSON.
JsonDocument short_study(const PlanOptions& o) {
  JsonDocument study = JsonDocument::parse(
      R"({"schema": "busbar.study/1", "model": {}, "batch": {}, "clusters": [{"topology": {"hosts": {}, "fabric": {}}}]})",
      "command line");
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) study = study.with(key, value);
  };
  study = study.with("name", fmt::format("\"{} on {}\"", o.model, o.host_type));
  set("model.preset", o.model);
  study = study.with("batch.sequence", fmt::format("{}", o.sequence));
  study = study.with("batch.global", fmt::format("{}", o.global_batch));
  set("clusters.0.topology.hosts.type", o.host_type);
  set("clusters.0.topology.fabric.family", o.fabric.empty() ? "rail-optimized" : o.fabric);
  set("clusters.0.gpus", o.gpus);
  set("clusters.0.price", o.price);
  set("clusters.0.power", o.power);
  set("tokens", o.tokens);
  return study;
}

std::pair<std::string, std::string> split_setting(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error({.where = option, .expected = "key=value", .given = quoted(text)});
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// "time=30d,budget=5e6USD" as constraints.
JsonDocument with_goal(JsonDocument study, const std::string& goal) {
  for (std::size_t begin = 0; begin <= goal.size();) {
    const std::size_t end = std::min(goal.find(',', begin), goal.size());
    const auto [key, value] = split_setting(goal.substr(begin, end - begin), "--goal");
    if (key != "time" && key != "budget")
      throw Error({.where = "--goal", .expected = "time=... or budget=...", .given = quoted(key)});
    const std::string other = "," + goal + ",";
    if (other.find("," + key + "=") != other.rfind("," + key + "="))
      throw Error({.where = "--goal", .message = fmt::format("{} twice", quoted(key))});
    study = study.with(key == "time" ? "constraints.deadline" : "constraints.budget",
                       fmt::format("\"{}\"", value));
    begin = end + 1;
  }
  return study;
}

JsonDocument load_study(const PlanOptions& o) {
  JsonDocument study = o.study.empty() ? short_study(o) : JsonDocument::load(o.study);
  for (const std::string& set : o.sets) {
    const auto [key, value] = split_setting(set, "--set");
    study = with_key(study, key, value);
  }
  if (o.simulate > 0) study = study.with("search.simulate", fmt::format("{}", o.simulate));
  if (!o.goal.empty()) study = with_goal(study, o.goal);
  return study;
}

// The numbers of a profile, for digests: its name alone where it comes with the program.
std::string key_of_profile(const std::string& calibration) {
  std::error_code ignored;
  if (!std::filesystem::exists(calibration, ignored)) return calibration;
  return JsonDocument::load(calibration).digest();
}

void write_reports(const PlanOptions& o, const Study& study) {
  const auto top = static_cast<std::size_t>(o.top);
  if (!o.json.empty()) write_output(o.json, write_study(study));
  if (!o.html.empty()) write_output(o.html, study_html(study));
  if (!o.markdown.empty()) write_output(o.markdown, plan_markdown(study, top));
  if (!o.csv.empty()) write_output(o.csv, plan_csv(study));
  if (!o.quiet && o.json != "-" && o.html != "-" && o.markdown != "-" && o.csv != "-")
    write_output("-", plan_text(study, top));
}

}  // namespace

std::unique_ptr<PlanInputs> load_plan(const PlanOptions& o) {
  JsonDocument document = load_study(o);
  StudySpec spec = read_study(document);
  spec.seed = o.seed;
  for (const std::string& sweep : o.sweeps) spec.sweeps.push_back(parse_sweep(sweep));
  auto inputs = std::make_unique<PlanInputs>(
      PlanInputs{std::move(document), std::move(spec), profile_called(o.calibration), {}});
  inputs->cells = cells_of(inputs->document, inputs->spec, inputs->profile, key_of_profile(o.calibration));
  return inputs;
}

int run_plan(const PlanOptions& o, const MakeEvaluator& make) {
  if (o.init || !o.list.empty()) {
    write_output("-", o.init ? example_study() : listing(o.list));
    return 0;
  }
  if (!o.html.empty()) require_html();
  const bool reads = !o.database.empty() && may_only_be_read(o.database);
  check_outputs(std::vector<std::string>{o.markdown, o.csv, o.json, o.html, reads ? "" : o.database},
                std::vector<std::string>{o.study, o.calibration, reads ? o.database : ""});
  const std::unique_ptr<PlanInputs> inputs = load_plan(o);
  const auto threads = static_cast<std::size_t>(o.threads);
  EvaluateTasks evaluate = make(inputs->cells, threads);
  std::int64_t reused = 0;
  std::optional<ResultsFile> file;
  if (!o.database.empty()) {
    file.emplace(o.database);
    if (file->is_read_only() && !o.quiet)
      std::fputs(fmt::format("plan: {} may not be written: what it has is used, nothing new is kept\n",
                             printable(o.database))
                     .c_str(),
                 stderr);
    evaluate = tasks_kept_in(*file, inputs->cells, std::move(evaluate), reused);
  }
  ProgressLine line;
  Study study = run_study(inputs->spec, inputs->cells, threads, evaluate,
                          [&](const StudyProgress& p) { line.count(p.phase, p.done, p.all); });
  line.clear();
  study.inputs = {.study = inputs->document.name(),
                  .digest = inputs->document.digest(),
                  .calibration = o.calibration,
                  .seed = o.seed};
  study.reused = reused;
  study.simulated -= reused;
  write_reports(o, study);
  return study.best ? 0 : static_cast<int>(ErrorKind::kJob);
}

void become_plan_mpi(int argc, char** argv) {
  if (launched_as().processes < 2) return;
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string program = (self.parent_path() / "plan-mpi").string();
  BUSBAR_CHECK(argv[argc] == nullptr);
  ::execv(program.c_str(), argv);
  throw Error({.kind = ErrorKind::kSystem,
               .where = program,
               .message = fmt::format("cannot be started: {}", std::strerror(errno)),
               .suggestion = "build with an MPI (libopenmpi-dev), or start one process: it uses threads"});
}

}  // namespace busbar
