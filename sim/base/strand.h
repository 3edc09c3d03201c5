// What the engine shares bandwidth between: coupled pipelines of flows ("strands") on resources.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/ids.h"
#include "sim/base/units.h"

namespace busbar {

/// Usage is fixed-point, so that sums over strands are integers and do not depend on their order.
/// One whole flow over a resource is kOneFlow; a third of a flow under multipath is kOneFlow/3 rounded.
inline constexpr std::int64_t kOneFlow = std::int64_t{1} << 20;

struct ResourceUse {
  ResourceId resource;
  std::int64_t flows = kOneFlow;  // fixed-point
};

/// One coupled pipeline that advances at one rate: one channel of a collective.
///   volume        bytes that each of its flows still has to carry
///   cap           its own ceiling in bytes/s per flow (protocol, channel, window)
///   multiplicity  how many identical strands it stands for (each with `usage` of its own)
///   usage         how many of its flows cross each resource; no resource twice; borrowed (a group's routes
///   own it)
struct Strand {
  double volume = 0;
  Bandwidth cap = Bandwidth::unlimited();
  std::int64_t multiplicity = 1;
  std::span<const ResourceUse> usage;
};

}  // namespace busbar
