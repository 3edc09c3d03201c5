#include "sim/cli/run_solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "calibrate/import/text_scan.h"
#include "calibrate/observed.h"
#include "reports/solution_report.h"
#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "sim/cli/files.h"
#include "sim/cli/job_inputs.h"
#include "sim/cli/program.h"
#include "sim/cli/progress_line.h"
#include "sim/cost/profile_io.h"
#include "sim/result/solution_io.h"
#include "sim/study/solve.h"
#include "sim/study/solve_rows.h"
#include "sim/study/solved_profile.h"
#include "topologies/topology_io.h"
#include "validate/compare_collectives.h"
#include "validate/import/measured_input.h"

namespace busbar {

namespace {

// Of all passes: tokens of a step over the rate of all GPUs.
Time time_of_rate(double tokens_per_s_gpu, const StepTrace& trace, const std::string& where) {
  if (trace.tokens <= 0)
    throw Error({.where = where, .message = "this workload does not say how many tokens a step has"});
  return Time::from_seconds(trace.tokens * static_cast<double>(trace.repeat) /
                            (tokens_per_s_gpu * trace.ranks));
}

double tolerance_of(const ValidateOptions& o) { return o.tolerance.value_or(SolveTarget{}.tolerance); }

/// A measured step, and what to call it.
struct Asked {
  std::string name;
  SolveTarget target;
};

std::vector<Asked> asked_of(const ValidateOptions& o, const MeasuredInput& measured, const StepTrace& trace) {
  std::vector<Asked> list;
  for (const MeasuredStep& step : measured.steps) {
    SolveTarget target{.p10 = step.p10, .p90 = step.p90, .tolerance = tolerance_of(o)};
    if (step.time) {
      target.time = *step.time;
    } else {
      target.time = time_of_rate(step.tokens_per_s_per_gpu.value_or(0), trace, step.source);
      if (step.rate_p90) target.p10 = time_of_rate(*step.rate_p90, trace, step.source);
      if (step.rate_p10) target.p90 = time_of_rate(*step.rate_p10, trace, step.source);
    }
    target.parts_error = [&step, calls = calls_of(trace)](const RunResult& result) {
      return classes_error(step, {.result = result, .calls = calls});
    };
    list.push_back({step.source, target});
  }
  if (o.step_time)
    list.push_back({"the measured step", {.time = *o.step_time, .tolerance = tolerance_of(o)}});
  if (o.tokens_per_s_gpu)
    list.push_back({"the measured step",
                    {.time = time_of_rate(*o.tokens_per_s_gpu, trace, "--tokens-per-gpu"),
                     .tolerance = tolerance_of(o)}});
  return list;
}

bool asks_all(const ValidateOptions& o) { return o.solve.size() == 1 && o.solve.front() == "all"; }

std::vector<StudyParameter> parameters_of(const ValidateOptions& o, const Topology& topology) {
  std::vector<StudyParameter> known = study_parameters(topology);
  if (asks_all(o)) return known;
  std::vector<StudyParameter> asked;
  for (const std::string& name : o.solve) asked.push_back(find_parameter(known, name, "--solve"));
  return asked;
}

std::vector<Solution> solutions_of(const ValidateOptions& o, const StudiedStep& step, const Asked& asked) {
  if (asks_all(o)) return closing_changes(step, asked.target);
  Rerun rerun(*step.topology, *step.trace, *step.profile, step.options);
  std::vector<Solution> solutions;
  ProgressLine line(o.quiet);
  for (const StudyParameter& p : parameters_of(o, *step.topology)) {
    line.show("solving for " + p.name);
    solutions.push_back(solve(rerun, p, asked.target));
  }
  return solutions;
}

SolvedStep solve_table(const ValidateOptions& o, const Topology& topology, const Profile& profile,
                       const MeasuredTable& table) {
  Observed observed(topology, std::span(&table, 1), profile);
  MeasuredRows rows;
  for (const ObservedRow& row : observed.rows()) rows.measured_s.push_back(row.time_s);
  if (rows.measured_s.empty())
    throw Error({.where = table.source, .message = "no row that can be predicted"});
  rows.predict = [&](const Scales& scales) {
    observed.rescale(scales);
    std::vector<double> predicted(rows.measured_s.size());
    observed.predict(predicted);
    return predicted;
  };
  SolvedStep solved{observed.tables().front().name, {}};
  for (const StudyParameter& p : parameters_of(o, topology)) {
    Solution s = solve_rows(rows, p);
    if (s.factor || !asks_all(o)) solved.solutions.push_back(std::move(s));
  }
  if (asks_all(o)) sort_by_plausibility(solved.solutions);
  return solved;
}

void write_solved_profile(const ValidateOptions& o, const StudiedStep& step, const SolvedStep& solved) {
  if (!solved.solutions.front().factor)
    throw Error({.where = "--output",
                 .message = "no compute efficiency explains the measurement: no profile is written"});
  Profile profile = with_kernel_speed(*step.profile, step, solved.solutions.front());
  if (o.output != "-") profile.name = std::filesystem::path(o.output).stem().string();
  for (const std::string& file : o.measured)
    profile.calibration.created_from.push_back(fmt::format("{} {:016x}", file, fnv1a(load_text(file))));
  write_output(o.output, write_profile(profile));
}

std::vector<SolvedStep> solve_steps(const ValidateOptions& o, const MeasuredInput& measured,
                                    const JobInputs& inputs, const Topology& topology,
                                    const Profile& profile) {
  if (!measured.steps.empty()) require_workload(inputs, measured.steps.front().source);
  const StepTrace trace = load_step(inputs, topology, o.seed).trace;
  const StudiedStep step{.topology = &topology, .trace = &trace, .profile = &profile};
  std::vector<SolvedStep> solved;
  for (const Asked& asked : asked_of(o, measured, trace))
    solved.push_back({asked.name, solutions_of(o, step, asked)});
  if (!o.output.empty() && solved.size() > 1)
    throw Error({.where = "--output",
                 .expected = "one measured step, whose solution it keeps",
                 .given = fmt::format("{} steps", solved.size())});
  if (!o.output.empty()) write_solved_profile(o, step, solved.front());
  return solved;
}

bool is_explained(const SolvedStep& step) {
  return std::any_of(step.solutions.begin(), step.solutions.end(),
                     [](const Solution& found) { return found.factor.has_value(); });
}

}  // namespace

int run_solve(const ValidateOptions& o) {
  const JobInputs inputs = load_job(o.topology, o.workload, o.sets);
  std::vector<std::string> files = o.measured;
  files.insert(files.end(), {inputs.topology_path, inputs.workload_path, o.calibration});
  check_outputs(std::vector<std::string>{o.output, o.json}, files);
  const Topology topology = read_topology(inputs.topology, o.seed);
  const Profile profile = profile_called(o.calibration);
  MeasuredInput measured;
  if (!o.measured.empty()) measured = read_measured_inputs(o.measured, o.hints);
  const bool has_step = o.measured.empty() || !measured.steps.empty();
  if (!has_step && !o.output.empty())
    throw Error({.where = "--output", .message = "collectives do not tell how fast kernels are"});
  std::vector<SolvedStep> solved;
  if (has_step) solved = solve_steps(o, measured, inputs, topology, profile);
  for (const MeasuredTable& table : measured.collectives.tables)
    solved.push_back(solve_table(o, topology, profile, table));
  if (!o.json.empty()) write_output(o.json, write_solutions(solved));
  if (!o.quiet && o.json != "-" && o.output != "-") write_output("-", solutions_text(solved));
  return std::all_of(solved.begin(), solved.end(), is_explained) ? 0
                                                                 : static_cast<int>(ErrorKind::kTolerance);
}

}  // namespace busbar
