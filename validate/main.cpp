#include "sim/cli/program.h"
#include "sim/cli/run_validate.h"
#include "sim/cli/validate_options.h"

int main(int argc, char** argv) {
  return busbar::run_program("validate", [&] {
    int exit_code = 0;
    const auto options = busbar::parse_validate(argc, argv, exit_code);
    return options ? busbar::run_validate(*options) : exit_code;
  });
}
