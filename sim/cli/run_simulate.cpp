#include "sim/cli/run_simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "reports/explain.h"
#include "reports/html.h"
#include "reports/sensitivity_report.h"
#include "reports/step_tables.h"
#include "reports/summary.h"
#include "reports/timeline_io.h"
#include "sim/base/error.h"
#include "sim/base/json_reader.h"
#include "sim/base/process_memory.h"
#include "sim/cli/files.h"
#include "sim/cli/job_inputs.h"
#include "sim/cli/listing.h"
#include "sim/cli/nccl_inputs.h"
#include "sim/cli/program.h"
#include "sim/replay/prediction_interval.h"
#include "sim/replay/rerun.h"
#include "sim/replay/simulate.h"
#include "sim/replay/sweep_comparison.h"
#include "sim/result/run_result_io.h"
#include "sim/study/sensitivity.h"
#include "topologies/topology_io.h"
#include "workloads/settings.h"
#include "workloads/trace_io.h"

namespace busbar {

namespace {

InputRecord record_of(const SimulateOptions& o, const JobInputs& inputs, const NcclInputs& nccl) {
  InputRecord record{.topology = inputs.topology_path,
                     .topology_digest = inputs.topology.digest(),
                     .workload = inputs.workload_path,
                     .workload_digest = inputs.workload ? inputs.workload->digest() : "",
                     .profile = o.calibration,
                     .settings = {},
                     .seed = o.seed};
  if (o.calibration != "default" && o.calibration != "ideal")
    record.settings.emplace_back("calibration-digest", JsonDocument::load(o.calibration).digest());
  for (const std::string& set : o.sets)
    record.settings.emplace_back(set.substr(0, set.find('=')), set.substr(set.find('=') + 1));
  if (o.overrides.algorithm) record.settings.emplace_back("algorithm", *o.overrides.algorithm);
  if (o.overrides.protocol)
    record.settings.emplace_back("protocol", std::string(name_of(*o.overrides.protocol)));
  if (o.overrides.channels)
    record.settings.emplace_back("channels", fmt::format("{}", *o.overrides.channels));
  record.settings.insert(record.settings.end(), nccl.settings.begin(), nccl.settings.end());
  return record;
}

bool shows_text(const SimulateOptions& o) {
  return !o.quiet && o.json != "-" && o.html != "-" && o.csv != "-" && o.markdown != "-" && o.trace != "-";
}

void print(const SimulateOptions& o, const std::string& text) {
  if (shows_text(o)) write_output("-", text);
}

std::string inputs_line(const JobInputs& inputs) {
  std::string line = "topology " + inputs.topology_path;
  if (inputs.workload) line += "\nworkload " + inputs.workload_path;
  return line + "\n\n";
}

// How the operations are called, as far as it is not nccl-tests' own way.
void record_calls(const SimulateOptions& o, InputRecord& record) {
  record.settings.emplace_back("gpus-per-process", fmt::format("{}", o.calls.gpus_per_process));
  if (o.calls.cuda_graph) record.settings.emplace_back("cuda-graph", "true");
  record.settings.emplace_back("calls", o.isolated ? "isolated" : "back to back");
}

void check_processes(const SimulateOptions& o, std::size_t ranks) {
  if (o.calls.gpus_per_process <= static_cast<std::int64_t>(ranks)) return;
  throw Error({.where = "--gpus-per-process",
               .expected = fmt::format("at most the {} ranks", ranks),
               .given = fmt::format("{}", o.calls.gpus_per_process)});
}

std::vector<Time> times_of_rows(const Sweep& sweep) {
  std::vector<Time> times;
  for (const SweepRow& row : sweep.rows) times.push_back(row.time);
  return times;
}

// What a calibration leaves open: intervals, and a warning beyond what was measured.
void add_doubt(const SimulateOptions& o, Sweep& result, const Profile& profile,
               const std::function<std::vector<Time>(const Profile&)>& times) {
  if (!o.no_interval) add_intervals(result, profile, times);
  if (auto warning = extrapolation(profile, result)) result.warnings.push_back(std::move(*warning));
}

void add_doubt(const SimulateOptions& o, RunResult& result, const Topology& topology, const StepTrace& trace,
               const Profile& profile, const SimOptions& options) {
  if (!o.no_interval)
    add_interval(result, step_times(topology, trace, options, drawn_profiles(profile),
                                    std::max(1U, std::thread::hardware_concurrency())));
  if (auto warning = extrapolation(profile, result)) result.warnings.push_back(std::move(*warning));
}

template <class Result>
void compare(const SimulateOptions& o, Result& result) {
  for (const std::string& file : o.compare)
    result.compared.push_back(compared_with(read_old_result(JsonDocument::load(file)), result));
}

int run_sweep(const SimulateOptions& o, const JobInputs& inputs, const Topology& topology) {
  SweepRequest request{.operation = *o.collective,
                       .ranks = {},
                       .sizes = o.sizes,
                       .type = o.type,
                       .reduction = o.reduction,
                       .root = o.root};
  if (o.ranks) request.ranks = parse_ranks(*o.ranks, static_cast<std::uint32_t>(topology.ranks().size()));
  const std::size_t ranks = o.ranks ? request.ranks.size() : topology.ranks().size();
  check_processes(o, ranks);
  const NcclInputs nccl = load_nccl_inputs(o);
  std::optional<MeasuredSweep> measured;
  if (!o.measured.empty()) measured = load_measured(o, ranks);
  if (measured && !o.sizes_given) request.sizes = sizes_of(measured->table);
  SimOptions options{.overrides = nccl.overrides,
                     .explain = o.explain,
                     .calls = o.calls,
                     .isolated = o.isolated,
                     .chunks = o.chunks};
  const Profile profile = profile_called(o.calibration);
  Sweep result = sweep(topology, request, profile, options);
  add_doubt(o, result, profile, [&](const Profile& drawn_profile) {
    options.explain = false;
    return times_of_rows(sweep(topology, request, drawn_profile, options));
  });
  result.inputs = record_of(o, inputs, nccl);
  record_calls(o, result.inputs);
  result.warnings.insert(result.warnings.end(), nccl.warnings.begin(), nccl.warnings.end());
  if (measured) {
    result.inputs.settings.emplace_back("measured", o.measured);
    result.inputs.settings.emplace_back("measured-digest", measured->digest);
    compare_with(result, measured->table);
  }
  compare(o, result);
  if (!o.json.empty()) write_output(o.json, write_sweep(result));
  if (!o.html.empty()) write_output(o.html, sweep_html(result));
  if (!o.dump_topology.empty()) write_output(o.dump_topology, write_topology(topology));
  if (!o.csv.empty()) write_output(o.csv, sweep_csv(result));
  if (!o.markdown.empty()) write_output(o.markdown, sweep_markdown(result));
  print(o, sweep_text(result) + (o.explain ? explain_text(result) : ""));
  return 0;
}

int run_step(const SimulateOptions& o, const JobInputs& inputs, const Topology& topology) {
  const auto begin = std::chrono::steady_clock::now();
  const NcclInputs nccl = load_nccl_inputs(o);
  InputRecord record = record_of(o, inputs, nccl);
  const LoadedStep step = load_step(inputs, topology, o.seed);
  const StepTrace& trace = step.trace;
  if (step.workload)
    for (auto& setting : effective_settings(*step.workload)) record.settings.push_back(std::move(setting));
  SimOptions options{.overrides = nccl.overrides,
                     .explain = o.explain,
                     .details = !o.json.empty() || !o.html.empty(),
                     .symmetry = !o.no_symmetry};
  if (!o.trace.empty()) options.timeline.emplace();
  if (o.trace_ranks) options.timeline->ranks = parse_ranks(*o.trace_ranks, trace.ranks, "--trace-ranks");
  const Profile profile = profile_called(o.calibration);
  RunResult result = simulate(topology, trace, profile, options);
  add_doubt(o, result, topology, trace, profile, options);
  if (o.sensitivity)
    result.sensitivity = sensitivity({.topology = &topology,
                                      .trace = &trace,
                                      .profile = &profile,
                                      .options = options,
                                      .workload = step.workload ? &*step.workload : nullptr});
  result.inputs = std::move(record);
  result.warnings.insert(result.warnings.end(), nccl.warnings.begin(), nccl.warnings.end());
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  compare(o, result);
  if (!o.dump_topology.empty()) write_output(o.dump_topology, write_topology(topology));
  if (!o.dump_trace.empty()) write_output(o.dump_trace, write_trace(trace));
  if (!o.json.empty()) write_output(o.json, write_result(result));
  if (!o.html.empty()) write_output(o.html, step_html(result));
  if (!o.csv.empty()) write_output(o.csv, step_csv(result));
  if (!o.markdown.empty()) write_output(o.markdown, step_markdown(result));
  if (!o.trace.empty()) write_output(o.trace, write_timeline(*result.full_timeline));
  print(o, inputs_line(inputs) + summary_text(result, colours_wanted()) + sensitivity_text(result) +
               compared_text(result) + (o.explain ? explain_text(result) : ""));
  return end_process(0);
}

}  // namespace

int run_simulate(const SimulateOptions& o) {
  if (!o.list.empty()) {
    write_output("-", listing(o.list));
    return 0;
  }
  if (!o.html.empty()) require_html();
  const JobInputs inputs = load_job(o.topology, o.workload, o.sets);
  std::vector<std::string> files{inputs.topology_path, inputs.workload_path, o.env,        o.tuner,
                                 o.nccl_log,           o.measured,           o.calibration};
  files.insert(files.end(), o.compare.begin(), o.compare.end());
  check_outputs(
      std::vector<std::string>{o.json, o.html, o.csv, o.markdown, o.trace, o.dump_topology, o.dump_trace},
      files);
  const Topology topology = read_topology(inputs.topology, o.seed);
  if (!o.collective && o.workload.empty()) {
    write_output(o.dump_topology, write_topology(topology));
    return 0;
  }
  return o.collective ? run_sweep(o, inputs, topology) : run_step(o, inputs, topology);
}

}  // namespace busbar
