// Solved parameters as a file: "busbar.solution/1".
#pragma once

#include <string>
#include <vector>

#include "sim/result/solution.h"

namespace busbar {

[[nodiscard]] std::string write_solutions(const std::vector<SolvedStep>& steps);

}  // namespace busbar
