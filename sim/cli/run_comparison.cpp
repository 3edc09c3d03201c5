#include "sim/cli/run_comparison.h"

#include <cmath>

#include "sim/base/error.h"
#include "sim/cli/job_inputs.h"
#include "sim/replay/simulate.h"
#include "sim/study/solve.h"
#include "topologies/topology_io.h"
#include "validate/compare_collectives.h"
#include "validate/compare_step.h"
#include "validate/import/measured_input.h"

namespace busbar {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr double kSmallGap = 0.02;  // of the step time: runs of one job differ by as much

PredictedStep predict(const JobInputs& inputs, const Topology& topology, const Profile& profile,
                      const std::vector<MeasuredStep>& measured, StepTrace& trace) {
  auto [loaded, workload] = load_step(inputs, topology, kSeed);
  trace = std::move(loaded);
  PredictedStep predicted;
  if (workload)
    predicted.settings = settings_of(*workload);
  else
    predicted.settings["gpus"] = trace.ranks;
  predicted.calls = calls_of(trace);
  SimOptions options;
  for (const MeasuredStep& step : measured)
    for (const MeasuredRank& rank : step.ranks)
      if (rank.rank >= 0 && rank.rank < trace.ranks)
        options.splits.push_back(static_cast<std::uint32_t>(rank.rank));
  predicted.result = simulate(topology, trace, profile, options);
  return predicted;
}

// The step time is the first row of a compared step.
void add_closing(Validation& v, const StudiedStep& step) {
  if (std::abs(*v.comparison->judged_error) < kSmallGap) return;
  const SolveTarget target{.time = Time::from_seconds(v.rows.front().measured)};
  v.comparison->closing = closing_sentence(closing_changes(step, target));
}

}  // namespace

std::vector<Validation> compare_measured(const ValidateOptions& o, const Profile& profile) {
  const MeasuredInput measured = read_measured_inputs(o.measured, o.hints);
  const JobInputs inputs = load_job(o.topology, o.workload, o.sets);
  const Topology topology = read_topology(inputs.topology, kSeed);
  std::vector<Validation> found;
  if (!measured.steps.empty()) {
    require_workload(inputs, measured.steps.front().source);
    StepTrace trace;
    const PredictedStep predicted = predict(inputs, topology, profile, measured.steps, trace);
    for (const MeasuredStep& step : measured.steps) {
      found.push_back(compare_step(step, predicted));
      add_closing(found.back(), {.topology = &topology, .trace = &trace, .profile = &profile});
    }
  }
  if (!measured.collectives.tables.empty())
    found.push_back(compare_tables(measured.collectives, topology, profile));
  if (found.empty())
    throw Error({.where = o.measured.front(), .message = "holds neither a step nor a collective to compare"});
  for (Validation& v : found) {
    v.calibration = profile.name;
    v.comparison->tolerance = o.tolerance;
  }
  return found;
}

}  // namespace busbar
