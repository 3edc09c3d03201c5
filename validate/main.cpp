#include "sim/cli/program.h"
#include "sim/cli/run_solve.h"
#include "sim/cli/run_validate.h"
#include "sim/cli/validate_options.h"

int main(int argc, char** argv) {
  return busbar::run_program("validate", [&] {
    int exit_code = 0;
    const auto options = busbar::parse_validate(argc, argv, exit_code);
    if (!options) return exit_code;
    return options->solve.empty() ? busbar::run_validate(*options) : busbar::run_solve(*options);
  });
}
