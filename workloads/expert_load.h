// How tokens fall on experts, and what that makes of their exchanges.
#pragma once

#include <string>
#include <vector>

#include "workloads/trace.h"
#include "workloads/workload.h"

namespace busbar {

/// Share of the routed tokens that each expert gets; sums to 1. From the histogram, a Zipf exponent z (share
/// of the i-th expert proportional to i^-z) or a hot expert (`hot` times an even share, the others less).
[[nodiscard]] std::vector<double> expert_shares(std::int64_t experts, const MoeSpec& moe);

/// The same by rank of an expert-parallel group, experts in order; empty where all are even.
[[nodiscard]] std::vector<double> expert_rank_shares(const Workload& workload);

/// Dispatch of `bytes` per rank: row s, column d is share d of them, in whole elements, the rest to the last;
/// back: the transpose (combine).
[[nodiscard]] SplitMatrix expert_splits(const std::string& name, Bytes bytes, DataType type,
                                        const std::vector<double>& shares, bool back);

}  // namespace busbar
