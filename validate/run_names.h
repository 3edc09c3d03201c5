// Names in tables of training runs: what no reader knows is a typing error, not a run outside the model.
#pragma once

#include <set>
#include <string>

#include "validate/csv_table.h"

namespace busbar {

/// Checks the fields that are names of a topology or a workload file (host, fabric, sharding, ...) with the
/// readers of those files; each combination once.
class RunNames {
 public:
  /// Errors (Error, kInput) with file, line and column: a name that its reader does not know. Names that it
  /// knows and does not model are none.
  void check(const CsvRow& row);

 private:
  std::set<std::string> seen_;
};

}  // namespace busbar
