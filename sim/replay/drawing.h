// A drawing of the machine with the loads of a replay.
#pragma once

#include "sim/replay/replay.h"
#include "sim/result/drawing.h"
#include "topologies/topology.h"

namespace busbar {

/// Two hosts are drawn each; of more, one of each kind stands for the others (kind: host type, GPUs and
/// NICs). The network's devices are drawn each where there are few of a role ("leaf"), else once. Requires:
/// the replay has run. Cost: O(devices + links).
[[nodiscard]] Drawing drawing_of(Replay& replay, const Topology& topology, Time step);

}  // namespace busbar
