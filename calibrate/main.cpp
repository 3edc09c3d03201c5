#include "sim/cli/calibrate_options.h"
#include "sim/cli/program.h"
#include "sim/cli/run_calibrate.h"
#include "sim/cli/run_options.h"

int main(int argc, char** argv) {
  return busbar::run_program("calibrate", [&] {
    if (const auto library = busbar::run_asked(argc, argv)) busbar::become_runner(*library, argc, argv);
    int exit_code = 0;
    const auto line = busbar::parse_calibrate(argc, argv, exit_code);
    return line ? busbar::run_calibrate(*line) : exit_code;
  });
}
