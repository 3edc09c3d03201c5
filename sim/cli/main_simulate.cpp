#include <cstdio>
#include <exception>
#include <new>

#include "sim/base/error.h"
#include "sim/cli/run_simulate.h"
#include "sim/cli/simulate_options.h"

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const auto options = busbar::parse_simulate(argc, argv, exit_code);
    return options ? busbar::run_simulate(*options) : exit_code;
  } catch (const busbar::Error& e) {
    std::fprintf(stderr, "simulate: %s\n", e.what());
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "simulate: out of memory\n");
    return static_cast<int>(busbar::ErrorKind::kSystem);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "simulate: %s\n", e.what());
    return static_cast<int>(busbar::ErrorKind::kSystem);
  }
}
