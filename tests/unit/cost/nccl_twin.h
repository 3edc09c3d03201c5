// A second evaluation of NCCL's selection model: formulas straight from its description, by name, unhurried.
#pragma once

#include <map>
#include <string>

#include "sim/cost/nccl_table.h"

namespace busbar::twin {

struct Cell {
  double latency = 0, bandwidth = 0;
};
/// "ring LL128" to its cell; what is missing is not available.
using Table = std::map<std::string, Cell>;

/// Given the searched graphs.
Table table(const std::string& kind, bool fp8, const GroupFacts& facts, const NcclSettings& settings,
            const NcclGraphs& graphs);

/// T = L + S / B, with what depends on the size.
double time(const std::string& kind, const std::string& name, const Cell& cell, long long bytes,
            const GroupFacts& facts, const NcclSettings& settings, const NcclGraphs& graphs);

}  // namespace busbar::twin
