// Is every part of a machine as fast as its peers and its datasheet have it?
#pragma once

#include "sim/cost/profile.h"
#include "sim/result/calibration.h"
#include "sim/result/measurement.h"
#include "topologies/topology.h"

namespace busbar {

/// A part's figure is its best over the tables that it took part in: what one healthy partner shows a part
/// can do, a slow partner does not take away, and only a part whose every table is slow is called slow. Peers:
/// the median of the other parts of its group. Slow: a rate below (1 - tolerance) of its peers, a latency
/// above (1 + 2 tolerance) of theirs. Where there are fewer than two others, and for a whole group, what the
/// profile predicts from the datasheet stands in for peers.
/// Errors (Error, kInput): nothing that names members or ranks.
[[nodiscard]] HealthReport check_health(const Topology& topology, const Measurement& measured,
                                        const Profile& profile, double tolerance);

}  // namespace busbar
