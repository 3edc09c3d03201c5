// `validate --measured`: a user's own measurements beside their predictions.
#pragma once

#include <vector>

#include "sim/cli/validate_options.h"
#include "sim/cost/profile.h"
#include "sim/result/validation.h"

namespace busbar {

/// One for each measured step, and one for all measured collectives together.
/// Errors (Error): files that cannot be read or are of no known kind, steps without a workload (kInput); what
/// the simulation says.
[[nodiscard]] std::vector<Validation> compare_measured(const ValidateOptions& options,
                                                       const Profile& profile);

}  // namespace busbar
