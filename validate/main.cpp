#include "sim/cli/program.h"
#include "sim/cli/run_solve.h"
#include "sim/cli/run_validate.h"
#include "sim/cli/solve_options.h"
#include "sim/cli/validate_options.h"

int main(int argc, char** argv) {
  return busbar::run_program("validate", [&] {
    int exit_code = 0;
    if (busbar::solve_asked(argc, argv)) {
      const auto solve = busbar::parse_solve(argc, argv, exit_code);
      return solve ? busbar::run_solve(*solve) : exit_code;
    }
    const auto options = busbar::parse_validate(argc, argv, exit_code);
    return options ? busbar::run_validate(*options) : exit_code;
  });
}
