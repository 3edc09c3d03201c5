#include <cstdio>
#include <exception>
#include <new>

#include "sim/base/error.h"
#include "sim/cli/run_validate.h"
#include "sim/cli/validate_options.h"

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const auto options = busbar::parse_validate(argc, argv, exit_code);
    return options ? busbar::run_validate(*options) : exit_code;
  } catch (const busbar::Error& e) {
    std::fprintf(stderr, "validate: %s\n", e.what());
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "validate: out of memory\n");
    return static_cast<int>(busbar::ErrorKind::kSystem);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "validate: %s\n", e.what());
    return static_cast<int>(busbar::ErrorKind::kSystem);
  }
}
