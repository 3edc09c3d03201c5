#include "sim/cli/plan_options.h"
#include "sim/cli/program.h"
#include "sim/cli/run_plan.h"

int main(int argc, char** argv) {
  return busbar::run_program("plan", [&] {
    busbar::become_plan_mpi(argc, argv);
    int exit_code = 0;
    const auto options = busbar::parse_plan(argc, argv, exit_code);
    return options ? busbar::run_plan(*options) : exit_code;
  });
}
