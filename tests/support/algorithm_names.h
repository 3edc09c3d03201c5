// Names of the table's rows for parameterised tests.
#pragma once

#include <algorithm>
#include <string>

#include "sim/collectives/algorithm.h"

namespace busbar {

/// "all_reduce_halving_doubling".
inline std::string test_name(const Algorithm& row) {
  std::string name = std::string(name_of(row.kind)) + "_" + std::string(row.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace busbar
