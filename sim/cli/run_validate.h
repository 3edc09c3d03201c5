// What `validate` does with its command line.
#pragma once

#include "sim/cli/validate_options.h"

namespace busbar {

/// The exit code: 0, or 1 when a whole suite is worse than the figures recorded for it.
/// Errors (Error): bad tables (kInput), files that cannot be read or written (kSystem).
[[nodiscard]] int run_validate(const ValidateOptions& options);

}  // namespace busbar
