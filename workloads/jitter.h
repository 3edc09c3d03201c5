// Random slowness of GPUs, drawn once for a step.
#pragma once

#include <vector>

#include "workloads/workload.h"

namespace busbar {

/// e^(sigma z) for draw number `index` of `seed`: its median is 1. The same on every machine up to the last
/// digits of the C library's logarithm and cosine, and independent of how many other draws there are.
/// Source: splitmix64 (Steele, Lea & Flood, OOPSLA 2014); Box & Muller, 1958.
[[nodiscard]] double lognormal_draw(std::uint64_t seed, std::uint64_t index, double sigma);

/// One factor per rank, replica or role of the workload; none without jitter. Ranks of a replica, and of a
/// role, stay alike.
[[nodiscard]] std::vector<Slowdown> draw_slowdowns(const Workload& workload);

}  // namespace busbar
