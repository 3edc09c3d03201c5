// `validate --solve`: which value explains a measured step.
#pragma once

#include "sim/cli/validate_options.h"

namespace busbar {

/// Returns the exit code: 0, or 1 when some measured step is explained by none of the parameters asked for.
[[nodiscard]] int run_solve(const ValidateOptions& options);

}  // namespace busbar
