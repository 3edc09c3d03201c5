// One candidate through the event simulation.
#include "sim/base/error.h"
#include "sim/replay/simulate.h"
#include "sim/study/search.h"

namespace busbar {

namespace {

StepFigures figures_of(const RunResult& result) {
  StepFigures f{.step_s = result.step_time.seconds(),
                .compute_s = result.split.compute.seconds(),
                .exposed_s = result.split.exposed.seconds(),
                .bubble_s = result.split.bubble.seconds(),
                .wait_s = result.split.straggler_wait.seconds(),
                .idle_s = result.split.idle.seconds(),
                .tokens = result.tokens,
                .model_flops = result.model_flops,
                .hardware_flops = result.hardware_flops,
                .peak_flops = result.peak_flops.value_or(0),
                .failure = {}};
  if (!result.memory) return f;
  f.parameters_bytes = result.memory->parameters.as_double();
  f.gradients_bytes = result.memory->gradients.as_double();
  f.optimizer_bytes = result.memory->optimizer.as_double();
  f.activations_bytes = result.memory->activations.as_double();
  f.buffers_bytes = result.memory->buffers.as_double();
  return f;
}

}  // namespace

StepFigures simulate_candidate(const SearchProblem& problem, const Candidate& candidate) {
  try {
    return figures_of(
        simulate(*problem.topology, expand(workload_of(problem.base, candidate)), *problem.profile, {}));
  } catch (const Error& e) {
    StepFigures none;
    none.failure = e.what();
    return none;
  }
}

}  // namespace busbar
