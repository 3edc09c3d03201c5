// busbar.topology/1 in and out.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/json_reader.h"
#include "topologies/topology.h"

namespace busbar {

/// Short form (host types x fabric), or long form (devices and links); both take `faults` and `rank_order`.
/// `seed` serves rank_order "random" and static routing.
[[nodiscard]] Topology read_topology(const JsonDocument& document, std::uint64_t seed);

/// The long form, which `read_topology` reads back into an equal graph.
[[nodiscard]] std::string write_topology(const Topology& topology);

/// The top-level keys, for `--set`.
[[nodiscard]] std::span<const std::string_view> topology_keys();

}  // namespace busbar
