#include "validate/own_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "calibrate/import/text_scan.h"
#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/statistics.h"
#include "validate/import/measured_input.h"
#include "validate/recorded.h"

namespace busbar {

namespace {

/// One of these says what a run took.
constexpr std::array<std::string_view, 3> kTimes = {"step_time", "tokens_per_gpu", "measured"};

// Of a run's topology and trace: the step time that so many tokens of each GPU and second make.
double step_from_rate(const JsonValue& run, const StepTrace& trace, double tokens_per_gpu) {
  if (!(trace.tokens > 0))
    run.at("workload").fail_because("its workload has no tokens, so that a rate says nothing of its step");
  return trace.tokens / tokens_per_gpu / trace.ranks;
}

std::vector<std::string> measured_files(const JsonValue& value, const SuitePlace& place) {
  std::vector<std::string> files;
  if (!value.is_array()) return {named_file(value, place, "")};
  for (const JsonValue& file : value.items()) files.push_back(named_file(file, place, ""));
  return files;
}

// What the run's files measured; of several logs the median.
double step_from_files(const JsonValue& run, const StepTrace& trace, const SuitePlace& place) {
  const JsonValue value = run.at("measured");
  const MeasuredInput measured = read_measured_inputs(measured_files(value, place));
  std::vector<double> times;
  for (const MeasuredStep& step : measured.steps) {
    if (step.time)
      times.push_back(step.time->seconds());
    else if (step.tokens_per_s_per_gpu)
      times.push_back(step_from_rate(run, trace, *step.tokens_per_s_per_gpu));
  }
  if (times.empty()) value.fail_because("holds no step time");
  return median_of(times);
}

double measured_step(const JsonValue& run, const StepTrace& trace, const SuitePlace& place) {
  const auto given = [&](std::string_view key) { return run.find(key).has_value(); };
  if (std::count_if(kTimes.begin(), kTimes.end(), given) != 1)
    run.fail_because(fmt::format("expected one of {}", one_of(kTimes)));
  if (const auto time = run.find("step_time")) {
    if (time->time() == Time::zero()) time->fail("a time above 0");
    return time->time().seconds();
  }
  if (const auto rate = run.find("tokens_per_gpu"))
    return step_from_rate(run, trace, rate->number(1e-6, 1e12));
  return step_from_files(run, trace, place);
}

std::string text_or(const JsonValue& object, std::string_view key, const std::string& otherwise) {
  const auto value = object.find(key);
  return value ? value->string() : otherwise;
}

// Topology and workload are read here, so that a wrong one stops before anything is predicted.
StepRow read_own_run(const JsonValue& run, const SuitePlace& place) {
  run.only_keys({"name", "system", "topology", "workload", "step_time", "tokens_per_gpu", "measured",
                 "source", "origin", "note"});
  StepRow row;
  row.run.where = run.where();
  row.run.id = run.at("name").string();
  row.run.source = text_or(run, "source", place.system);
  row.run.gpu = text_or(run, "system", place.system);
  row.run.topology_file = named_file(run.at("topology"), place, "topologies");
  row.run.workload_file = named_file(run.at("workload"), place, "workloads");
  const Topology topology = topology_of(row.run);
  const StepTrace trace = step_of(row.run, topology);
  row.run.model = trace.name;
  row.run.own_gpus = trace.ranks;
  row.operations = 1;
  row.measured_s = measured_step(run, trace, place);
  return row;
}

void read_runs(const JsonValue& list, const SuitePlace& place, OwnSuite& suite) {
  std::set<std::string> names;
  for (const JsonValue& run : list.items()) {
    suite.steps.push_back(read_own_run(run, place));
    if (!names.insert(suite.steps.back().run.id).second)
      run.at("name").fail_because(fmt::format("{} stands here twice", quoted(suite.steps.back().run.id)));
  }
}

// Every file of a list of CSV files.
template <class Row, class Read>
void read_files(const JsonValue& list, const SuitePlace& place, std::vector<Row>& rows, Read read) {
  for (const JsonValue& file : list.items()) {
    const std::string path = named_file(file, place, "");
    for (Row& row : read(load_text(path), path)) rows.push_back(std::move(row));
  }
}

void read_recorded(const JsonValue& value, OwnSuite& suite) {
  for (const std::string& kind : value.keys()) {
    const JsonValue figures = value.at(kind);
    const std::vector<std::string_view> kinds = kinds_of(suite);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      figures.fail_because(fmt::format("this file has no rows of a suite {}", quoted(kind)));
    if (kind == "memory")
      figures.only_keys({"median", "p90", "right"});
    else
      figures.only_keys({"median", "p90"});
    for (const std::string& figure : figures.keys())
      suite.recorded[kind][figure] = figures.at(figure).number(0, 10);
  }
}

bool has_rows(const OwnSuite& suite, std::string_view kind) {
  return (kind == "collectives" && !suite.tables.empty()) || (kind == "kernels" && !suite.kernels.empty()) ||
         (kind == "steps" && !suite.steps.empty()) || (kind == "memory" && !suite.memory.empty());
}

Validation predicted(const OwnSuite& suite, std::string_view kind, const Profile& profile,
                     const SuiteOptions& options) {
  if (kind == "collectives") return predict_tables(suite.tables, profile, options);
  if (kind == "kernels") return predict_kernels(suite.kernels, profile, options);
  if (kind == "steps") return predict_steps(kind, suite.steps, profile, options);
  return predict_memory(suite.memory, profile, options);
}

}  // namespace

OwnSuite read_own_suite(const std::string& path,
                        const std::function<std::string(const std::string&, std::string_view)>& find) {
  const JsonDocument document = JsonDocument::load(path);
  const JsonValue root = document.root();
  root.only_keys({"schema", "name", "source", "tables", "runs", "steps", "memory", "kernels", "recorded"});
  if (root.at("schema").string() != "busbar.suite/1") root.at("schema").fail("\"busbar.suite/1\"");
  OwnSuite suite{.name = root.at("name").string()};
  const SuitePlace place{.folder = document.folder(), .system = suite.name, .find = find};
  if (const auto list = root.find("tables")) suite.tables = read_tables(*list, place);
  if (const auto list = root.find("runs")) read_runs(*list, place, suite);
  if (const auto list = root.find("steps")) read_files(*list, place, suite.steps, read_steps);
  if (const auto list = root.find("memory")) read_files(*list, place, suite.memory, read_memory);
  if (const auto list = root.find("kernels"))
    for (const JsonValue& file : list->items()) {
      const std::string table = named_file(file, place, "");
      suite.kernels.push_back(read_kernels(load_text(table), table));
    }
  if (kinds_of(suite).empty())
    root.fail_because("no measurement: give \"tables\", \"runs\", \"steps\", \"memory\" or \"kernels\"");
  if (const auto recorded = root.find("recorded")) read_recorded(*recorded, suite);
  return suite;
}

std::vector<std::string_view> kinds_of(const OwnSuite& suite) {
  std::vector<std::string_view> kinds;
  for (const Suite& known : suites())
    if (has_rows(suite, known.name)) kinds.push_back(known.name);
  return kinds;
}

Validation run_own_suite(const OwnSuite& suite, std::string_view kind, const Profile& profile,
                         const SuiteOptions& options) {
  Validation found = predicted(suite, kind, profile, options);
  found.collection = suite.name;
  const auto recorded = suite.recorded.find(std::string(kind));
  if (recorded == suite.recorded.end() || !found.filters.empty()) return found;
  for (const auto& [figure, value] : recorded->second) BUSBAR_CHECK(hold_figure(found, figure, value));
  return found;
}

}  // namespace busbar
