// plan-mpi: what `plan` becomes under mpirun or srun. The first rank reads, screens, hands out and reports;
// the others simulate.
#include <cstdio>
#include <optional>

#include "sim/cli/plan_options.h"
#include "sim/cli/program.h"
#include "sim/cli/run_options.h"
#include "sim/cli/run_plan.h"
#include "sim/study/mpi_pool.h"

namespace {

int work(const busbar::PlanOptions& options) {
  busbar::MpiPool pool;
  const int exit_code = busbar::run_program("plan", [&] {
    if (pool.rank() == 0)
      return busbar::run_plan(options, [&](const std::vector<busbar::Cell>& cells, std::size_t threads) {
        return pool.tasks(cells, threads);
      });
    const auto inputs = busbar::load_plan(options);
    pool.serve(inputs->cells, static_cast<std::size_t>(options.threads));
    return 0;
  });
  if (pool.is_orphaned()) busbar::MpiPool::leave(exit_code);
  // 4: nothing qualifies, which the report says.
  if (exit_code != 0 && exit_code != 4) busbar::MpiPool::abort(exit_code);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  if (busbar::launched_as().process != 0) std::fclose(stdout);
  int exit_code = 0;
  std::optional<busbar::PlanOptions> options;
  const int parsed = busbar::run_program("plan", [&] {
    options = busbar::parse_plan(argc, argv, exit_code);
    return options ? 0 : exit_code;
  });
  if (!options) return parsed;
  if (options->init || !options->list.empty())
    return busbar::launched_as().process == 0 ? busbar::run_plan(*options) : 0;
  return work(*options);
}
