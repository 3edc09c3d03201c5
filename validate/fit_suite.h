// Fits a profile's numbers to measured tables: GPU generations first, then networks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/cost/profile.h"
#include "validate/suite.h"

namespace busbar {

/// What was fitted to what.
struct FittedPart {
  std::string name;  // "hopper", "pcie_peer", "rdma"
  std::size_t tables = 0, rows = 0, parameters = 0;
  double start_cost = 0, cost = 0;
  bool converged = false;
};

/// Fits all parts, each from `starting_profile`: every table weighs the same. Tables on one host fit the
/// constants of their GPU generation (or of PCIe, where their GPUs talk over it); those on several hosts fit
/// the network's. Tables outside the model and duplicates do not count.
[[nodiscard]] std::vector<FittedPart> fit_to_suite(Profile& profile, std::span<const SuiteTable> tables);

/// Fits those parts anew that `system` has tables in, without them. A part of that system alone stays as
/// `starting_profile` has it. Requires: a profile that all tables were fitted to.
[[nodiscard]] std::vector<FittedPart> fit_without(Profile& profile, std::span<const SuiteTable> tables,
                                                  const std::string& system);

}  // namespace busbar
