// How a machine's ranks lie on its hosts, for workloads that are cut along hosts.
#pragma once

#include <cstdint>
#include <optional>

#include "topologies/topology.h"

namespace busbar {

/// Ranks of each host (trays that share NVLink switches are one) where all have as many and ranks are
/// numbered host by host; the last may have fewer. none: neither.
[[nodiscard]] std::optional<std::int64_t> host_ranks_of(const Topology& topology);

}  // namespace busbar
