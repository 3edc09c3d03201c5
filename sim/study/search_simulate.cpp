// One candidate through the event simulation.
#include "sim/base/error.h"
#include "sim/study/search.h"
#include "sim/study/short_steps.h"

namespace busbar {

StepFigures simulate_candidate(const SearchProblem& problem, const Candidate& candidate) {
  try {
    return step_figures(*problem.topology, *problem.profile, workload_of(problem.base, candidate));
  } catch (const Error& e) {
    StepFigures none;
    none.failure = e.what();
    return none;
  }
}

}  // namespace busbar
