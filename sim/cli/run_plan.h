// `plan`: from options to reports.
#pragma once

#include <functional>

#include "sim/cli/plan_options.h"
#include "sim/study/study.h"

namespace busbar {

/// Who simulates the candidates of these cells, on so many threads (0: its default).
using MakeEvaluator = std::function<EvaluateTasks(const std::vector<Cell>&, std::size_t threads)>;

/// Returns the exit code. Errors: Error.
[[nodiscard]] int run_plan(const PlanOptions& options, const MakeEvaluator& make = tasks_on_threads);

/// The study of these options and its cells, as run_plan makes them: what other ranks of a job need.
struct PlanInputs {
  JsonDocument document;
  StudySpec spec;
  Profile profile;
  std::vector<Cell> cells;  // borrow the profile
};
[[nodiscard]] std::unique_ptr<PlanInputs> load_plan(const PlanOptions& options);

/// Becomes plan-mpi, which lies beside this program, where a launcher started several processes: only that
/// links MPI. Errors (Error, kSystem): several processes, and no such program.
void become_plan_mpi(int argc, char** argv);

}  // namespace busbar
