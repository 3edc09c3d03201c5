#include "sim/cli/program.h"
#include "sim/cli/run_simulate.h"
#include "sim/cli/simulate_options.h"

int main(int argc, char** argv) {
  return busbar::run_program("simulate", [&] {
    int exit_code = 0;
    const auto options = busbar::parse_simulate(argc, argv, exit_code);
    return options ? busbar::run_simulate(*options) : exit_code;
  });
}
