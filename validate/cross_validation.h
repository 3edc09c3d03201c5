// Tables of collectives predicted by fits that have not seen their system.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/cost/profile.h"
#include "validate/run_suites.h"
#include "validate/suite.h"

namespace busbar {

struct CrossValidated {
  std::vector<std::vector<double>> predicted;  // by table of `used` and row, seconds
  std::vector<std::string> notes;              // systems that no other one stands in for
};

/// For each system of `used`: fits the profile anew to all tables but the system's (fit_without()) and
/// predicts the system's. Requires: a profile that `all` was fitted to. Systems are fitted on
/// `options.threads` threads; `options.progress` counts them. Cost: some seconds a system, most of them for
/// fits of a network's constants.
[[nodiscard]] CrossValidated cross_validated(std::span<const SuiteTable> all,
                                             std::span<const SuiteTable* const> used, const Profile& profile,
                                             const SuiteOptions& options);

}  // namespace busbar
